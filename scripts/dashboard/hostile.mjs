// What strangers wrote is text on every page.

import { innocent } from "./browser.mjs";
import { expect } from "./expect.mjs";
import { TAG } from "./fill.mjs";

/** Looks for what strangers wrote on pages: it must be there, as text. */
export async function staysText(visitor, list) {
  const page = await visitor.context.newPage();
  const seen = [];
  for (const [name, path] of list) {
    await visitor.go(page, path);
    await innocent(page, name);
    // What shows itself only when asked to.
    await page.evaluate(() => document.querySelectorAll("details").forEach((it) => { it.open = true; }));
    for (const plot of await page.locator(".plot:visible").all()) await plot.hover({ force: true });
    for (const link of (await page.locator("main a:visible").all()).slice(0, 20)) await link.hover({ force: true }).catch(() => {});
    await innocent(page, `${name}, opened`);
    const text = await page.evaluate(() => document.body.innerText + document.title +
      [...document.querySelectorAll("input, textarea")].map((it) => it.value).join(" "));
    if (text.includes("__xss")) seen.push(name);
  }
  const wanted = ["source", "diff-inline", "diff-side", "tuner", "changes", "sources"];
  const unseen = wanted.filter((it) => !seen.includes(it));
  expect(unseen.length === 0, `nothing of what strangers wrote is shown at: ${unseen.join(", ")} (it is at: ${seen.join(", ")})`);
  // Forms that say back what was typed.
  const said = encodeURIComponent(`"><script>window.__xss=1</script>${TAG}`);
  for (const path of [`/changes?tag=${said}&host=${said}&url=${said}`, `/sources?text=${said}&tag=${said}&host=${said}`,
    `/what-if?goal=${said}`, `/what-if?budget=${said}`, `/signals?text=${said}`, `/hosts?name=${said}`, `/login?next=${said}`, `/?span=${said}&said=${said}`,
    `/${said}`, `/sources/${said}`]) {
    visitor.expected.push(/status of 4\d\d/);
    await page.goto(visitor.origin + path, { waitUntil: "load" });
    await innocent(page, path);
    visitor.expected.pop();
  }
  // A kept version is a text, whatever it says it is.
  await page.close();
}

/** Versions as they were fetched are texts in a box, for a browser. */
export async function versionsAreTexts(visitor, source) {
  const page = await visitor.open(`/sources/${source}`);
  const link = page.getByRole("link", { name: /^Text of version/ }).first();
  const path = await link.getAttribute("href");
  const answered = page.waitForResponse((it) => it.url() === visitor.origin + path);
  await page.goto(visitor.origin + path);
  const headers = (await answered).headers();
  expect(headers["content-type"].startsWith("text/plain"), `a version is ${headers["content-type"]}`);
  expect(headers["x-content-type-options"] === "nosniff", "a browser may guess what a version is");
  expect(/sandbox|default-src 'none'/.test(headers["content-security-policy"] ?? ""), "a version is not in a box");
  await innocentText(page);
  await page.close();
}

async function innocentText(page) {
  expect(await page.evaluate(() => window.__xss === undefined && document.querySelectorAll("main").length === 0),
    "a version is shown as markup");
}
