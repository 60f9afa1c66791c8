// Runs the steps, and says how each went: node main.mjs TARGET [demo]

import { join } from "node:path";

import { openBrowser } from "./browser.mjs";
import { demo } from "./demo.mjs";
import { expect, until } from "./expect.mjs";
import { changed, fill } from "./fill.mjs";
import { addByPaste, logIn, logOut, moveBudget, outlive, pauseMany, readDiff, seeChange, tell, tune } from "./flow.mjs";
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

/** Runs a step. What fails is told at once, and all others have their turn. */
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

/** A daemon, a web for it, and one who looks at all of it. */
async function dashboard(browser) {
  const [site, receiver] = [await openSite(), await openReceiver()];
  const daemon = await startDaemon(binary);
  const visitor = await step("log in, with a wrong token first", () => logIn(browser, daemon));
  if (!visitor) return;
  await step("an empty dashboard says what to do next", () =>
    look(visitor, [["empty-overview", "/"], ["empty-what-if", "/what-if"], ["empty-sources", "/sources"],
      ["empty-changes", "/changes"], ["empty-signals", "/signals"], ["empty-hosts", "/hosts"], ["login", "/login"]], pictures));
  const empty = await visitor.open("/");
  await empty.getByRole("heading", { name: "Nothing to keep fresh yet" }).waitFor();
  const mean = await step("sources that mean harm are fetched", () => fill(daemon, site));
  await step("an empty overview fills by itself", async () => {
    await empty.getByRole("heading", { name: "Fresh copies" }).waitFor();
    await empty.close();
  });
  const hook = await step("subscribe a webhook and test it", () => tell(visitor, receiver));
  const source = await step("add sources by paste", () => addByPaste(visitor, daemon, site));
  const seen = source && await step("a change arrives without a reload", () => seeChange(visitor, daemon, site, source.id));
  if (seen) await step("read the diff inline and side by side", () => readDiff(seen.page, site));
  if (hook && seen) {
    await step("the webhook is told of it, signed", async () => {
      const isOf = (it) => JSON.parse(it.body).entries?.some((entry) => entry.source === source.id);
      const letter = await until("it is told", () => receiver.letters.find(isOf));
      expect(isSigned(hook.secret, letter), "it is not signed");
    });
  }
  const change = mean && await step("the hostile page changes", () => changed(daemon, site, "/hostile", mean.id));
  const host = new URL(site.url).host;
  const list = pages({ source: mean?.id ?? 1, change: change ?? {}, destination: hook?.id ?? 1, host });
  await step("what strangers wrote stays text on every page", () => staysText(visitor, list));
  if (mean) await step("kept versions are texts", () => versionsAreTexts(visitor, mean.id));
  await step("every page, light and dark, desktop and phone", () => look(visitor, list, pictures));
  await step("by keyboard", () => byKeyboard(visitor, list));
  await step("from other sites nothing can be changed or framed", () => fromElsewhere(browser, daemon));
  await step("without a script", () => withoutScript(browser, daemon, site, list));
  if (source) await step("tune what counts, with a preview", () => tune(visitor, daemon, source.id));
  await step("pause some at once", () => pauseMany(visitor, daemon));
  await step("move the budget and apply it", () => moveBudget(visitor, daemon));
  await step("log out", () => logOut(visitor));
  await step("no page asked elsewhere, broke its policy or had an error", () => visitor.leave("all pages"));
  await step("a page that is open outlives a restart", () => outlive(browser, daemon));
  site.close();
  receiver.close();
  await step("the daemon ends well", () => daemon.stop());
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
