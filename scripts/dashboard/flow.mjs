// User journeys, from the first login on.

import { Visitor } from "./browser.mjs";
import { expect, same, until } from "./expect.mjs";
import { changed, find } from "./fill.mjs";
import { isSigned } from "./web.mjs";

/** Logs in with a wrong token, then with the right one. */
export async function logIn(browser, daemon) {
  const visitor = await Visitor.enter(browser, daemon.url);
  visitor.expected.push(/status of 401/);
  const page = await visitor.open("/changes?kind=changed");
  same(new URL(page.url()).pathname, "/login", "where a visitor without a session is redirected to");
  await page.getByLabel("Token", { exact: true }).fill("not-a-token");
  await page.getByRole("button", { name: "Log in" }).click();
  await page.getByRole("alert").getByText("Invalid token").waitFor();
  await page.getByLabel("Token", { exact: true }).fill(daemon.token);
  await page.getByRole("button", { name: "Log in" }).click();
  await page.waitForURL((url) => url.pathname === "/changes" && url.search === "?kind=changed");
  const [cookie] = await visitor.context.cookies();
  same([cookie.httpOnly, cookie.secure, cookie.sameSite], [true, true, "Lax"], "the cookie");
  visitor.expected.pop();
  await page.close();
  return visitor;
}

/** Sessions end with the process: an open page redirects to the login. */
export async function outlive(browser, daemon) {
  // Errors of this visitor are not checked: its service is down for a while.
  const visitor = await Visitor.enter(browser, daemon.url);
  await visitor.logIn(daemon.token);
  const page = await visitor.open("/changes?kind=changed");
  await page.locator("#connection[data-state=on]").waitFor();
  await daemon.restart();
  await page.waitForURL((url) => url.pathname === "/login" && url.search === "?next=%2Fchanges%3Fkind%3Dchanged");
  await visitor.context.close();
}

/** Adds sources by paste, after a preview. */
export async function addByPaste(visitor, daemon, site) {
  const page = await visitor.open("/sources");
  await page.getByRole("link", { name: "Add sources" }).first().click();
  const lines = [`${site.url}/news`, `${site.url}/sport`, "not a url at all", `${site.url}/news`];
  await page.getByLabel(/^URLs/).fill(lines.join("\n"));
  await page.getByRole("button", { name: "Preview" }).click();
  await page.getByRole("heading", { name: "Add 2 sources?" }).waitFor();
  await page.getByText("not a url at all").first().waitFor();
  same(await urls(daemon, "/news"), [], "sources added before confirmation");
  await page.getByRole("button", { name: "Add 2 sources" }).click();
  await page.getByRole("status").filter({ hasText: /2/ }).first().waitFor();
  same(await urls(daemon, "/news"), [lines[0]], "sources added");
  // Fetched every second from now on.
  await visitor.go(page, "/sources?text=%2Fnews");
  await page.locator("input[name=id]").check();
  await page.getByLabel("Maximum interval").fill("1s");
  await page.locator("button[value=intervals]").click();
  await page.getByRole("status").first().waitFor();
  await page.close();
  return until("the new source is fetched", async () => {
    const row = await find(daemon, (it) => it.url === lines[0]);
    return (await daemon.ask("GET", `/v1/sources/${row.id}/versions`)).items.length > 0 && row;
  });
}

const urls = async (daemon, end) =>
  (await daemon.ask("GET", "/v1/sources?limit=100")).items.map((it) => it.url).filter((it) => it.endsWith(end));

/** Watches a change arrive on the overview and in the log, without a page load. */
export async function seeChange(visitor, daemon, site, source) {
  const [overview, log] = [await visitor.open("/"), await visitor.open("/changes")];
  for (const page of [overview, log]) {
    await page.evaluate(() => { window.stayed = true; });
    await page.bringToFront();
    await page.locator("#connection[data-state=on]").waitFor();
  }
  const found = () => log.locator("#log tbody tr").filter({ hasText: `${site.url}/news` }).count();
  same(await found(), 0, "changes of an unchanged page");
  const facts = await overview.locator("#facts").innerText();
  const change = await changed(daemon, site, "/news", source);
  await until("the change appears in the open log", async () => (await found()) > 0);
  await overview.bringToFront();
  await until("the overview updates", async () => (await overview.locator("#facts").innerText()) !== facts);
  for (const page of [overview, log]) expect(await page.evaluate(() => window.stayed), "the page was reloaded");
  await overview.close();
  return { page: log, change };
}

