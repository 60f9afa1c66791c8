// Foreign text is escaped on every page.

import { innocent } from "./browser.mjs";
import { expect } from "./expect.mjs";
import { TAG } from "./fill.mjs";

/** Checks that hostile text is shown on pages, as text. */
export async function staysText(visitor, list) {
  const page = await visitor.context.newPage();
  const seen = [];
  for (const [name, path] of list) {
    await visitor.go(page, path);
    await innocent(page, name);
    // Content that is shown on demand.
    await page.evaluate(() => document.querySelectorAll("details").forEach((it) => { it.open = true; }));
    for (const plot of await page.locator(".plot:visible").all()) await plot.hover({ force: true });
    for (const link of (await page.locator("main a:visible").all()).slice(0, 20)) await link.hover({ force: true }).catch(() => {});
    await innocent(page, `${name}, opened`);
    const text = await page.evaluate(() => document.body.innerText + document.title +
      [...document.querySelectorAll("input, textarea")].map((it) => it.value).join(" "));
    if (text.includes("__xss")) seen.push(name);
  }
  const expected = ["source", "diff-inline", "diff-side", "change-detection", "changes", "sources"];
  const unseen = expected.filter((it) => !seen.includes(it));
  expect(unseen.length === 0, `no hostile text is shown at: ${unseen.join(", ")} (shown at: ${seen.join(", ")})`);
  // Forms that show submitted values.
  const hostile = encodeURIComponent(`"><script>window.__xss=1</script>${TAG}`);
  for (const path of [`/changes?tag=${hostile}&host=${hostile}&url=${hostile}`, `/sources?text=${hostile}&tag=${hostile}&host=${hostile}`,
    `/what-if?goal=${hostile}`, `/what-if?budget=${hostile}`, `/signals?text=${hostile}`, `/hosts?name=${hostile}`, `/login?next=${hostile}`, `/?span=${hostile}&flash=${hostile}`,
    `/${hostile}`, `/sources/${hostile}`]) {
    visitor.expected.push(/status of 4\d\d/);
    await page.goto(visitor.origin + path, { waitUntil: "load" });
    await innocent(page, path);
    visitor.expected.pop();
  }
  await page.close();
}

/** Stored versions are served as sandboxed plain text. */
export async function versionsAreTexts(visitor, source) {
  const page = await visitor.open(`/sources/${source}`);
  const link = page.getByRole("link", { name: /^Text of version/ }).first();
  const path = await link.getAttribute("href");
  const answered = page.waitForResponse((it) => it.url() === visitor.origin + path);
  await page.goto(visitor.origin + path);
  const headers = (await answered).headers();
  expect(headers["content-type"].startsWith("text/plain"), `a version is ${headers["content-type"]}`);
  expect(headers["x-content-type-options"] === "nosniff", "the type of a version can be sniffed");
  expect(/sandbox|default-src 'none'/.test(headers["content-security-policy"] ?? ""), "a version is not sandboxed");
  await innocentText(page);
  await page.close();
}

async function innocentText(page) {
  expect(await page.evaluate(() => window.__xss === undefined && document.querySelectorAll("main").length === 0),
    "a version is rendered as markup");
}
