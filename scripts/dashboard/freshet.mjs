// Runs the binary.

import { execFile, spawn } from "node:child_process";
import { createWriteStream, readFileSync } from "node:fs";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";

import { expect, until } from "./expect.mjs";

const run = promisify(execFile);
const CONFIG = `budget = "400000/day"
burst = 1000
[hosts]
gap = "0s"
connections = 4
[fetch]
allow = ["127.0.0.0/8"]
`;

/** Starts a process that prints the address of its dashboard; it ends with this one. */
export async function start(binary, args, folder, pattern) {
  const log = join(folder, `${args[0]}.log`);
  const child = spawn(binary, args, { cwd: folder, stdio: ["ignore", "ignore", "pipe"] });
  const written = child.stderr.pipe(createWriteStream(log));
  const whole = new Promise((resolve) => written.on("close", resolve));
  const ended = new Promise((resolve) => child.on("exit", resolve));
  const kill = () => child.kill("SIGKILL");
  process.on("exit", kill);
  const url = await until(`${args[0]} prints its address`, () => {
    expect(child.exitCode === null, `it ended: ${readFileSync(log, "utf8")}`);
    return pattern.exec(readFileSync(log, "utf8"))?.[1];
  });
  return {
    url,
    log: () => readFileSync(log, "utf8"),
    /** Stops it and waits for its end. */
    async stop() {
      child.kill("SIGINT");
      const code = await ended;
      // The log is complete.
      await whole;
      process.off("exit", kill);
      return code;
    },
  };
}

/** Starts a daemon in a directory of its own, with an admin token. */
export async function startDaemon(binary) {
  const folder = await mkdtemp(join(tmpdir(), "freshet-dashboard-"));
  await writeFile(join(folder, "freshet.toml"), CONFIG);
  const command = async (...args) => (await run(binary, args, { cwd: folder })).stdout.trim();
  const token = await command("token", "add", "check", "--scope", "read,write,claim,admin");
  const serve = (listen) => start(binary, ["run", "--listen", listen], folder, /"?the service is at (http:\/\/[^/"]+)/);
  let daemon = await serve("127.0.0.1:0");
  const { url } = daemon;
  const ask = async (method, path, body) => {
    const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" };
    const answer = await fetch(url + path, { method, headers, body: body && JSON.stringify(body) });
    expect(answer.ok, `${method} ${path}: ${answer.status} ${await answer.clone().text()}`);
    return answer.json();
  };
  return {
    url, folder, token, command, ask,
    /** Restarts it with the same database and address. */
    async restart() {
      await daemon.stop();
      daemon = await serve(new URL(url).host);
    },
    async stop() {
      const code = await daemon.stop();
      const errors = daemon.log().split("\n").filter((line) => /"level":"ERROR"|panicked/.test(line));
      await rm(folder, { recursive: true, force: true });
      expect(code === 0, `the daemon ended with ${code}`);
      expect(errors.length === 0, `the daemon logged errors: ${errors.join("\n")}`);
    },
  };
}

/** Starts the demo on a free port. */
export async function startDemo(binary, length) {
  const folder = await mkdtemp(join(tmpdir(), "freshet-dashboard-"));
  const args = ["demo", "--for", length, "--listen", "127.0.0.1:0"];
  const demo = await start(binary, args, folder, /the dashboard is at (http:\/\/[^/\s]+)/);
  return {
    ...demo,
    async stop() {
      const code = await demo.stop();
      const log = demo.log();
      await rm(folder, { recursive: true, force: true });
      expect(code === 0, `the demo ended with ${code}: ${log}`);
      expect(log.includes("With the same number of requests"), `the demo has no summary: ${log}`);
    },
  };
}
