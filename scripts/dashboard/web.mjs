// A small web on loopback: pages that change on demand, and a webhook receiver.

import { createHmac, timingSafeEqual } from "node:crypto";
import { createServer } from "node:http";

/** Variable that the script of a hostile page would set. */
export const MARK = "__xss";
const RUN = `window.${MARK}=1`;
/** Text that would run if it were taken for markup. */
export const HOSTILE = [
  `<script>${RUN}</script>`,
  `"onmouseover="${RUN}`,
  `'><img src=x onerror=${RUN}>`,
  `</title></textarea></code></pre><svg onload=${RUN}>`,
  `javascript:${RUN}`,
  `{{${RUN}}}`,
].join(" ");

/** Starts a server on a free port of this machine. */
export async function listen(answer) {
  const server = createServer((request, response) => {
    const parts = [];
    request.on("data", (part) => parts.push(part));
    request.on("end", () => answer(request, response, Buffer.concat(parts)));
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address();
  return { port, url: `http://127.0.0.1:${port}`, close: () => server.closeAllConnections() || server.close() };
}

const paragraphs = (count) => Array.from({ length: count }, (_, at) =>
  `<p>Paragraph ${at + 1} stays as it is: it is about the river, the weather and the harbour of the town.</p>`).join("\n");

/** Serves pages, each with a version. */
export async function openSite() {
  const versions = new Map();
  const version = (path) => versions.get(path) ?? 1;
  const server = await listen((request, response) => {
    const path = new URL(request.url, "http://x").pathname;
    const number = version(path);
    const headers = { "content-type": "text/html; charset=utf-8" };
    if (path === "/robots.txt") {
      response.writeHead(200, { "content-type": "text/plain" });
      response.end(`# ${HOSTILE}\nUser-agent: *\nDisallow: /secret\n`);
    } else if (path.startsWith("/hostile")) {
      response.writeHead(200, { ...headers, "x-hostile": HOSTILE, etag: `"${number}<script>"` });
      const text = HOSTILE.replaceAll("&", "&amp;").replaceAll("<", "&lt;");
      response.end(`<!doctype html><title>${text}</title><main><h1>${text}</h1><p>Version ${number} ${text}</p>` +
        `${paragraphs(4)}<p>${text} ${number}</p></main>`);
    } else if (path.startsWith("/broken")) {
      response.writeHead(500, { "x-hostile": HOSTILE });
      response.end(HOSTILE);
    } else {
      response.writeHead(200, headers);
      response.end(`<!doctype html><title>News of ${path}</title><main><h1>News of ${path}</h1>` +
        `<p class="price">The price is ${100 + number} crowns today.</p>\n${paragraphs(6)}\n` +
        `<p class="weather">The weather of version ${number} is fine.</p>\n${paragraphs(3)}</main>`);
    }
  });
  return {
    ...server,
    /** Changes a page. */
    change: (path) => versions.set(path, version(path) + 1),
    version,
  };
}

/** Receives webhooks. */
export async function openReceiver() {
  const deliveries = [];
  const server = await listen((request, response, body) => {
    deliveries.push({ headers: request.headers, body });
    response.writeHead(204).end();
  });
  return { ...server, deliveries };
}

/** True if a delivery is signed with a secret as Standard Webhooks specifies. */
export function isSigned(secret, { headers, body }) {
  const key = Buffer.from(secret.replace(/^whsec_/, ""), "base64");
  const signed = Buffer.concat([Buffer.from(`${headers["webhook-id"]}.${headers["webhook-timestamp"]}.`), body]);
  const good = Buffer.from(`v1,${createHmac("sha256", key).update(signed).digest("base64")}`);
  return String(headers["webhook-signature"]).split(" ")
    .some((it) => it.length === good.length && timingSafeEqual(Buffer.from(it), good));
}
