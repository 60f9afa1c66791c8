// A browser that records errors, policy violations and foreign requests of its pages.

import { chromium } from "playwright-core";

import { expect, same } from "./expect.mjs";
import { MARK } from "./web.mjs";

/** Timeout for anything to appear, in milliseconds. */
const TIMEOUT = 60_000;

/** Debian's browser, cut off from other machines. */
export async function openBrowser() {
  return chromium.launch({
    executablePath: process.env.FRESHET_CHROMIUM || "/usr/bin/chromium",
    args: ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
      "--disable-component-update", "--disable-sync", "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1"],
  });
}

/** A visitor with its own cookies, who records the errors of all pages. */
export class Visitor {
  constructor(context, origin) {
    this.context = context;
    this.origin = origin;
    this.errors = [];
    /** Expected console errors, for pages that are meant to fail. */
    this.expected = [];
  }

  static async enter(browser, origin, options = {}) {
    const context = await browser.newContext({ viewport: { width: 1280, height: 800 }, locale: "en-GB", ...options });
    context.setDefaultTimeout(TIMEOUT);
    const visitor = new Visitor(context, origin);
    if (options.javaScriptEnabled !== false) {
      await context.exposeBinding("__violated", (_, what) => visitor.errors.push(`CSP: ${what}`));
      await context.addInitScript(() => {
        addEventListener("securitypolicyviolation", (event) => {
          window.__violated(`${event.violatedDirective} at ${location.pathname}: ${event.blockedURI} ${event.sample}`);
        });
      });
    }
    context.on("request", (request) => {
      const url = new URL(request.url());
      if (!["data:", "blob:", "about:"].includes(url.protocol) && url.origin !== origin) {
        visitor.errors.push(`a request to another origin: ${url}`);
      }
    });
    context.on("weberror", (error) => visitor.errors.push(`an error in a script: ${error.error()}`));
    context.on("console", (message) => {
      const text = `${message.text()} (${message.location().url})`;
      if (message.type() === "error" && !visitor.expected.some((it) => it.test(text))) visitor.errors.push(text);
    });
    return visitor;
  }

  async open(path = "/") {
    const page = await this.context.newPage();
    await this.go(page, path);
    return page;
  }

  /** Opens a page that must exist. */
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

  /** Fails if there were errors. */
  clean(where) {
    expect(this.errors.length === 0, `${where}:\n  ${this.errors.join("\n  ")}`);
  }

  async leave(where) {
    this.clean(where);
    await this.context.close();
  }
}

/** Checks that no foreign text became markup. */
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
  same(found, [], `foreign text became markup at ${where}`);
}
