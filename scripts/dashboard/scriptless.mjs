// All of it without a script.

import { Visitor } from "./browser.mjs";
import { expect, same, until } from "./expect.mjs";

/** The same things by links and forms alone. */
export async function withoutScript(browser, daemon, site, list) {
  const visitor = await Visitor.enter(browser, daemon.url, { javaScriptEnabled: false });
  const page = await visitor.logIn(daemon.token);
  for (const [, path] of list) await visitor.go(page, path);
  // Sources by paste.
  await visitor.go(page, "/sources/add");
  await page.getByLabel(/^URLs/).fill(`${site.url}/scriptless`);
  await page.getByRole("button", { name: "See what it would do" }).click();
  await page.getByRole("button", { name: "Add 1 source" }).click();
  await page.getByRole("status").first().waitFor();
  const rows = (await daemon.ask("GET", "/v1/sources?limit=100")).items;
  const added = rows.find((it) => it.url.endsWith("/scriptless"));
  expect(added, "no source was added");
  // Some at once.
  await visitor.go(page, "/sources?text=scriptless");
  await page.locator(`input[name=id][value="${added.id}"]`).check();
  await page.getByRole("button", { name: "Pause", exact: true }).click();
  await page.getByRole("status").first().waitFor();
  same((await daemon.ask("GET", `/v1/sources/${added.id}`)).paused, true, "paused");
  // What counts.
  await until("there is a version to tune by", async () => {
    await visitor.go(page, `/sources/${list.find(([name]) => name === "source")[1].split("/").at(-1)}/tune`);
    return page.locator(".compared").count();
  });
  await page.getByLabel("Only these parts count").fill("p.weather, p");
  await page.getByRole("button", { name: "Preview" }).click();
  await page.locator(".compared").waitFor();
  // A budget.
  await visitor.go(page, "/what-if");
  await page.getByLabel("Exactly").fill("123456");
  await page.getByRole("button", { name: "See" }).first().click();
  await page.getByRole("button", { name: /Make it the budget/ }).click();
  await page.getByRole("status").first().waitFor();
  const budget = JSON.stringify((await daemon.ask("GET", "/v1/settings")).budget);
  expect(budget.includes("123456"), `the budget is not as it was set, but ${budget}`);
  // What was read.
  await visitor.go(page, "/changes");
  const read = page.getByRole("button", { name: "Mark all as read" });
  if (await read.count()) await read.click();
  await page.getByRole("button", { name: "Log out" }).click();
  await page.waitForURL((url) => url.pathname === "/login");
  await visitor.leave("without a script");
}
