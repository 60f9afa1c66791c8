// What people do, from the first login on.

import { Visitor } from "./browser.mjs";
import { expect, same, until } from "./expect.mjs";
import { changed, find } from "./fill.mjs";
import { isSigned } from "./web.mjs";

/** With a wrong token, and with the right one. */
export async function logIn(browser, daemon) {
  const visitor = await Visitor.enter(browser, daemon.url);
  visitor.expected.push(/status of 401/);
  const page = await visitor.open("/changes?kind=changed");
  same(new URL(page.url()).pathname, "/login", "where a stranger is led to");
  await page.getByLabel("Token", { exact: true }).fill("not-a-token");
  await page.getByRole("button", { name: "Log in" }).click();
  await page.getByRole("alert").getByText("does not count").waitFor();
  await page.getByLabel("Token", { exact: true }).fill(daemon.token);
  await page.getByRole("button", { name: "Log in" }).click();
  await page.waitForURL((url) => url.pathname === "/changes" && url.search === "?kind=changed");
  const [cookie] = await visitor.context.cookies();
  same([cookie.httpOnly, cookie.secure, cookie.sameSite], [true, true, "Lax"], "the cookie");
  visitor.expected.pop();
  await page.close();
  return visitor;
}

/** Sessions end with the process: a page that was open finds that out, and leads to the login. */
export async function outlive(browser, daemon) {
  // Of this one's faults nothing is told: its service is gone for a while.
  const visitor = await Visitor.enter(browser, daemon.url);
  await visitor.logIn(daemon.token);
  const page = await visitor.open("/changes?kind=changed");
  await page.locator("#connection[data-state=on]").waitFor();
  await daemon.restart();
  await page.waitForURL((url) => url.pathname === "/login" && url.search === "?next=%2Fchanges%3Fkind%3Dchanged");
  await visitor.context.close();
}

