// Test data: sources that change, fail, or are hostile.

import { expect, until } from "./expect.mjs";
import { HOSTILE } from "./web.mjs";

/** A hostile tag. */
export const TAG = `<b>"'tag`;

/** Adds sources and waits until the hostile one is fetched. */
export async function fill(daemon, site) {
  const hostile = `${site.url}/hostile?q=${encodeURIComponent(HOSTILE)}&raw="'<script>window.__xss=1</script>`;
  // A maximum interval of a second makes changes visible at once.
  const max_interval = 1;
  const sources = [
    { url: hostile, tags: [TAG, "news"], importance: 3, max_interval },
    { url: `${site.url}/hostile/javascript:window.__xss=1//`, tags: [TAG] },
    { url: `${site.url}/broken?q=${encodeURIComponent(HOSTILE)}` },
    { url: `${site.url}/secret/<svg onload=window.__xss=1>` },
    ...["/weather", "/prices", "/harbour"].map((path) => ({ url: site.url + path, tags: ["town"] })),
  ];
  await daemon.ask("PUT", "/v1/sources", { sources });
  const row = await find(daemon, (it) => it.url.includes("/hostile?"));
  await until("hostile pages are fetched", async () =>
    (await daemon.ask("GET", `/v1/sources/${row.id}/versions`)).items.length > 0);
  return row;
}

/** Finds a source. */
export async function find(daemon, is) {
  const rows = (await daemon.ask("GET", "/v1/sources?limit=100")).items;
  const row = rows.find(is);
  expect(row, `no such source among ${rows.map((it) => it.url).join(", ")}`);
  return row;
}

/** Changes a page and waits until the change is in the log. */
export async function changed(daemon, site, path, source) {
  const before = await newest(daemon, source);
  site.change(path);
  return until(`the change of ${path} is found`, async () => {
    const now = await newest(daemon, source);
    return now && now.cursor !== before?.cursor && now;
  });
}

/** Returns the newest change of a source. */
export async function newest(daemon, source) {
  const { items } = await daemon.ask("GET", "/v1/changes?limit=1000&kinds=changed");
  return items.filter((it) => it.source === source && it.old_version && it.new_version).at(-1);
}
