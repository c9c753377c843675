// Commands without a page of their own, by mouse.
import assert from "node:assert/strict";
import { until } from "./swarm.mjs";

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
