// `SWARM_BIN=… npm run e2e [WORDS]`: every story, every route in both themes and three sizes.
import { spawnSync } from "node:child_process";

import AxeBuilder from "@axe-core/playwright";
import { chromium } from "playwright-core";

import { everyForm } from "./commands.mjs";
import { robot } from "./robot.mjs";
import { Door, showDist } from "./door.mjs";
import { firstPaint, idle, longDiff, tenThousandTasks } from "./figures.mjs";
import { anotherSite, rebinding } from "./strangers.mjs";
import { noPlan, settle } from "./worlds.mjs";
import { everyPageThen } from "./past.mjs";
import { pictures } from "./pictures.mjs";
import { stories } from "./stories.mjs";
import { trials } from "./trials.mjs";
import { Swarm } from "./swarm.mjs";

const ROUTES = [
  "/",
  "/attention",
  "/board",
  "/plan",
  "/plan/edit",
  "/tasks/2.1",
  "/tasks/2.1?tab=summary",
  "/tasks/2.1?tab=timeline",
  "/tasks/2.1?tab=review",
  "/tasks/2.3?tab=log",
  "/tasks/2.2?tab=messages",
  "/agents",
  "/runs/r2",
  "/checkpoints",
  "/checkpoints/session-start",
  "/operations",
  "/history?record=20",
  "/cost",
  "/handoff",
  "/doctor",
  "/commands",
  "/trunk",
  "/trunk?path=README.md&line=1",
  "/board?at=40",
  "/nowhere",
];
const SIZES = [
  [360, 640],
  [390, 844],
  [1280, 800],
  [1920, 1080],
];
const FLAGS = [
  "--no-sandbox",
  "--disable-gpu",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
  // A name of another site that leads to this machine.
  "--host-resolver-rules=MAP rebound.test 127.0.0.1",
  // The heap as it is, and not in steps of ten megabytes.
  "--enable-precise-memory-info",
];
// A page that the test itself hands out has no address of its own, and Chromium would not let it speak with loopback.
if (process.env.PAGES_FROM === "dist") FLAGS.push("--disable-features=LocalNetworkAccessChecks");

const wanted = process.argv[2] ?? "";
const failures = [];
const began = Date.now();

async function trial(name, what) {
  if (!name.includes(wanted)) return;
  const start = Date.now();
  try {
    await what();
    console.log(`ok    ${((Date.now() - start) / 1000).toFixed(1)} s  ${name}`);
  } catch (error) {
    failures.push(name);
    console.log(`FAIL  ${((Date.now() - start) / 1000).toFixed(1)} s  ${name}\n${error.stack ?? error}`);
  }
}

/** On a busy machine a browser may be late. A story that fails is played alone, in a world of its own, twice at most. */
function again(name) {
  if (wanted) return false;
  const play = () => spawnSync(process.execPath, ["e2e/run.mjs", name], { stdio: "inherit" }).status === 0;
  return play() || play();
}

/** What stories ask for to be refused: a path that leaves the repository, addresses that are written wrongly. */
const REFUSED = [`/v1/trunk?path=${encodeURIComponent("../../etc/passwd")}`, "/v1/tasks/%25E0", "/v1/operations/%25E0", "/v1/allowed?task=%25E0"];

/** Everything that a browser complains about is a fault, a broken rule of the policy too. */
function watch(page, faults) {
  page.on("console", (message) => {
    // A refused command is an answer; the browser calls every 4xx an error.
    if (
      ["error", "warning"].includes(message.type()) &&
      !REFUSED.some((path) => message.location().url.includes(path)) &&
      !/status of (401|404|409|503)|ERR_CONNECTION_RESET|ERR_INTERNET_DISCONNECTED|WebSocket connection/.test(message.text())
    )
      faults.push(message.text());
  });
  page.on("pageerror", (error) => faults.push(error.message));
  page.on("dialog", (dialog) => {
    faults.push(`a script ran: ${dialog.message()}`);
    void dialog.dismiss();
  });
}

