// Trials that need a world of their own: no plan at all, nobody who coordinates.
import { Door, showDist } from "./door.mjs";
import { Swarm } from "./swarm.mjs";

/** Until a page has read what it shows. */
export async function settle(page) {
  await page.locator("h1").waitFor();
  await page.getByText(/^(live|past|no coordinator) · record/).waitFor();
  await page.waitForFunction(() => !document.querySelector("[aria-busy]"));
}

/** That nobody coordinates is said beside what a pause holds and what a preview promises. */
async function noCoordinator(page, swarm) {
  await page.keyboard.press("m");
  await page.getByRole("dialog").getByText("nothing starts by itself before swarm run").waitFor();
  await page.keyboard.press("Escape");
  swarm.swarm("pause");
  await page.getByText(/^Paused \(user\)/).waitFor();
  await page.getByText(/^No coordinator runs/).waitFor();
}

/** Before there is a plan every page says so, and asks nothing else; afterwards it fills without a reload. */
export async function noPlan({ browser }) {
  const swarm = new Swarm(undefined, "empty");
  const door = new Door(swarm.dir);
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 } });
  try {
    swarm.swarm("init");
    await door.open();
    await showDist(context);
    const page = await context.newPage();
    await page.goto(door.link);
    await page.getByRole("heading", { name: "There is no plan yet" }).waitFor();
    for (const route of ["/board", "/plan", "/history", "/cost", "/tasks/1.1", "/"]) {
      await page.goto(door.base + route);
      await page.getByRole("heading", { name: "There is no plan yet" }).waitFor();
      await page.getByText("swarm plan save FILE").waitFor();
      if (await page.getByRole("alert").count()) throw new Error(`${route} complains`);
    }
    swarm.swarm("plan", "save", swarm.plan);
    await page.getByRole("heading", { name: "Overview" }).waitFor();
    for (const run of ["r999", "zzz"]) {
      await page.goto(`${door.base}/runs/${run}`);
      await page.getByText("There is no such run").waitFor();
    }
    await noCoordinator(page, swarm);
  } finally {
    await context.close();
    door.close();
    await swarm.stop();
  }
}
