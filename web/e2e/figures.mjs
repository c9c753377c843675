// What large work costs a browser, and that a page at which nobody looks costs nothing. The figures are printed.
import assert from "node:assert/strict";
import { Door, showDist } from "./door.mjs";
import { Swarm, until } from "./swarm.mjs";
import { settle } from "./worlds.mjs";

const LINES = 20_000;
const TASKS = 10_000;
/** Of a page, with room for a busy machine; the figures themselves are printed. */
const MOST = { delayMs: 200, rows: 400, heapMB: 120, firstPaintMs: 3000 };

const figures = (page) =>
  page.evaluate(() => ({
    nodes: document.querySelectorAll("*").length,
    rows: document.querySelectorAll("main li, main tr, main .node").length,
    heapMB: Math.round(performance.memory.usedJSHeapSize / 1e6),
  }));

/** From a key to the next picture, as the browser's own event timing has it; the middle of some. */
async function inputDelay(page, keys) {
  await page.evaluate(() => {
    window.delays = [];
    window.pressed = (event) => {
      const began = event.timeStamp;
      requestAnimationFrame(() => setTimeout(() => window.delays.push(performance.now() - began)));
    };
    document.addEventListener("keydown", window.pressed, { capture: true });
  });
  for (const key of keys) await page.keyboard.press(key, { delay: 30 });
  await until(() => page.evaluate((count) => window.delays.length >= count, keys.length), "every key to be drawn");
  const delays = await page.evaluate(() => (document.removeEventListener("keydown", window.pressed, { capture: true }), window.delays));
  return Math.round(delays.sort((a, b) => a - b)[Math.floor(delays.length / 2)]);
}

function within(what, found) {
  console.log(
    `      ${what}: ${Object.entries(found)
      .map(([name, value]) => `${name} ${value}`)
      .join(", ")}`,
  );
  for (const [name, value] of Object.entries(found))
    if (name in MOST) assert.ok(value <= MOST[name], `${what}: ${name} is ${value}, more than ${MOST[name]}`);
}

async function inWorld({ browser }, swarm, begin, look) {
  const door = new Door(swarm.dir);
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 } });
  context.setDefaultTimeout(20_000);
  try {
    await begin();
    await door.open();
    await showDist(context);
    const page = await context.newPage();
    await page.goto(door.link);
    await page.getByRole("heading", { name: "Overview" }).waitFor();
    await look(page, door.base);
  } finally {
    await context.close();
    door.close();
    await swarm.stop();
  }
}

const script = (...lines) => ["```script", ...lines, "```"].join("\n");

/** One file of 20,000 changed lines beside a small one. */
export async function longDiff(given) {
  const task = {
    id: "1.1",
    title: "A long file",
    review: "human",
    description: script(
      `sh seq -f "line %.0f of a file that nobody wants to read" ${LINES} > long.txt`,
      "write small.txt one",
      "commit feat: long",
      "complete",
    ),
  };
  const swarm = new Swarm({ goal: "Much to read", phases: [{ id: 1, name: "one", tasks: [task] }] }, "long");
  const begin = async () => {
    await swarm.start();
    await until(() => swarm.tasks()[0]?.status === "review", "the long file to be submitted", 60_000);
  };
  await inWorld(given, swarm, begin, async (page, base) => {
    await page.goto(`${base}/tasks/1.1?tab=diff`);
    const file = page.locator('[data-file="long.txt"]');
    await file.getByText(`${LINES} changed lines, open to load`).waitFor();
    await file.getByRole("button", { name: /long\.txt/ }).click();
    await file.getByText("line 400 of a file").waitFor();
    const delayMs = await inputDelay(page, ["]", "[", "}", "{", "w", "w"]);
    const { rows, ...found } = await figures(page);
    within(`a diff of ${LINES} lines`, { delayMs, lines: rows, ...found });
    assert.ok(rows < 1000, `${rows} lines are in the page at once`);
    await file.getByRole("button", { name: /^Show 2400 more/ }).click();
    await file.getByText("line 2500 of a file").waitFor();
  });
}

export async function tenThousandTasks(given) {
  const tasks = Array.from({ length: TASKS }, (_, n) => ({ id: `1.${n + 1}`, title: `Task number ${n + 1}` }));
  const swarm = new Swarm({ goal: "Very much to do", phases: [{ id: 1, name: "Many", tasks }] }, "huge");
  const begin = () => void swarm.swarm("plan", "save", swarm.plan);
  await inWorld(given, swarm, begin, async (page, base) => {
    for (const route of ["/plan?view=list", "/board"]) {
      await page.goto(base + route);
      await settle(page);
      await page.locator("main li").nth(9).waitFor();
      const delayMs = await inputDelay(page, ["j", "j", "j", "k", "j", "j", "j"]);
      within(`${TASKS} tasks, ${route}`, { delayMs, ...(await figures(page)) });
    }
    await page.goto(`${base}/plan?view=list`);
    await settle(page);
    await page.keyboard.press("/");
    await page.keyboard.type("number 9999");
    await page.getByText("Task number 9999", { exact: true }).waitFor();
    await page.goto(`${base}/plan?view=list`);
    await settle(page);
    await page.getByText("Task number 1", { exact: true }).waitFor();
    await page.keyboard.press("Shift+G");
    await page.getByText(`Task number ${TASKS}`, { exact: true }).waitFor();
  });
}

/** The first sight of the overview, without anything kept from before. */
export async function firstPaint({ browser, door }) {
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 } });
  try {
    await showDist(context);
    const page = await context.newPage();
    await page.goto(await door.another());
    await page.getByRole("heading", { name: "Overview" }).waitFor();
    const filled = Math.round(await page.evaluate(() => performance.now()));
    const firstPaintMs = Math.round(await page.evaluate(() => performance.getEntriesByName("first-contentful-paint")[0]?.startTime ?? 0));
    within("the overview", { firstPaintMs, filledMs: filled });
  } finally {
    await context.close();
  }
}

/** While nothing happens in the swarm, a page asks for nothing and computes nothing. */
export async function idle(given) {
  const swarm = new Swarm(undefined, "idle");
  const begin = () => void swarm.swarm("plan", "save", swarm.plan);
  await inWorld(given, swarm, begin, async (page, base) => {
    const session = await page.context().newCDPSession(page);
    await session.send("Performance.enable");
    const busy = async () => {
      const { metrics } = await session.send("Performance.getMetrics");
      return metrics.find(({ name }) => name === "TaskDuration").value * 1000;
    };
    const asked = [];
    page.on("request", (request) => asked.push(request.url()));
    for (const route of ["/", "/board", "/agents"]) {
      await page.goto(base + route);
      await settle(page);
      // Until what a visit brings with it is over: half a second without a question.
      let seen = -1;
      await until(async () => {
        const before = seen;
        seen = asked.length;
        await page.waitForTimeout(500);
        return before === seen;
      }, "the page to be at rest");
      const [requests, work] = [asked.length, await busy()];
      await page.waitForTimeout(3000);
      const found = { requests: asked.length - requests, busyMsPerSecond: Math.round((await busy()) - work) / 3 };
      within(`3 s of rest on ${route}`, { ...found, busyMsPerSecond: Math.round(found.busyMsPerSecond) });
      assert.equal(found.requests, 0, `it asked for ${asked.slice(requests).join(", ")}`);
      assert.ok(found.busyMsPerSecond < 30, "it computes although nothing happens");
    }
  });
}