const axe = async (page, rules) => {
  // There is one frame: no second page is needed to gather what was found.
  const builder = new AxeBuilder({ page }).setLegacyMode(true);
  const { violations } = await (
    rules ? builder.withRules(rules) : builder.withTags(["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"])
  ).analyze();
  return violations.map(
    ({ id, nodes }) =>
      `${id}: ${nodes
        .slice(0, 3)
        .map((node) => `${node.target.join(" ")} ${node.any[0]?.message ?? ""}`)
        .join(" | ")}`,
  );
};

/** What does not fit, and what is too small for a thumb. */
async function misfits(page, width) {
  const over = await page.evaluate(() => Math.max(document.documentElement.scrollWidth, document.querySelector(".top").scrollWidth) - innerWidth);
  const found = over > 0 ? [`${width}: ${over} px too wide`] : [];
  if (width > 400) return found;
  const small = await page.evaluate(() =>
    [...document.querySelectorAll(".bottom a, .bottom button, .ways button, .top button, .verbs button")]
      .map((node) => ({ text: node.textContent, box: node.getBoundingClientRect() }))
      .filter(({ box }) => box.width > 0 && (box.height < 44 || box.width < 44))
      .map(({ text }) => text),
  );
  return small.length ? [...found, `too small for a thumb: ${small.join(", ")}`] : found;
}

async function oneRoute(page, base, route) {
  const found = [];
  await page.setViewportSize({ width: 1280, height: 800 });
  await page.emulateMedia({ colorScheme: "light" });
  await page.goto(base + route);
  await settle(page);
  found.push(...(await axe(page)));
  // The themes differ in colours and in nothing else.
  await page.emulateMedia({ colorScheme: "dark" });
  found.push(...(await axe(page, ["color-contrast", "link-in-text-block"])).map((line) => `dark: ${line}`));
  for (const [width, height] of SIZES) {
    await page.setViewportSize({ width, height });
    found.push(...(await misfits(page, width)));
  }
  return found.map((line) => `${route}: ${line}`);
}

async function everyRoute({ context, base }) {
  const [found, left] = [[], [...ROUTES]];
  const look = async () => {
    const page = await context.newPage();
    for (let route = left.shift(); route; route = left.shift()) found.push(...(await oneRoute(page, base, route)));
    await page.close();
  };
  await Promise.all([look(), look()]);
  if (found.length) throw new Error(`${found.length} faults\n${found.join("\n")}`);
}

async function everyDialog({ page, base }) {
  const found = [];
  const asked = [
    ["/tasks/2.3", "x"],
    ["/tasks/2.3", "b"],
    ["/tasks/2.3", "e"],
    ["/tasks/2.3", "R"],
    ["/", "Space"],
    ["/", "?"],
    ["/", "Control+k"],
  ];
  for (const [route, key] of asked) {
    await page.goto(base + route);
    await settle(page);
    await page.keyboard.press(key);
    await page.getByRole("dialog").waitFor();
    await page.waitForFunction(() => !document.querySelector("dialog [aria-busy]"));
    found.push(...(await axe(page)).map((line) => `${route} ${key}: ${line}`));
    await page.keyboard.press("Escape");
    await page.getByRole("dialog").waitFor({ state: "hidden" });
  }
  if (found.length) throw new Error(found.join("\n"));
}

/** A list of operations is worth looking at when there is one of each kind: done, undone, and one that took it back. */
async function operations({ page, base, swarm }) {
  swarm.swarm("task", "defer", "3.2");
  swarm.swarm("undo", "--yes");
  swarm.swarm("task", "defer", "3.2");
  swarm.swarm("task", "edit", "3.2", "--title", "Chapter on hooks, edited");
  const all = swarm.view("op log");
  const found = [];
  for (const route of ["/operations", ...all.slice(0, 3).map(({ id }) => `/operations/${encodeURIComponent(id)}`)])
    found.push(...(await oneRoute(page, base, route)));
  swarm.swarm("undo", "--yes");
  swarm.swarm("undo", "--yes");
  await page.setViewportSize({ width: 1280, height: 800 });
  await page.emulateMedia({ colorScheme: null });
  if (found.length) throw new Error(found.join("\n"));
}

