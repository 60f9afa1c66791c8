// The dashboard of the demo, with expected and true freshness.

import { join } from "node:path";

import { Visitor, innocent } from "./browser.mjs";
import { expect, until } from "./expect.mjs";
import { startDemo } from "./freshet.mjs";

export async function demo(browser, binary, pictures) {
  const running = await startDemo(binary, "600s");
  try {
    const visitor = await Visitor.enter(browser, running.url);
    const page = await visitor.open("/");
    await page.getByText("Demo: a simulated web").waitFor();
    const truth = page.getByRole("region", { name: "True freshness" });
    await truth.waitFor();
    for (const name of ["freshet", "equal polling", "Nutch's rule"]) {
      await truth.getByRole("row", { name }).waitFor();
    }
    // The figures update on their own.
    const requests = async () => Number((await truth.getByRole("row", { name: "freshet" })
      .getByRole("cell").last().innerText()).replace(/\D/g, ""));
    const first = await requests();
    await until("the figures of the demo update", async () => (await requests()) > first);
    await until("the chart has all series", async () =>
      (await page.locator("#freshness .legend li").count()) >= 3);
    const share = async () => (await truth.getByRole("row", { name: "freshet" }).getByRole("cell").first().innerText());
    expect(/\d/.test(await share()), `the true freshness is missing: ${await share()}`);
    await innocent(page, "the demo");
    for (const colorScheme of ["light", "dark"]) {
      await page.emulateMedia({ colorScheme, reducedMotion: "reduce" });
      await page.screenshot({ path: join(pictures, `demo-desktop-${colorScheme}.png`), fullPage: true });
    }
    await page.setViewportSize({ width: 390, height: 844 });
    await page.screenshot({ path: join(pictures, "demo-phone-dark.png"), fullPage: true });
    for (const path of ["/what-if", "/sources", "/changes", "/hosts", "/settings"]) await visitor.go(page, path);
    await visitor.leave("the demo");
  } finally {
    await running.stop();
  }
}
