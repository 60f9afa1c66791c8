// The demo opens on the dashboard, with the truth beside what is expected.

import { join } from "node:path";

import { Visitor, innocent } from "./browser.mjs";
import { expect, until } from "./expect.mjs";
import { startDemo } from "./freshet.mjs";

export async function demo(browser, binary, pictures) {
  const running = await startDemo(binary, "600s");
  try {
    const visitor = await Visitor.enter(browser, running.url);
    const page = await visitor.open("/");
    await page.getByText("This is the demo").waitFor();
    const truth = page.getByRole("region", { name: "What is really so" });
    await truth.waitFor();
    for (const name of ["freshet", "equal polling", "Nutch's rule"]) {
      await truth.getByRole("row", { name }).waitFor();
    }
    // The numbers move while one looks.
    const requests = async () => Number((await truth.getByRole("row", { name: "freshet" })
      .getByRole("cell").last().innerText()).replace(/\D/g, ""));
    const first = await requests();
    await until("the demo goes on before one's eyes", async () => (await requests()) > first);
    await until("the chart has the lines of all three", async () =>
      (await page.locator("#freshness .legend li").count()) >= 3);
    const share = async () => (await truth.getByRole("row", { name: "freshet" }).getByRole("cell").first().innerText());
    expect(/\d/.test(await share()), `the truth has no number: ${await share()}`);
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
