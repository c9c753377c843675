// Every page at a record of the past: it is there, it complains about nothing, and it offers nothing that acts on what was.
import { settle } from "./worlds.mjs";

/** Letters of verbs: in the past they say why not, and open nothing. */
const LETTERS = ["s", "x", "b", "u", "e", "M", "r", "S", "P", "R", "z", "Z", "m", "c", "Space"];

const then = (route, at) => `${route}${route.includes("?") ? "&" : "?"}at=${at}`;

async function onePage(page, base, route) {
  const found = [];
  await page.goto(base + route);
  await settle(page);
  if (await page.getByRole("heading", { name: "This page has a fault" }).count()) found.push("it has a fault");
  if (!(await page.getByRole("region", { name: "The past" }).count())) found.push("it does not say that it is the past");
  const open = page.locator('[data-act]:not([aria-disabled="true"])');
  for (const words of await open.allInnerTexts()) found.push(`it offers: ${words}`);
  const lines = await page.getByText("On the command line", { exact: true }).count();
  if (lines) found.push("it offers lines for a terminal");
  return found;
}

export async function everyPageThen({ context, base, swarm }, routes) {
  const found = [];
  const tab = async () => {
    const page = await context.newPage();
    page.on("request", (request) => request.method() === "POST" && found.push(`${request.url()} was asked for`));
    page.on("console", (message) => {
      if (message.type() === "error" && !/status of (404|409)/.test(message.text())) found.push(message.text());
    });
    page.on("pageerror", (error) => found.push(error.message));
    return page;
  };
  const { seq } = swarm.view("status");
  const present = routes.filter((one) => !one.includes("at="));
  const left = [Math.floor(seq / 2), seq - 1].flatMap((at) => present.map((one) => then(one, at)));
  const look = async () => {
    const page = await tab();
    for (let route = left.shift(); route; route = left.shift()) found.push(...(await onePage(page, base, route)).map((line) => `${route}: ${line}`));
    return page;
  };
  const [page, other] = await Promise.all([look(), look()]);
  await other.close();
  for (const route of ["/tasks/2.3", "/operations"]) {
    await page.goto(base + then(route, seq - 1));
    await settle(page);
    for (const letter of LETTERS) {
      // What was said to an earlier letter stands there still: only what is said anew is an answer to this one.
      await page.evaluate(() => document.querySelector(".spoken p")?.setAttribute("data-before", ""));
      await page.keyboard.press(letter);
      await page.locator(".spoken p:not([data-before])", { hasText: "This is the past" }).waitFor({ state: "attached" });
      if (await page.getByRole("dialog").count()) found.push(`${route}: ${letter} opens a dialog`);
    }
  }
  await page.close();
  if (found.length) throw new Error(`${found.length} faults\n${found.join("\n")}`);
}
