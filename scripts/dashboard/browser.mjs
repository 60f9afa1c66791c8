// A browser whose pages are watched: what they say, where they ask, and what is in them.

import { chromium } from "playwright-core";

import { expect, same } from "./expect.mjs";
import { MARK } from "./web.mjs";

/** How long anything may take to appear, in milliseconds. */
const PATIENCE = 60_000;

/** Debian's browser, with no way to other machines. */
export async function openBrowser() {
  return chromium.launch({
    executablePath: process.env.FRESHET_CHROMIUM || "/usr/bin/chromium",
    args: ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
      "--disable-component-update", "--disable-sync", "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1"],
  });
}

/** A visitor with cookies of its own, who sees to it that nothing is wrong with any page. */
export class Visitor {
  constructor(context, origin) {
    this.context = context;
    this.origin = origin;
    this.faults = [];
    /** What the console may say: for pages that are to fail. */
    this.expected = [];
  }

  static async enter(browser, origin, options = {}) {
    const context = await browser.newContext({ viewport: { width: 1280, height: 800 }, locale: "en-GB", ...options });
    context.setDefaultTimeout(PATIENCE);
    const visitor = new Visitor(context, origin);
    if (options.javaScriptEnabled !== false) {
      await context.exposeBinding("__violated", (_, what) => visitor.faults.push(`CSP: ${what}`));
      await context.addInitScript(() => {
        addEventListener("securitypolicyviolation", (event) => {
          window.__violated(`${event.violatedDirective} at ${location.pathname}: ${event.blockedURI} ${event.sample}`);
        });
      });
    }
    context.on("request", (request) => {
      const url = new URL(request.url());
      if (!["data:", "blob:", "about:"].includes(url.protocol) && url.origin !== origin) {
        visitor.faults.push(`a request to another origin: ${url}`);
      }
    });
    context.on("weberror", (error) => visitor.faults.push(`an error in a script: ${error.error()}`));
    context.on("console", (message) => {
      const text = `${message.text()} (${message.location().url})`;
      if (message.type() === "error" && !visitor.expected.some((it) => it.test(text))) visitor.faults.push(text);
    });
    return visitor;
  }

  async open(path = "/") {
    const page = await this.context.newPage();
    await this.go(page, path);
    return page;
  }

  /** Goes to a page that must be there. */
  async go(page, path) {
    const answer = await page.goto(this.origin + path, { waitUntil: "load" });
    same(answer.status(), 200, `the page ${path}`);
    return page;
  }

  async logIn(token, next = "/") {
    const page = await this.open("/login");
    await page.getByLabel("Token", { exact: true }).fill(token);
    await page.getByRole("button", { name: "Log in" }).click();
    await page.waitForURL((url) => url.pathname === next);
    return page;
  }

  /** Nothing was wrong so far. */
  clean(where) {
    expect(this.faults.length === 0, `${where}:\n  ${this.faults.join("\n  ")}`);
  }

  async leave(where) {
    this.clean(where);
    await this.context.close();
  }
}

/** That nothing in a page was made of what strangers wrote. */
export async function innocent(page, where) {
  const found = await page.evaluate((mark) => {
    const bad = [];
    if (window[mark] !== undefined) bad.push(`window.${mark} is set`);
    const origin = location.origin;
    for (const element of document.querySelectorAll("*")) {
      const name = element.localName;
      const here = `<${name}> ${element.outerHTML.slice(0, 200)}`;
      if (["iframe", "object", "embed", "base", "frame"].includes(name)) bad.push(here);
      if (name === "script" && !element.src.startsWith(`${origin}/assets/`)) bad.push(here);
      if (name === "img" && !element.src.startsWith(`${origin}/`)) bad.push(here);
      for (const attribute of element.attributes) {
        if (attribute.name.startsWith("on")) bad.push(`${attribute.name} at ${here}`);
        const leads = ["href", "src", "action", "formaction", "xlink:href"].includes(attribute.name);
        if (leads && /^\s*(javascript|data|vbscript):/i.test(attribute.value)) bad.push(`${attribute.name} at ${here}`);
      }
    }
    return bad;
  }, MARK);
  same(found, [], `what strangers wrote became markup at ${where}`);
}