/** Reads a diff inline and side by side. */
export async function readDiff(page, site) {
  await page.bringToFront();
  await page.locator("#log tbody tr").filter({ hasText: `${site.url}/news` }).first().getByRole("link", { name: /^Diff/ }).click();
  const says = async (place, word) => (await page.locator(`.diff ${place}`).allInnerTexts()).some((it) => it.includes(word));
  await page.locator(".diff.inline").waitFor();
  expect(await says("tr.removed", "101 crowns") && await says("tr.added", "102 crowns"), "the inline diff lacks the change");
  await page.getByRole("link", { name: "Side by side" }).click();
  await page.locator(".diff.side").waitFor();
  expect(await says("td.old", "101 crowns") && await says("td.new", "102 crowns"), "the side-by-side diff lacks the change");
  await page.locator(".map a").first().click();
  await page.waitForURL(/#change-/);
  await page.close();
}

/** Edits change detection with a live preview. */
export async function tune(visitor, daemon, source) {
  const page = await visitor.open(`/sources/${source}`);
  await page.getByRole("link", { name: "Edit change detection" }).click();
  const compared = page.locator(".compared");
  expect((await compared.innerText()).includes("harbour"), "the preview does not show the compared text");
  const select = page.getByLabel("Include only", { exact: true });
  // The browser logs the responses to invalid settings.
  visitor.expected.push(/status of 400.*\/tune/);
  await select.fill("p..");
  await page.getByRole("alert").filter({ hasText: /./ }).first().waitFor();
  await select.fill("p.price");
  await until("the preview follows the form", async () => {
    const text = await compared.innerText();
    return text.includes("crowns") && !text.includes("harbour");
  });
  await page.getByRole("button", { name: "Save" }).click();
  await page.getByRole("status").first().waitFor();
  const text = JSON.stringify(await daemon.ask("GET", `/v1/sources/${source}`));
  expect(text.includes("p.price"), `the settings were not saved: ${text}`);
  visitor.expected.pop();
  await page.close();
}

/** Pauses several sources at once. */
export async function pauseMany(visitor, daemon) {
  const page = await visitor.open("/sources?tag=town");
  const boxes = page.locator("input[name=id]");
  same(await boxes.count(), 3, "sources with a tag");
  await page.getByRole("checkbox", { name: "Select all on this page" }).check();
  expect(await boxes.evaluateAll((all) => all.every((it) => it.checked)), "not all are selected");
  await page.getByRole("button", { name: "Pause", exact: true }).click();
  await page.getByRole("status").filter({ hasText: /3/ }).first().waitFor();
  const town = (await daemon.ask("GET", "/v1/sources?limit=100")).items.filter((it) => it.tags.includes("town"));
  same(town.map((it) => it.paused), [true, true, true], "whether they are paused");
  await page.close();
}

/** Sets another budget with the slider. */
export async function moveBudget(visitor, daemon) {
  const page = await visitor.open("/what-if");
  const before = (await daemon.ask("GET", "/v1/settings")).budget;
  const slider = page.getByRole("slider", { name: "Fetches per day" });
  const shown = page.locator("#selected");
  const was = await shown.innerText();
  await slider.focus();
  await page.keyboard.press("Home");
  await until("the slider selects another budget", async () => (await shown.innerText()) !== was);
  const low = await shown.innerText();
  const price = await page.locator("[data-show=price]").textContent();
  await page.keyboard.press("End");
  await until("the slider selects the largest budget", async () => (await shown.innerText()) !== low);
  const selected = await shown.innerText();
  expect((await page.locator("[data-show=price]").textContent()) !== price, "the price does not follow the slider");
  await page.getByRole("button", { name: /^Set budget to/ }).click();
  await page.getByRole("status").filter({ hasText: /budget/i }).first().waitFor();
  await until("the budget has changed", async () =>
    JSON.stringify((await daemon.ask("GET", "/v1/settings")).budget) !== JSON.stringify(before));
  await visitor.go(page, "/what-if");
  same(await page.locator("#selected").innerText(), selected, "the budget that was set");
  await page.close();
}

/** Adds and tests a webhook. Returns the ID of the destination and its secret. */
export async function addWebhook(visitor, receiver) {
  const page = await visitor.open("/settings");
  await page.getByRole("link", { name: "Add notification" }).click();
  await page.getByLabel("Name", { exact: true }).fill("town-crier");
  await page.getByRole("radio", { name: /Webhook/ }).check();
  await page.getByLabel("URL", { exact: true }).fill(`${receiver.url}/hook`);
  await page.getByRole("button", { name: "Add notification" }).click();
  const secret = (await page.locator(".secret").innerText()).trim();
  await page.getByRole("button", { name: "Send test" }).click();
  const delivery = await until("the test arrives", () => receiver.deliveries.find((it) => JSON.parse(it.body).test));
  expect(isSigned(secret, delivery), "the test is not signed with the secret that was shown");
  expect(!isSigned("whsec_AAAA", delivery), "the test verifies with any secret");
  await page.getByRole("status").filter({ hasText: /204|arrived|delivered|sent/i }).first().waitFor();
  expect((await page.locator(".secret").count()) === 0, "the secret is shown again");
  const id = new URL(page.url()).pathname.split("/").at(-1);
  await page.close();
  return { id, secret };
}

/** Logs out. */
export async function logOut(visitor) {
  const page = await visitor.open("/settings");
  await page.getByRole("button", { name: "Log out" }).click();
  await page.waitForURL((url) => url.pathname === "/login");
  await page.goto(`${visitor.origin}/settings`);
  same(new URL(page.url()).pathname, "/login", "where a page redirects to after logout");
  await page.close();
}
