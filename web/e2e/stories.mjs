// What people do with the pages, by mouse and by keyboard alone, on a real swarm.
import assert from "node:assert/strict";
import { conflictsAhead, fromLineToCause, fromLineToCauseByKeys, sinceRoundOne, sinceRoundOneByKeys } from "./causes.mjs";
import { formByKeys, formByMouse } from "./forms.mjs";
import { until } from "./swarm.mjs";

const button = (page, name) => page.getByRole("button", { name });
const foot = (page) => page.locator(".foot .result");
const task = (swarm, id) => swarm.tasks().find((one) => one.id === id);

export const stories = {
  async "mouse: a question is answered, and its task goes on"({ page, base, swarm }) {
    await page.goto(`${base}/attention`);
    const entry = page.getByRole("group", { name: /2\.2/ });
    await entry.getByText("MIT or Apache for the README?").waitFor();
    await entry
      .getByRole("button", { name: /^1|answer/i })
      .first()
      .click();
    await page.getByRole("dialog").getByRole("textbox").fill("Apache, please");
    await page
      .getByRole("dialog")
      .getByRole("button", { name: /answer/i })
      .click();
    await until(() => task(swarm, "2.2").restarts > 0 || task(swarm, "2.2").status !== "blocked", "2.2 to go on");
    await page.goto(`${base}/tasks/2.2?tab=messages`);
    await page.getByText("Apache, please").waitFor();
  },

  async "keyboard: a goes to what waits, a digit chooses, Esc goes back to it"({ page, base }) {
    await page.goto(`${base}/board`);
    await page.getByText(/^live · record/).waitFor();
    await page.keyboard.press("a");
    const here = () => page.evaluate(() => document.activeElement?.closest("[data-entry]")?.dataset.entry ?? "");
    await until(here, "the first entry to be selected");
    // The oldest may be a review, which is opened and not answered here.
    await until(async () => {
      if ((await here()) === "task/2.2") return true;
      await page.keyboard.press("a");
      return false;
    }, "the question to be selected");
    const entry = await here();
    const words = page.locator(`[data-entry="${entry}"]`);
    const asks = (await words.getByRole("button").allInnerTexts()).findIndex((text) => text.includes("…"));
    await page.keyboard.press(String(asks + 1));
    const field = page.getByRole("dialog").getByRole("textbox");
    await field.waitFor();
    assert.equal(await field.inputValue(), "", "the digit is not typed into the field");
    await page.keyboard.press("Escape");
    await page.getByRole("dialog").waitFor({ state: "hidden" });
    assert.equal(await here(), entry);
  },

  async "keyboard: a task is found, deferred with a letter, and undone with z"({ page, base, swarm }) {
    await page.goto(`${base}/`);
    await page.getByRole("heading", { name: "Overview" }).waitFor();
    await page.keyboard.press("g");
    await page.keyboard.press("p");
    await page.getByRole("heading", { name: "Plan", exact: true }).waitFor();
    await page.keyboard.press("/");
    await page.keyboard.type("tag:art");
    await page.keyboard.press("Enter");
    await page.locator(".line.task").first().waitFor();
    await until(async () => (await page.locator(".line.task").count()) === 1, "one task to be left");
    await page.keyboard.press("j");
    await page.keyboard.press("j");
    await until(() => page.evaluate(() => document.activeElement?.closest("[data-task]")?.dataset.task === "3.3"), "3.3 to be selected");
    await page.keyboard.press("Shift+P");
    await foot(page)
      .getByText(/operation \d+/)
      .waitFor();
    assert.equal(task(swarm, "3.3").status, "deferred");
    await page.keyboard.press("z");
    await until(() => task(swarm, "3.3").status === "pending", "the undo");
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { name: "3.3 Cover" }).waitFor();
  },

  async "keyboard: a task is blocked with a reason; refusals say why"({ page, base, swarm }) {
    await page.goto(`${base}/tasks/2.4`);
    await page.getByRole("heading", { name: "2.4 Index" }).waitFor();
    await page.keyboard.press("b");
    await page.getByRole("dialog").waitFor();
    await page.keyboard.type("waits for the designer");
    await until(() => page.getByRole("dialog").getByRole("button", { name: "Block 2.4" }).isEnabled(), "the button to be armed");
    await page.keyboard.press("Enter");
    await until(() => task(swarm, "2.4").status === "blocked", "2.4 to be blocked");
    await page.getByText("waits for the designer").first().waitFor();
    await page.keyboard.press("s");
    await foot(page)
      .getByText(/agent|work/i)
      .first()
      .waitFor();
    await page.keyboard.press("u");
    await until(() => task(swarm, "2.4").status === "pending", "2.4 to be unblocked");
  },

  async "keyboard: a review is opened from the inbox, where nothing can be approved unseen"({ page, base, swarm }) {
    await page.goto(`${base}/attention?entry=task/2.1`);
    const entry = page.locator('[data-entry="task/2.1"]');
    await entry.getByText("Chapter on recovery").waitFor();
    assert.equal(await entry.getByRole("button", { name: /^(\d )?approve/i }).count(), 0);
    await until(() => page.evaluate(() => document.activeElement?.dataset.entry === "task/2.1"), "the entry to be selected");
    await page.keyboard.press("1");
    await button(page, /^Approve tree/).waitFor();
    assert.match(page.url(), /\/tasks\/2\.1\?tab=review/);
    await page.getByRole("region", { name: "chapters/4.md", exact: true }).waitFor();
    assert.equal(task(swarm, "2.1").status, "review", "nothing was decided");
  },

  async "mouse: a newer submission does not take the place of the one that was opened"({ page, base, swarm }) {
    await page.goto(`${base}/tasks/2.1?tab=review`);
    const words = page.getByLabel(/^What is to be changed/);
    await words.fill("shorter, please");
    const approve = button(page, /^Approve tree/);
    const opened = await approve.innerText();
    swarm.swarm("review", "needs-changes", "2.1", "from elsewhere");
    await page.getByText("A newer submission has arrived: round 2").waitFor({ timeout: 30_000 });
    assert.equal(await approve.innerText(), opened, "the button names what was opened");
    assert.equal(await approve.getAttribute("aria-disabled"), "true");
    assert.equal(await button(page, /^Needs changes/).getAttribute("aria-disabled"), "true");
    assert.equal(await words.inputValue(), "shorter, please");
    await button(page, "Show it").click();
    await page.getByText(/^Round 2 of/).waitFor();
    assert.equal(await words.inputValue(), "", "what was written about round 1 is not said about round 2");
    await until(async () => (await approve.getAttribute("aria-disabled")) !== "true", "the diff of round 2");
    await words.fill("shorter still");
    await button(page, "Needs changes: 1 note").click();
    // After a verdict of its own the page goes on by itself.
    await page.getByText(/^Round 3 of/).waitFor({ timeout: 30_000 });
    assert.equal(await page.getByText("A newer submission").count(), 0);
    assert.equal(await words.inputValue(), "");
  },

  "what will conflict is shown before it does": conflictsAhead,

  "mouse: files are reserved and released by forms": formByMouse,

  "keyboard: a task is added by a form of the palette, and undone": formByKeys,

  "mouse: what changed since round one is shown, and each round by itself": sinceRoundOne,

  "keyboard: what changed since round one is shown": sinceRoundOneByKeys,

  "mouse: a line of trunk leads to its commit, task, attempt, review and records": fromLineToCause,

  "keyboard: a line of trunk leads to its commit and task": fromLineToCauseByKeys,

  async "mouse: a diff is looked at, noted, and its tree approved"({ page, base, swarm }) {
    await page.goto(`${base}/tasks/2.1`);
    const file = page.getByRole("region", { name: "chapters/4.md", exact: true });
    await file.getByText("Line 3 of chapter 4").first().waitFor();
    await page.getByText("generated, open to load").waitFor();
    await file.getByRole("button", { name: "Note at line 3", exact: true }).click();
    await page.getByLabel("Note at chapters/4.md:3").fill("name the quarantine file");
    await button(page, "Save note").click();
    await button(page, "Needs changes: 1 note").waitFor();
    await page.reload();
    await page.getByText("└ name the quarantine file").waitFor();
    await page.getByLabel("Seen: contents.md").check();
    await page.getByText("1/3 seen").waitFor();
    await page.reload();
    await page.getByText("1/3 seen").waitFor();
    await button(page, "Discard").first().click();
    await button(page, "Side by side").click();
    await page.locator("table.code.beside").first().waitFor();
    await button(page, "Inline").click();
    await button(page, /^Approve tree [0-9a-f]{7}$/).click();
    await until(() => task(swarm, "2.1").status === "done", "2.1 to be merged");
    await page
      .getByText(/on main/)
      .first()
      .waitFor();
  },

  async "mouse: an agent is stopped after its preview, and its task started again"({ page, base, swarm }) {
    await page.goto(`${base}/agents`);
    const tile = page.getByRole("region", { name: /on 2\.3$/ });
    await tile.getByText("step 60 of the chapter").waitFor();
    await tile.getByRole("button", { name: /^Stop/ }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByText(/refs\/swarm\/wip\/2\.3/).waitFor();
    await dialog.getByRole("button", { name: /^Stop \w+-\d+$/ }).click();
    await until(() => task(swarm, "2.3").status === "pending", "2.3 to be stopped");
    await page.goto(`${base}/tasks/2.3?tab=summary`);
    await button(page, /^Start/).click();
    await until(() => task(swarm, "2.3").status === "active", "2.3 to go on");
  },

  async "keyboard: the mode is switched, and an agent is redirected to a task that waits"({ page, base, swarm }) {
    swarm.swarm("agent", "stop", "1.3");
    await until(() => task(swarm, "1.3").status === "pending", "1.3 to be stopped");
    const { agent } = task(swarm, "2.3");
    await page.goto(`${base}/tasks/2.3`);
    await page.getByText(/^live · record/).waitFor();
    await page.keyboard.press("m");
    await button(page, "SEMI-AUTO").waitFor();
    const dialog = page.getByRole("dialog");
    // A key is dim until the page has heard what is allowed at the record that it shows.
    await until(async () => {
      if (!(await dialog.count())) await page.keyboard.press("r");
      return dialog.getByRole("radio", { name: /^1\.3 / }).isVisible();
    }, "the tasks that an agent could take up");
    await until(() => dialog.getByRole("button", { name: "Redirect to 1.3" }).isEnabled(), "the preview");
    await page.keyboard.press("y");
    await until(() => task(swarm, "1.3").agent === agent, "1.3 to be taken up by the same agent");
    await page.keyboard.press("m");
    await until(() => dialog.getByRole("button", { name: "Switch to autopilot" }).isEnabled(), "the preview");
    await page.keyboard.press("y");
    await button(page, "AUTOPILOT").waitFor();
  },

  async "keyboard: the swarm is paused and goes on"({ page, base, swarm }) {
    await page.goto(`${base}/board`);
    await page.getByText(/^live · record/).waitFor();
    await page.keyboard.press("Space");
    await page.getByRole("dialog").getByRole("button", { name: "Pause", exact: true }).waitFor();
    await until(() => page.getByRole("dialog").getByRole("button", { name: "Pause", exact: true }).isEnabled(), "the dialog to listen");
    await page.keyboard.press("y");
    await page.getByText(/^Paused \(user\)/).waitFor();
    assert.deepEqual(swarm.view("status").paused, ["user"]);
    await page.keyboard.press("Space");
    await until(() => page.getByRole("dialog").getByRole("button", { name: "Resume" }).isEnabled(), "the dialog to listen");
    await page.keyboard.press("y");
    await until(() => swarm.view("status").paused.length === 0, "the swarm to go on");
  },

  async "the plan is edited with its faults named, and approved"({ page, base, swarm }) {
    await page.goto(`${base}/plan/edit`);
    const field = page.getByLabel("Plan file");
    const plan = JSON.parse(await field.inputValue());
    const last = plan.phases[2].tasks;
    last[0].depends = [last[1].id];
    await field.fill(JSON.stringify(plan));
    await page.getByText("Tasks wait for one another: 3.1 → 3.2 → 3.1").waitFor();
    last[0].depends = ["2.4"];
    last[2].title = "Cover and spine";
    await field.fill(JSON.stringify(plan));
    await page.getByText("3.3 changed: title").waitFor();
    await button(page, "Save …").click();
    const save = page.getByRole("dialog").getByRole("button", { name: /^Save the plan/ });
    await until(() => save.isEnabled(), "the preview");
    await save.click();
    await until(() => task(swarm, "3.3").title === "Cover and spine", "the plan to be saved");
    await page.goto(`${base}/plan`);
    await button(page, /^Approve plan/).click();
    await page.getByText("Approved as it is").waitFor();
  },

  async "mouse: everything is rolled back after its preview, and that is undone"({ page, base, swarm }) {
    // Paused, nobody takes up again what was rolled back, and nothing stands in the way of the undo.
    swarm.swarm("pause");
    await page.goto(`${base}/checkpoints/session-start`);
    await button(page, /^Roll back to session-start/).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByText("1.1: done → pending").waitFor();
    await dialog.getByText(/if anything changes, nothing moves/).waitFor();
    await dialog.getByRole("region", { name: "What would happen" }).evaluate((box) => box.scrollTo(0, box.scrollHeight));
    const go = dialog.getByRole("button", { name: "Roll back to session-start" });
    await until(() => go.isEnabled(), "the button to be armed");
    await go.click();
    await until(() => swarm.view("op log").some((op) => op.kind === "rollback" && op.state === "done"), "the rollback to be done");
    await page.goto(`${base}/operations`);
    const line = page
      .getByRole("listitem")
      .filter({ has: page.getByRole("link", { name: /session-start|rolled back/i }) })
      .first();
    await line.getByRole("link").first().click();
    await page.getByText(/facts? changed/).waitFor();
    await page.getByText("task/1.1/stage").waitFor();
    await page.getByRole("main").getByRole("button", { name: "Undo", exact: true }).click();
    const undo = dialog.getByRole("button", { name: /^Undo/ });
    await dialog.getByRole("region", { name: "What would happen" }).or(dialog.getByRole("alert")).waitFor();
    await dialog.getByRole("region", { name: "What would happen" }).evaluate((box) => box.scrollTo(0, box.scrollHeight));
    await until(() => undo.isEnabled(), "the undo to be armed");
    await undo.click();
    await until(() => task(swarm, "1.1").status === "done", "1.1 to be done again");
  },
};
