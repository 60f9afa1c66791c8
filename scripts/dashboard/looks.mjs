// How every page looks and reads: pictures, axe-core, no scrolling sideways.

import { mkdir, readFile, rm } from "node:fs/promises";
import { createRequire } from "node:module";
import { join } from "node:path";

import { expect } from "./expect.mjs";

const AXE = createRequire(import.meta.url).resolve("axe-core/axe.min.js");
const SIZES = [["desktop", { width: 1280, height: 800 }], ["phone", { width: 390, height: 844 }]];

/** Empties the directory of pictures. */
export async function emptyPictures(folder) {
  await rm(folder, { recursive: true, force: true });
  await mkdir(folder, { recursive: true });
}

/** What axe-core finds that people would stumble over. */
async function violations(page) {
  return page.evaluate(async () => {
    const { violations } = await window.axe.run(document, { resultTypes: ["violations"] });
    return violations.filter((it) => ["serious", "critical"].includes(it.impact)).map((it) =>
      `${it.id} (${it.impact}): ${it.nodes.slice(0, 3).map((node) => `${node.target.join(" ")}: ${node.failureSummary}`).join("; ")}`);
  });
}

/** Text that is wider than the window, by the widest element. */
async function overflow(page) {
  return page.evaluate(() => {
    const width = document.documentElement.clientWidth;
    if (document.documentElement.scrollWidth <= width) return null;
    const isHeld = (it) => it && it !== document.body && (getComputedStyle(it).overflowX !== "visible" || isHeld(it.parentElement));
    const wide = [...document.body.querySelectorAll("*")]
      .filter((it) => it.getBoundingClientRect().right > width + 1 && !isHeld(it.parentElement));
    return wide.slice(0, 5).map((it) => it.outerHTML.slice(0, 120));
  });
}

/** Looks at pages, one after the other, and says all that is wrong with them. */
export async function look(visitor, list, pictures) {
  await visitor.context.addInitScript({ content: await readFile(AXE, "utf8") });
  const page = await visitor.context.newPage();
  const wrong = [];
  for (const [name, path] of list) {
    const answer = await page.goto(visitor.origin + path, { waitUntil: "load" });
    if (answer.status() !== 200) {
      wrong.push(`${name}: ${path} answers ${answer.status()}`);
      continue;
    }
    for (const [size, viewport] of SIZES) {
      await page.setViewportSize(viewport);
      for (const colorScheme of ["light", "dark"]) {
        await page.emulateMedia({ colorScheme, reducedMotion: "reduce" });
        await page.screenshot({ path: join(pictures, `${name}-${size}-${colorScheme}.png`), fullPage: true });
        // What is too small or hidden on a phone is in the way there only.
        if (size === "desktop" || colorScheme === "light") {
          for (const found of await violations(page)) wrong.push(`${name}, ${size}, ${colorScheme}: ${found}`);
        }
      }
      const wide = await overflow(page);
      if (wide) wrong.push(`${name}, ${size}: the page scrolls sideways: ${wide.join("\n    ")}`);
    }
  }
  await page.close();
  expect(wrong.length === 0, `pages that are not as they should be:\n  ${wrong.join("\n  ")}`);
}