/** By paste: a look at what it would do, then it is done. */
export async function addByPaste(visitor, daemon, site) {
  const page = await visitor.open("/sources");
  await page.getByRole("link", { name: "Add sources" }).first().click();
  const lines = [`${site.url}/news`, `${site.url}/sport`, "not a url at all", `${site.url}/news`];
  await page.getByLabel(/^URLs/).fill(lines.join("\n"));
  await page.getByRole("button", { name: "See what it would do" }).click();
  await page.getByRole("heading", { name: "Add 2 sources?" }).waitFor();
  await page.getByText("not a url at all").first().waitFor();
  same(await urls(daemon, "/news"), [], "what is added before it was agreed to");
  await page.getByRole("button", { name: "Add 2 sources" }).click();
  await page.getByRole("status").filter({ hasText: /2/ }).first().waitFor();
  same(await urls(daemon, "/news"), [lines[0]], "what is added");
  // It is looked at often from now on.
  await visitor.go(page, "/sources?text=%2Fnews");
  await page.locator("input[name=id]").check();
  await page.getByLabel("Longest interval").fill("1s");
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

/** A change that arrives while one looks, on the overview and in the log. Nothing is loaded anew. */
export async function seeChange(visitor, daemon, site, source) {
  const [overview, log] = [await visitor.open("/"), await visitor.open("/changes")];
  for (const page of [overview, log]) {
    await page.evaluate(() => { window.stayed = true; });
    await page.bringToFront();
    await page.locator("#connection[data-state=on]").waitFor();
  }
  const found = () => log.locator("#log tbody tr").filter({ hasText: `${site.url}/news` }).count();
  same(await found(), 0, "changes of a page that has not changed");
  const facts = await overview.locator("#facts").innerText();
  const change = await changed(daemon, site, "/news", source);
  await until("the change is in the log before one's eyes", async () => (await found()) > 0);
  await overview.bringToFront();
  await until("the overview follows", async () => (await overview.locator("#facts").innerText()) !== facts);
  for (const page of [overview, log]) expect(await page.evaluate(() => window.stayed), "the page was loaded anew");
  await overview.close();
  return { page: log, change };
}

/** What changed, inline and side by side. */
export async function readDiff(page, site) {
  await page.bringToFront();
  await page.locator("#log tbody tr").filter({ hasText: `${site.url}/news` }).first().getByRole("link", { name: /^Diff/ }).click();
  const says = async (place, word) => (await page.locator(`.diff ${place}`).allInnerTexts()).some((it) => it.includes(word));
  await page.locator(".diff.inline").waitFor();
  expect(await says("tr.removed", "101 crowns") && await says("tr.added", "102 crowns"), "the diff does not say what changed");
  await page.getByRole("link", { name: "Side by side" }).click();
  await page.locator(".diff.side").waitFor();
  expect(await says("td.old", "101 crowns") && await says("td.new", "102 crowns"), "the two columns do not say what changed");
  await page.locator(".map a").first().click();
  await page.waitForURL(/#change-/);
  await page.close();
}

/** What counts of a source, with a look at it while one types. */
export async function tune(visitor, daemon, source) {
  const page = await visitor.open(`/sources/${source}`);
  await page.getByRole("link", { name: "Tune what counts" }).click();
  const compared = page.locator(".compared");
  expect((await compared.innerText()).includes("harbour"), "the tuner does not show what is compared");
  const select = page.getByLabel("Only these parts count");
  // What is wrong is answered as such, and the console tells that.
  visitor.expected.push(/status of 400.*\/tune/);
  await select.fill("p..");
  await page.getByRole("alert").filter({ hasText: /./ }).first().waitFor();
  await select.fill("p.price");
  await until("the tuner shows what would be compared", async () => {
    const text = await compared.innerText();
    return text.includes("crowns") && !text.includes("harbour");
  });
  await page.getByRole("button", { name: "Save" }).click();
  await page.getByRole("status").first().waitFor();
  const text = JSON.stringify(await daemon.ask("GET", `/v1/sources/${source}`));
  expect(text.includes("p.price"), `what was tuned is not kept: ${text}`);
  visitor.expected.pop();
  await page.close();
}

/** Some sources at once. */
export async function pauseMany(visitor, daemon) {
  const page = await visitor.open("/sources?tag=town");
  const boxes = page.locator("input[name=id]");
  same(await boxes.count(), 3, "sources with a tag");
  await page.getByRole("checkbox", { name: "All on this page" }).check();
  expect(await boxes.evaluateAll((all) => all.every((it) => it.checked)), "not all are ticked");
  await page.getByRole("button", { name: "Pause", exact: true }).click();
  await page.getByRole("status").filter({ hasText: /3/ }).first().waitFor();
  const town = (await daemon.ask("GET", "/v1/sources?limit=100")).items.filter((it) => it.tags.includes("town"));
  same(town.map((it) => it.paused), [true, true, true], "whether they are paused");
  await page.close();
}

/** Another budget by the slider. */
export async function moveBudget(visitor, daemon) {
  const page = await visitor.open("/what-if");
  const before = (await daemon.ask("GET", "/v1/settings")).budget;
  const slider = page.getByRole("slider", { name: "Fetches a day" });
  const shown = page.locator("#chosen");
  const was = await shown.innerText();
  await slider.focus();
  await page.keyboard.press("Home");
  await until("the slider shows another budget", async () => (await shown.innerText()) !== was);
  const low = await shown.innerText();
  const price = await page.locator("[data-show=price]").innerText();
  await page.keyboard.press("End");
  await until("the slider shows the largest budget", async () => (await shown.innerText()) !== low);
  const wanted = await shown.innerText();
  expect((await page.locator("[data-show=price]").innerText()) !== price, "the price does not follow the slider");
  await page.getByRole("button", { name: "Make it the budget" }).click();
  await page.getByRole("status").filter({ hasText: /budget/i }).first().waitFor();
  await until("the budget is another", async () =>
    JSON.stringify((await daemon.ask("GET", "/v1/settings")).budget) !== JSON.stringify(before));
  await visitor.go(page, "/what-if");
  same(await page.locator("#chosen").innerText(), wanted, "the budget that was applied");
  await page.close();
}

/** A webhook, tested. Gives the id of the destination. */
export async function tell(visitor, receiver) {
  const page = await visitor.open("/settings");
  await page.getByRole("link", { name: "Tell somebody" }).click();
  await page.getByLabel("Name", { exact: true }).fill("town-crier");
  await page.getByRole("radio", { name: /webhook/ }).check();
  await page.getByLabel("URL", { exact: true }).fill(`${receiver.url}/hook`);
  await page.getByRole("button", { name: "Tell it from now on" }).click();
  const secret = (await page.locator(".secret").innerText()).trim();
  await page.getByRole("button", { name: "Send a test" }).click();
  const letter = await until("the test arrives", () => receiver.letters.find((it) => JSON.parse(it.body).test));
  expect(isSigned(secret, letter), "the test is not signed with the secret that was shown");
  expect(!isSigned("whsec_AAAA", letter), "any secret would do");
  await page.getByRole("status").filter({ hasText: /204|arrived|delivered|sent/i }).first().waitFor();
  expect((await page.locator(".secret").count()) === 0, "the secret is shown again");
  const id = new URL(page.url()).pathname.split("/").at(-1);
  await page.close();
  return { id, secret };
}

/** Out, and nothing is shown any more. */
export async function logOut(visitor) {
  const page = await visitor.open("/settings");
  await page.getByRole("button", { name: "Log out" }).click();
  await page.waitForURL((url) => url.pathname === "/login");
  await page.goto(`${visitor.origin}/settings`);
  same(new URL(page.url()).pathname, "/login", "where one is led to after logging out");
  await page.close();
}
