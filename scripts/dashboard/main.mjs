// Runs the steps, and says how each went: node main.mjs TARGET [STEP…]

import { join } from "node:path";

import { Visitor, innocent, openBrowser } from "./browser.mjs";
import { demo } from "./demo.mjs";
import { fill } from "./fill.mjs";
import { logIn, logOut, moveBudget, tell } from "./flow.mjs";
import { startDaemon } from "./freshet.mjs";
import { byKeyboard } from "./keyboard.mjs";
import { emptyPictures, look } from "./looks.mjs";
import { fromElsewhere } from "./outside.mjs";
import { pages } from "./pages.mjs";
import { openReceiver, openSite } from "./web.mjs";

const [target, ...chosen] = process.argv.slice(2);
const binary = join(target, "debug", "freshet");
const pictures = join(target, "dashboard");
let failed = 0;

async function step(name, work) {
  const start = performance.now();
  const took = () => `${((performance.now() - start) / 1000).toFixed(1)} s`;
  try {
    const result = await work();
    console.log(`ok      ${name} (${took()})`);
    return result;
  } catch (error) {
    failed += 1;
    console.error(`FAILED  ${name} (${took()})\n  ${error.stack ?? error}`);
    return undefined;
  }
}

await emptyPictures(pictures);
const browser = await openBrowser();
const [site, receiver] = [await openSite(), await openReceiver()];
const daemon = await startDaemon(binary);
console.log(daemon.url, daemon.token);
const visitor = await step("log in, with a wrong token first", () => logIn(browser, daemon));
const { mean } = await step("fill", () => fill(daemon, site));
const hook = await step("subscribe a webhook and test it", () => tell(visitor, receiver));
await step("budget", () => moveBudget(visitor, daemon));
await step("demo", () => demo(browser, binary, pictures));
await step("log out", () => logOut(visitor));
await browser.close();
site.close();
receiver.close();
await step("stop", () => daemon.stop());
process.exitCode = failed ? 1 : 0;
