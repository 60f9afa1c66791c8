// All pages without scripts.

import { Visitor } from "./browser.mjs";
import { expect, same, until } from "./expect.mjs";

/** Repeats the main journeys with links and forms alone. */
export async function withoutScript(browser, daemon, site, list) {
  const visitor = await Visitor.enter(browser, daemon.url, { javaScriptEnabled: false });
  const page = await visitor.logIn(daemon.token);
  for (const [, path] of list) await visitor.go(page, path);
  // Add sources by paste.
  await visitor.go(page, "/sources/add");
  await page.getByLabel(/^URLs/).fill(`${site.url}/scriptless`);
  await page.getByRole("button", { name: "Preview" }).click();
  await page.getByRole("button", { name: "Add 1 source" }).click();
  await page.getByRole("status").first().waitFor();
  const rows = (await daemon.ask("GET", "/v1/sources?limit=100")).items;
  const added = rows.find((it) => it.url.endsWith("/scriptless"));
  expect(added, "no source was added");
  // Pause several sources.
  await visitor.go(page, "/sources?text=scriptless");
  await page.locator(`input[name=id][value="${added.id}"]`).check();
  await page.getByRole("button", { name: "Pause", exact: true }).click();
  await page.getByRole("status").first().waitFor();
  same((await daemon.ask("GET", `/v1/sources/${added.id}`)).paused, true, "paused");
  // Change detection.
  await until("there is a version to preview", async () => {
    await visitor.go(page, `/sources/${list.find(([name]) => name === "source")[1].split("/").at(-1)}/tune`);
    return page.locator(".compared").count();
  });
  await page.getByLabel("Include only", { exact: true }).fill("p.weather, p");
  await page.getByRole("button", { name: "Preview" }).click();
  await page.locator(".compared").waitFor();
  // Budget.
  await visitor.go(page, "/what-if");
  await page.getByLabel("Exact value").fill("123456");
  await page.getByRole("button", { name: "Show" }).first().click();
  await page.getByRole("button", { name: /^Set budget to/ }).click();
  await page.getByRole("status").first().waitFor();
  const budget = JSON.stringify((await daemon.ask("GET", "/v1/settings")).budget);
  expect(budget.includes("123456"), `the budget was not set: ${budget}`);
  // Mark changes as read.
  await visitor.go(page, "/changes");
  const read = page.getByRole("button", { name: "Mark all as read" });
  if (await read.count()) await read.click();
  await page.getByRole("button", { name: "Log out" }).click();
  await page.waitForURL((url) => url.pathname === "/login");
  await visitor.leave("without scripts");
}
