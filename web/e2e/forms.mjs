// Commands without a page of their own, by mouse and by keyboard alone.
import assert from "node:assert/strict";
import { until } from "./swarm.mjs";

const foot = (page) => page.locator(".foot .result");
const landed = (page) =>
  foot(page)
    .getByText(/operation \d+/)
    .waitFor();

export async function formByMouse({ page, base, swarm }) {
  await page.goto(`${base}/commands`);
  await page.getByRole("button", { name: /^Reserve files/ }).click();
  const dialog = page.getByRole("dialog");
  assert.equal(await dialog.getByRole("button", { name: "Reserve files" }).isEnabled(), false, "a form says what it lacks");
  await dialog.getByLabel(/^Files/).fill("drafts/*.md, notes.txt");
  await dialog.getByLabel("Why").fill("I write here");
  await dialog.getByRole("button", { name: "Reserve files" }).click();
  await until(() => swarm.view("reservations list").length === 1, "the reservation");
  const [{ number, files }] = swarm.view("reservations list");
  assert.deepEqual(files, ["drafts/*.md", "notes.txt"]);
  await page.getByText(`reservation ${number} of`).waitFor();
  await page.getByRole("button", { name: `Release ${number}`, exact: true }).click();
  await until(() => swarm.view("reservations list").length === 0, "the release");
}

/** As fast as a program types: nothing that is typed is lost, or meant for something else. */
export async function formByKeys({ page, base, swarm }) {
  const task = (id) => swarm.tasks().find((one) => one.id === id);
  const dialog = page.getByRole("dialog");
  await page.goto(`${base}/board`);
  await page.getByText(/^live · record/).waitFor();
  await page.keyboard.press("Control+k");
  await dialog.waitFor();
  await page.keyboard.type("Add a task");
  await page.keyboard.press("Enter");
  await dialog.getByText("On the command line").waitFor();
  await page.keyboard.type("3.1");
  await page.keyboard.press("Enter");
  await dialog.getByText("Still missing: Title").waitFor();
  await page.keyboard.press("Tab");
  await page.keyboard.type("Errata");
  for (let field = 0; field < 4; field++) await page.keyboard.press("Tab");
  // Nobody takes it up before it is taken back.
  await page.keyboard.type("2.4");
  await page.keyboard.press("Enter");
  // What is refused costs nobody their words.
  await dialog.getByRole("alert").getByText("Task 3.1 already exists").waitFor();
  for (let field = 0; field < 5; field++) await page.keyboard.press("Shift+Tab");
  await page.keyboard.press("Control+a");
  await page.keyboard.type("3.7");
  await page.keyboard.press("Enter");
  await until(() => task("3.7")?.title === "Errata", "the task to be added");
  await landed(page);
  assert.deepEqual(task("3.7").depends, ["2.4"]);
  // At once: what is taken back is what landed last, however old the board on the screen is.
  await page.keyboard.press("z");
  await until(() => task("3.7") === undefined, "the undo");
}
