// Runs the steps and reports each result: node main.mjs TARGET [demo]

import { join } from "node:path";

import { openBrowser } from "./browser.mjs";
import { demo } from "./demo.mjs";
import { expect, until } from "./expect.mjs";
import { changed, fill } from "./fill.mjs";
import { addByPaste, logIn, logOut, moveBudget, outlive, pauseMany, readDiff, seeChange, addWebhook, tune } from "./flow.mjs";
import { startDaemon } from "./freshet.mjs";
import { staysText, versionsAreTexts } from "./hostile.mjs";
import { byKeyboard } from "./keyboard.mjs";
import { emptyPictures, look } from "./looks.mjs";
import { fromElsewhere } from "./outside.mjs";
import { pages } from "./pages.mjs";
import { withoutScript } from "./scriptless.mjs";
import { isSigned, openReceiver, openSite } from "./web.mjs";

const [target, only] = process.argv.slice(2);
const binary = join(target, "debug", "freshet");
const pictures = join(target, "dashboard");
const failed = [];

/** Runs a step. A failure is reported at once and does not stop the others. */
async function step(name, work) {
  const start = performance.now();
  const took = () => `${((performance.now() - start) / 1000).toFixed(1)} s`;
  try {
    const result = await work();
    console.log(`ok      ${name} (${took()})`);
    return result;
  } catch (error) {
    failed.push(name);
    console.error(`FAILED  ${name} (${took()})\n  ${error.stack ?? error}`);
    return undefined;
  }
}

/** Checks the dashboard of a daemon that fetches a small web. */
async function dashboard(browser) {
  const [site, receiver] = [await openSite(), await openReceiver()];
  const daemon = await startDaemon(binary);
  const visitor = await step("log in, with a wrong token first", () => logIn(browser, daemon));
  if (!visitor) return;
  await step("an empty dashboard explains the next step", () =>
    look(visitor, [["empty-overview", "/"], ["empty-budget", "/what-if"], ["empty-sources", "/sources"],
      ["empty-changes", "/changes"], ["empty-signals", "/signals"], ["empty-hosts", "/hosts"], ["login", "/login"]], pictures));
  const empty = await visitor.open("/");
  await empty.getByRole("heading", { name: "Add your first sources" }).waitFor();
  const hostile = await step("hostile sources are fetched", () => fill(daemon, site));
  await step("an empty overview fills by itself", async () => {
    await empty.getByRole("heading", { name: "Freshness over time" }).waitFor();
    await empty.close();
  });
  const hook = await step("subscribe a webhook and test it", () => addWebhook(visitor, receiver));
  const source = await step("add sources by paste", () => addByPaste(visitor, daemon, site));
  const seen = source && await step("a change arrives without a reload", () => seeChange(visitor, daemon, site, source.id));
  if (seen) await step("read the diff inline and side by side", () => readDiff(seen.page, site));
  if (hook && seen) {
    await step("the webhook receives the change, signed", async () => {
      const isOf = (it) => JSON.parse(it.body).entries?.some((entry) => entry.source === source.id);
      const delivery = await until("the change is delivered", () => receiver.deliveries.find(isOf));
      expect(isSigned(hook.secret, delivery), "it is not signed");
    });
  }
  const change = hostile && await step("the hostile page changes", () => changed(daemon, site, "/hostile", hostile.id));
  const host = new URL(site.url).host;
  const list = pages({ source: hostile?.id ?? 1, change: change ?? {}, destination: hook?.id ?? 1, host });
  await step("foreign text is escaped on every page", () => staysText(visitor, list));
  if (hostile) await step("stored versions are served as plain text", () => versionsAreTexts(visitor, hostile.id));
  await step("every page, light and dark, desktop and phone", () => look(visitor, list, pictures));
  await step("by keyboard", () => byKeyboard(visitor, list));
  await step("other sites can neither change nor frame pages", () => fromElsewhere(browser, daemon));
  await step("without scripts", () => withoutScript(browser, daemon, site, list));
  if (source) await step("edit change detection, with a preview", () => tune(visitor, daemon, source.id));
  await step("pause several sources at once", () => pauseMany(visitor, daemon));
  await step("move the budget and apply it", () => moveBudget(visitor, daemon));
  await step("log out", () => logOut(visitor));
  await step("no page requested other origins, violated its policy or had an error", () => visitor.leave("all pages"));
  await step("an open page survives a restart", () => outlive(browser, daemon));
  site.close();
  receiver.close();
  await step("the daemon exits cleanly", () => daemon.stop());
}

await emptyPictures(pictures);
const browser = await openBrowser();
if (only !== "demo") await dashboard(browser);
await step("the demo opens on the dashboard", () => demo(browser, binary, pictures));
await browser.close();
console.log(`pictures: ${pictures}`);
if (failed.length > 0) {
  console.error(`failed: ${failed.join("; ")}`);
  process.exitCode = 1;
}
