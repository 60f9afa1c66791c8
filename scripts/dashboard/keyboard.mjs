// Keyboard navigation.

import { expect, same } from "./expect.mjs";

/** The label of the focused element. */
const focused = (page) => page.evaluate(() => {
  const it = document.activeElement;
  return it === document.body ? "" : (it.getAttribute("aria-label") || it.textContent.trim() || it.name || it.id || it.localName);
});

/** True if the focused element shows its focus. */
const isSeen = (page) => page.evaluate(() => {
  const it = document.activeElement;
  const style = getComputedStyle(it);
  const box = it.getBoundingClientRect();
  return box.width > 1 && box.height > 1 && (style.outlineStyle !== "none" || style.boxShadow !== "none");
});

export async function byKeyboard(visitor, list) {
  const page = await visitor.open("/");
  await page.keyboard.press("Tab");
  same(await focused(page), "Skip to content", "the first focusable element");
  expect(await isSeen(page), "the skip link is not visible when focused");
  await page.keyboard.press("Enter");
  same(await page.evaluate(() => document.activeElement.id), "main", "the target of the skip link");
  await visitor.go(page, "/");
  const menu = ["Overview", "Budget", "Sources", "Changes", "Hosts", "Settings"];
  const met = [];
  for (let at = 0; at < 12; at += 1) {
    await page.keyboard.press("Tab");
    met.push(await focused(page));
  }
  const inOrder = met.filter((it) => menu.includes(it));
  same(inOrder, menu, `the menu by Tab (${met.join(", ")})`);
  // All controls can be reached in document order, with visible focus.
  for (const [name, path] of list) {
    await visitor.go(page, path);
    const controls = await page.evaluate(() => {
      const all = [...document.querySelectorAll("main button, main input:not([type=hidden]), main select, main textarea")];
      return all.filter((it) => it.checkVisibility() && !it.disabled && it.tabIndex >= 0).length;
    });
    const positive = await page.evaluate(() => document.querySelectorAll("[tabindex]:not([tabindex='-1']):not([tabindex='0'])").length);
    same(positive, 0, `elements of ${name} with a positive tabindex`);
    const primary = page.locator("main button.primary:visible").first();
    if (controls === 0 || (await primary.count()) === 0) continue;
    await primary.evaluate((it) => { it.dataset.target = "1"; });
    let found = false;
    for (let at = 0; at < 150 && !found; at += 1) {
      await page.keyboard.press("Tab");
      found = await page.evaluate(() => document.activeElement.dataset.target === "1");
    }
    expect(found, `the main action of ${name} is not reached by Tab`);
    expect(await isSeen(page), `the main action of ${name} does not show its focus`);
  }
  await page.close();
}