/** Whoever is not signed in gets one page. */
async function signedOut({ browser, door }) {
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 } });
  await showDist(context);
  const page = await context.newPage();
  const found = [];
  for (const colorScheme of ["light", "dark"]) {
    await page.emulateMedia({ colorScheme });
    await page.goto(`${door.base}/operations`);
    await page.getByText("swarm web", { exact: true }).waitFor();
    found.push(...(await axe(page)).map((line) => `${colorScheme}: ${line}`));
  }
  await context.close();
  if (found.length) throw new Error(found.join("\n"));
}

async function signingIn({ browser, door }) {
  const context = await browser.newContext();
  await showDist(context);
  const page = await context.newPage();
  await page.goto(`${door.base}/board`);
  await page.getByText("swarm web", { exact: true }).waitFor();
  await page.goto(door.link);
  await page.reload();
  await page.getByText("swarm web", { exact: true }).waitFor();
  await context.close();
}

async function main() {
  const swarm = new Swarm();
  let [door, browser] = [];
  try {
    await swarm.start();
    await swarm.settled();
    door = new Door(swarm.dir);
    await door.open();
    browser = await chromium.launch({ executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium", headless: true, args: FLAGS });
    const context = await browser.newContext({ viewport: { width: 1280, height: 800 } });
    context.setDefaultTimeout(12_000);
    await showDist(context);
    const faults = [];
    context.on("page", (page) => watch(page, faults));
    const page = await context.newPage();
    await page.goto(door.link);
    await page.getByRole("heading", { name: "Overview" }).waitFor();
    if (page.url().includes("#")) failures.push("the key stayed in the address");
    const open = async (fresh, link) => {
      await showDist(fresh);
      const tab = await fresh.newPage();
      watch(tab, faults);
      await tab.goto(link);
      await tab.getByText(/^live · record/).waitFor();
      return tab;
    };
    const given = { open, page, context, browser, door, swarm, base: door.base };
    await trial("pictures", () => pictures(given, ROUTES, SIZES.slice(1)));
    await trial("a link works once", () => signingIn(given));
    await trial("axe finds nothing on any route in both themes, and nothing is cut off at three sizes", () => everyRoute(given));
    await trial("axe finds nothing in any dialog", () => everyDialog(given));
    await trial("axe finds nothing on operations and on the signed-out page", async () => {
      await signedOut(given);
      await operations(given);
    });
    await trial("every page works in the past, and offers nothing that acts on it", () => everyPageThen(given, ROUTES));
    // Stories wait most of their time. Those with a world of their own are played beside those that share one; what is
    // measured is measured alone.
    const shared = async () => {
      for (const [name, story] of Object.entries({ ...trials, ...stories })) await trial(name, () => story(given));
      await trial("a page of another site gets nothing, with the person's cookie in the same browser", () => anotherSite(given));
      await trial("a name of another site that leads here opens nothing", () => rebinding(given));
    };
    const own = async () => {
      await trial("each story of the robot of the terminal UI, by mouse and by keyboard alone", () => robot(given));
      await trial("every form does what the command line does, and leaves the same records", () => everyForm(given));
      await trial("without a plan every page says so, and fills when there is one", () => noPlan(given));
    };
    await Promise.all([shared(), own()]);
    await trial("the overview is there soon", () => firstPaint(given));
    await trial("a page at rest asks for nothing and computes nothing", () => idle(given));
    await trial("a diff of 20,000 lines stays usable", () => longDiff(given));
    await trial("a plan of 10,000 tasks stays usable", () => tenThousandTasks(given));
    await trial("no complaint of the browser", async () => {
      if (faults.length) throw new Error([...new Set(faults)].join("\n"));
    });
  } finally {
    await browser?.close();
    door?.close();
    await swarm.stop();
  }
  const lost = process.env.ONCE ? failures.slice() : failures.filter((name) => !again(name));
  for (const name of failures.filter((name) => !lost.includes(name))) console.log(`late  ${name}: passed when it was played alone`);
  failures.splice(0, failures.length, ...lost);
  console.log(`${failures.length ? `${failures.length} failed` : "all passed"} in ${((Date.now() - began) / 1000).toFixed(0)} s`);
  process.exit(failures.length ? 1 : 0);
}

await main();
