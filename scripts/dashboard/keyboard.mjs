// Whoever has no pointer gets everywhere.

import { expect, same } from "./expect.mjs";

/** What has the focus, in a word. */
const focused = (page) => page.evaluate(() => {
  const it = document.activeElement;
  return it === document.body ? "" : (it.getAttribute("aria-label") || it.textContent.trim() || it.name || it.id || it.localName);
});

/** Whether what has the focus can be seen to have it. */
const isSeen = (page) => page.evaluate(() => {
  const it = document.activeElement;
  const style = getComputedStyle(it);
  const box = it.getBoundingClientRect();
  return box.width > 1 && box.height > 1 && (style.outlineStyle !== "none" || style.boxShadow !== "none");
});

export async function byKeyboard(visitor, list) {
  const page = await visitor.open("/");
  await page.keyboard.press("Tab");
  same(await focused(page), "To the content", "what comes first");
  expect(await isSeen(page), "the link to the content is not seen when it has the focus");
  await page.keyboard.press("Enter");
  same(await page.evaluate(() => document.activeElement.id), "main", "where the link to the content leads");
  await visitor.go(page, "/");
  const menu = ["Overview", "What if", "Sources", "Changes", "Hosts", "Settings"];
  const met = [];
  for (let at = 0; at < 12; at += 1) {
    await page.keyboard.press("Tab");
    met.push(await focused(page));
  }
  const inOrder = met.filter((it) => menu.includes(it));
  same(inOrder, menu, `the menu by Tab (${met.join(", ")})`);
  // All that can be used is reached, in the order in which it stands, and seen when it is.
  for (const [name, path] of list) {
    await visitor.go(page, path);
    const wanted = await page.evaluate(() => {
      const all = [...document.querySelectorAll("main button, main input:not([type=hidden]), main select, main textarea")];
      return all.filter((it) => it.checkVisibility() && !it.disabled && it.tabIndex >= 0).length;
    });
    const stolen = await page.evaluate(() => document.querySelectorAll("[tabindex]:not([tabindex='-1']):not([tabindex='0'])").length);
    same(stolen, 0, `elements of ${name} that jump the queue`);
    const primary = page.locator("main button.primary:visible").first();
    if (wanted === 0 || (await primary.count()) === 0) continue;
    await primary.evaluate((it) => { it.dataset.wanted = "1"; });
    let found = false;
    for (let at = 0; at < 150 && !found; at += 1) {
      await page.keyboard.press("Tab");
      found = await page.evaluate(() => document.activeElement.dataset.wanted === "1");
    }
    expect(found, `the main action of ${name} is not reached by Tab`);
    expect(await isSeen(page), `the main action of ${name} does not show its focus`);
  }
  await page.close();
}
