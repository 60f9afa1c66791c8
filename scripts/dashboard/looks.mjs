// Appearance of every page: screenshots, accessibility (axe-core), no horizontal scrolling.

import { mkdir, readFile, rm } from "node:fs/promises";
import { createRequire } from "node:module";
import { join } from "node:path";

import { expect } from "./expect.mjs";

const AXE = createRequire(import.meta.url).resolve("axe-core/axe.min.js");
const SIZES = [["desktop", { width: 1280, height: 800 }], ["phone", { width: 390, height: 844 }]];

/** Empties the directory of screenshots. */
export async function emptyPictures(folder) {
  await rm(folder, { recursive: true, force: true });
  await mkdir(folder, { recursive: true });
}

/** Serious and critical violations found by axe-core. */
async function violations(page) {
  return page.evaluate(async () => {
    const { violations } = await window.axe.run(document, { resultTypes: ["violations"] });
    return violations.filter((it) => ["serious", "critical"].includes(it.impact)).map((it) =>
      `${it.id} (${it.impact}): ${it.nodes.slice(0, 3).map((node) => `${node.target.join(" ")}: ${node.failureSummary}`).join("; ")}`);
  });
}

/** Elements that are wider than the window. */
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

/** Checks pages one after the other and reports all problems. */
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
        // Colors are the same on a phone; only the layout differs.
        if (size === "desktop" || colorScheme === "light") {
          for (const found of await violations(page)) wrong.push(`${name}, ${size}, ${colorScheme}: ${found}`);
        }
      }
      const wide = await overflow(page);
      if (wide) wrong.push(`${name}, ${size}: the page scrolls horizontally: ${wide.join("\n    ")}`);
    }
  }
  await page.close();
  expect(wrong.length === 0, `problems of pages:\n  ${wrong.join("\n  ")}`);
}
