// The door in front of a swarm: `swarm web` of SWARM_BIN, or for work on the pages alone a stand-in (SWARM_DOOR=FILE.mjs).
import { execFileSync, spawn } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { extname, join } from "node:path";
import { fileURLToPath } from "node:url";

const bin = process.env.SWARM_BIN ?? "swarm";
const dist = fileURLToPath(new URL("../dist", import.meta.url));
const TYPES = { ".html": "text/html; charset=utf-8", ".js": "text/javascript", ".css": "text/css", ".svg": "image/svg+xml" };

export class Door {
  constructor(dir) {
    this.dir = dir;
  }

  async open() {
    const stand = process.env.SWARM_DOOR;
    this.child = stand ? spawn("node", [stand, this.dir, "0", dist]) : spawn(bin, ["-C", this.dir, "web", "--no-open", "--port", "0"]);
    let said = "";
    await new Promise((ready, fail) => {
      const hear = (data) => {
        said += data;
        const link = /http:\/\/127\.0\.0\.1:\d+\/#[\w-]+/.exec(said);
        if (!link) return;
        this.link = link[0];
        ready();
      };
      this.child.stdout.on("data", hear);
      this.child.stderr.on("data", hear);
      this.child.on("exit", () => fail(new Error(`the door did not open: ${said}`)));
    });
    this.base = this.link.split("/#")[0];
  }

  /** Another link: keys work once. */
  async another() {
    if (process.env.SWARM_DOOR) {
      const next = new Promise((ready) => this.child.stdout.once("data", (data) => ready(String(data).trim())));
      this.child.kill("SIGUSR1");
      return next;
    }
    const said = execFileSync(bin, ["-C", this.dir, "web", "--no-open"], { encoding: "utf8" });
    return /http:\/\/\S+/.exec(said)[0];
  }

  /** A link for somebody who may only look; the stand-in has none. */
  viewer = process.env.SWARM_DOOR
    ? null
    : async () => /http:\/\/\S+/.exec(execFileSync(bin, ["-C", this.dir, "web", "--no-open", "--viewer"], { encoding: "utf8" }))[0];

  close() {
    this.child?.kill("SIGTERM");
  }
}

/** Shows web/dist through the door as it will be when it is built in: same headers, other bytes. For work on the pages between two builds. */
export async function showDist(context) {
  if (process.env.PAGES_FROM !== "dist") return;
  let kept = null;
  await context.route(
    (url) => !/^\/(v1|session|live)(\/|$)/.test(url.pathname),
    async (route) => {
      const url = new URL(route.request().url());
      kept ??= (await route.fetch({ url: `${url.origin}/` })).headers();
      const headers = { ...kept };
      // Ids of tasks and names of checkpoints have dots: only what lies below /assets is a file for certain.
      const asset = url.pathname.startsWith("/assets/") || url.pathname === "/favicon.svg";
      const file = join(dist, asset ? url.pathname : "index.html");
      if (!existsSync(file)) return route.fulfill({ status: 404 });
      delete headers["content-length"];
      return route.fulfill({
        status: 200,
        headers: { ...headers, "content-type": TYPES[extname(file)] ?? "application/octet-stream" },
        body: readFileSync(file),
      });
    },
  );
}
