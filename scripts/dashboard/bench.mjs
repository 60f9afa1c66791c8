// Load times of pages in a browser with many sources: first byte and load event.

import { execFile } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";

import { openBrowser } from "./browser.mjs";
import { start } from "./freshet.mjs";

const PAGES = ["/sources?sort=next", "/", "/what-if", "/sources", "/sources?sort=value", "/sources?sort=belief",
  "/sources?text=page-77777", "/sources/add", "/sources/7", "/changes", "/signals", "/hosts", "/hosts?all=1", "/settings"];

const [binary, count] = [process.argv[2], Number(process.argv[3])];
const folder = await mkdtemp(join(tmpdir(), "freshet-bench-"));
await writeFile(join(folder, "freshet.toml"), 'budget = "5000000/day"\nconcurrency = 0\n');
const urls = Array.from({ length: count }, (_, n) => `https://host-${n % 20000}.example/section-${n % 97}/page-${n}.html`);
await writeFile(join(folder, "urls.txt"), `${urls.join("\n")}\n`);
await promisify(execFile)(binary, ["import", "urls.txt"], { cwd: folder });
const daemon = await start(binary, ["run", "--listen", "127.0.0.1:0"], folder, /"?the service is at (http:\/\/[^/"]+)/);
const browser = await openBrowser();
console.log("milliseconds".padEnd(30), "first byte".padStart(12), "loaded".padStart(12));
let slowest = 0;
for (const path of PAGES) {
  const page = await browser.newPage();
  await page.goto(daemon.url + path, { waitUntil: "load" });
  const [first, all] = await page.evaluate(() => {
    const it = performance.getEntriesByType("navigation")[0];
    return [it.responseStart - it.requestStart, it.loadEventEnd];
  });
  slowest = Math.max(slowest, all);
  console.log(path.padEnd(30), first.toFixed(0).padStart(12), all.toFixed(0).padStart(12));
  await page.close();
}
console.log(`slowest page: ${slowest.toFixed(0)} ms, with ${count} sources`);
await browser.close();
await daemon.stop();
await rm(folder, { recursive: true });
