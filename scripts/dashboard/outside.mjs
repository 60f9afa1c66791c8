// Attacks by other sites on a logged-in visitor.

import { Visitor } from "./browser.mjs";
import { expect, same } from "./expect.mjs";
import { listen } from "./web.mjs";

const FORMS = [
  ["/what-if", { budget: "7/day" }],
  ["/settings/budget", { budget: "7/day" }],
  ["/settings/objective", { objective: "age" }],
  ["/settings/tokens", { name: "stolen", scope: "admin" }],
  ["/settings/destinations/new", { name: "stolen", way: "webhook", webhook: "https://evil.example/" }],
  ["/sources/add", { text: "https://evil.example/", list: "https://evil.example/" }],
  ["/logout", {}],
];

/** Another site submits forms and frames pages: nothing changes, nothing is shown. */
export async function fromElsewhere(browser, daemon) {
  // Errors of this visitor are not checked: its requests are meant to fail.
  const visitor = await Visitor.enter(browser, daemon.url);
  await visitor.logIn(daemon.token);
  const inputs = (fields) => Object.entries(fields).map(([name, value]) => `<input name="${name}" value="${value}">`);
  const evil = await listen((request, response) => {
    const at = Number(new URL(request.url, "http://x").searchParams.get("form") ?? -1);
    response.writeHead(200, { "content-type": "text/html" });
    if (at < 0) {
      response.end(`<title>frame</title><iframe id="victim" src="${daemon.url}/settings"></iframe>`);
      return;
    }
    const [path, fields] = FORMS[at];
    response.end(`<form id="form" method="post" action="${daemon.url}${path}">${inputs(fields).join("")}</form>` +
      "<script>document.getElementById('form').submit()</script>");
  });
  const before = await state(daemon);
  const page = await visitor.context.newPage();
  for (const at of FORMS.keys()) {
    const [path] = FORMS[at];
    const answered = page.waitForResponse((it) => it.url() === daemon.url + path && it.request().method() === "POST");
    await page.goto(`${evil.url}/?form=${at}`).catch(() => {});
    const status = (await answered).status();
    expect(status === 403 || status === 401, `a cross-site form at ${path} is answered with ${status}`);
    // Without an origin header, the form key is still missing.
    const cookies = (await visitor.context.cookies()).map((it) => `${it.name}=${it.value}`).join("; ");
    const body = new URLSearchParams(FORMS[at][1]).toString();
    const headers = { cookie: cookies, "content-type": "application/x-www-form-urlencoded" };
    const bare = await fetch(daemon.url + path, { method: "POST", headers, body, redirect: "manual" });
    same(bare.status, 403, `a form without a key at ${path}`);
  }
  await page.goto(`${evil.url}/`, { waitUntil: "load" });
  const shown = page.frames().find((it) => it.parentFrame());
  const inside = await shown.evaluate(() => document.body?.innerText ?? "").catch(() => "");
  expect(!inside.includes("Objective"), "a page is framed by another site");
  const head = await fetch(`${daemon.url}/login`);
  expect(/frame-ancestors 'none'/.test(head.headers.get("content-security-policy")), "pages can be framed");
  await page.close();
  evil.close();
  same(await state(daemon), before, "the state after the attacks");
  // The visitor is still logged in.
  await visitor.go(await visitor.context.newPage(), "/settings");
  await visitor.context.close();
}

/** The state that could be changed. */
async function state(daemon) {
  const settings = await daemon.ask("GET", "/v1/settings");
  const sources = await daemon.ask("GET", "/v1/sources?limit=1000");
  const destinations = await daemon.ask("GET", "/v1/destinations");
  const tokens = await daemon.command("token", "ls", "--json");
  const urls = sources.items.map((it) => it.url);
  const names = destinations.items.map((it) => it.name);
  return { settings, urls, names, tokens: tokens.split("\n").length };
}
