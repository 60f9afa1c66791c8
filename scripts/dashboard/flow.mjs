// What people do, from the first login on.

import { Visitor } from "./browser.mjs";
import { expect, same, until } from "./expect.mjs";
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

/** Another budget by the slider. */
export async function moveBudget(visitor, daemon) {
  const page = await visitor.open("/what-if");
  const before = (await daemon.ask("GET", "/v1/settings")).budget;
  const slider = page.getByRole("slider", { name: "Fetches a day" });
  const shown = page.locator("#chosen");
  const [was, fresh] = [await shown.innerText(), await page.locator("[data-show=freshness]").innerText()];
  await slider.focus();
  await page.keyboard.press("Home");
  await until("the slider shows another budget", async () => (await shown.innerText()) !== was);
  const low = await shown.innerText();
  expect((await page.locator("[data-show=freshness]").innerText()) !== fresh || was === low, "freshness does not follow");
  await page.keyboard.press("End");
  await until("the slider shows the largest budget", async () => (await shown.innerText()) !== low);
  const wanted = await shown.innerText();
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
