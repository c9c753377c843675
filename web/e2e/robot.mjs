// What the robot of the terminal UI does, in a world of its own: each story by mouse and again by keyboard alone.
// Those that need the large world (a rollback by mouse, a redirect by keys, the past) are told in stories.mjs.
import assert from "node:assert/strict";
import { Door, showDist } from "./door.mjs";
import { Swarm, until } from "./swarm.mjs";

const script = (...lines) => ["```script", ...lines, "```"].join("\n");
const hanging = (id) => ({ id, title: `Work on ${id}`, description: script(`print at work on ${id}`, "hang") });
const reviewed = (id) => ({
  id,
  title: `Reviewed ${id}`,
  review: "human",
  description: script(`write ${id}.md text`, `commit docs: ${id}`, "complete"),
});
const asking = (id) => ({ id, title: `Asks ${id}`, description: script(`blocked Which way for ${id}?`) });
const waiting = (id) => ({ id, title: `Waits ${id}`, description: script("hang") });

const PLAN = {
  goal: "Everything by hand",
  execution_profile: { parallelization_enabled: true, max_concurrent_tasks: 6 },
  phases: [
    {
      id: 1,
      name: "One",
      tasks: [...["1.1", "1.2"].map(hanging), ...["2.1", "2.2"].map(asking), ...["3.1", "3.2"].map(reviewed), ...["4.1", "4.2", "4.3"].map(waiting)],
    },
  ],
};

/** What both hands have: a page, a world, and words for what they wait for. */
class Hand {
  constructor(page, base, swarm) {
    Object.assign(this, { page, base, swarm, dialog: page.getByRole("dialog") });
  }

  task = (id) => this.swarm.tasks().find((one) => one.id === id);
  status = (id, status) => until(() => this.task(id).status === status, `${id} to be ${status}`);

  async works(id) {
    if (this.task(id).status !== "active") this.swarm.swarm("task", "start", id);
    await this.status(id, "active");
  }

  async at(path) {
    await this.page.goto(this.base + path);
    await this.page.getByText(/^live · record/).waitFor();
    await this.page.waitForFunction(() => !document.querySelector("[aria-busy]"));
  }

  async press(...keys) {
    for (const key of keys) await this.page.keyboard.press(key);
  }

  /** A key that is dim is pressed again when the page has heard better. */
  async open(key) {
    await until(async () => {
      if (!(await this.dialog.count())) await this.press(key);
      return this.dialog.isVisible();
    }, `the dialog of ${key}`);
  }

  /** Enter goes to what is still to be read; End leads to its end. Neither is heard before the dialog listens. */
  async read(name) {
    const region = this.dialog.getByRole("region", { name: "What would happen" });
    await region.or(this.dialog.getByText("Nothing would change")).waitFor();
    const go = this.dialog.getByRole("button", { name, exact: true });
    await until(async () => {
      if (await go.isEnabled()) return true;
      const [long, here] = await region.evaluate((node) => [node.scrollHeight > node.clientHeight, node === document.activeElement]);
      if (long) await this.press(here ? "End" : "Enter");
      return false;
    }, `${name} to be read to its end`);
  }

  ready = (name) => until(() => this.dialog.getByRole("button", { name, exact: true }).isEnabled(), `${name} to be possible`);
  button = (name) => this.page.getByRole("main").getByRole("button", { name });

  async click(name) {
    const button = this.button(name).first();
    await until(async () => (await button.count()) > 0 && (await button.getAttribute("aria-disabled")) !== "true", `${name} to be possible`);
    await button.click();
  }

  async confirm(name) {
    await this.ready(name);
    await this.dialog.getByRole("button", { name, exact: true }).click();
  }

  /** Until the focus is there, by Tab alone. */
  async tabTo(name) {
    const here = () =>
      this.page.evaluate(
        (source) => new RegExp(source).test(document.activeElement?.textContent ?? "") && document.activeElement.matches("button"),
        name.source,
      );
    for (let step = 0; step < 120; step++) {
      if (await here()) return;
      await this.press("Tab");
    }
    throw new Error(`Tab never came to ${name}`);
  }

  paused = (yes) => until(() => this.swarm.view("status").paused.length > 0 === yes, yes ? "the pause" : "the end of the pause");
  coordinated = () => this.page.getByText(/^no coordinator · record/).waitFor({ timeout: 30_000 });
}

const mouse = {
  async start(hand) {
    await hand.at("/tasks/1.1?tab=summary");
    await hand.click("Start");
    await hand.status("1.1", "active");
  },
  async watch(hand) {
    await hand.at("/tasks/1.1");
    await hand.page.getByRole("main").getByText("Log", { exact: true }).click();
    await hand.page.getByText("at work on 1.1").waitFor();
  },
  async edit(hand) {
    await hand.at("/tasks/4.1?tab=summary");
    await hand.click(/^Edit/);
    await until(async () => (await hand.dialog.getByLabel("Title").inputValue()) === "Waits 4.1", "the title to be read");
    await hand.dialog.getByLabel("Title").fill("Waits no longer");
    await hand.confirm("Save 4.1");
    await until(() => hand.task("4.1").title === "Waits no longer", "the edit");
  },
  async block(hand) {
    await hand.at("/tasks/4.1?tab=summary");
    await hand.click(/^Block/);
    await hand.dialog.getByLabel("Why").fill("not yet");
    await hand.confirm("Block 4.1");
    await hand.status("4.1", "blocked");
  },
  async answer(hand) {
    hand.swarm.swarm("task", "start", "2.1");
    await hand.status("2.1", "blocked");
    await hand.at("/attention");
    const entry = hand.page.getByRole("group", { name: /2\.1/ });
    await entry.getByText("Which way for 2.1?").waitFor();
    await entry.getByRole("button", { name: /…/ }).first().click();
    await hand.dialog.getByRole("textbox").fill("The short one");
    await hand.dialog.getByRole("button", { name: /answer/i }).click();
    await until(() => hand.task("2.1").status !== "blocked" || hand.task("2.1").restarts > 0, "2.1 to go on");
  },
  async redirect(hand) {
    await hand.at("/tasks/1.1?tab=summary");
    await hand.click(/^Redirect/);
    await hand.dialog.getByRole("radio", { name: /^4\.3 / }).check();
    await hand.confirm("Redirect to 4.3");
    await hand.status("4.3", "active");
    hand.swarm.swarm("agent", "stop", "4.3");
    await hand.status("4.3", "pending");
  },
  async pause(hand) {
    await hand.at("/board");
    await hand.page.getByRole("banner").getByRole("button", { name: "Pause" }).click();
    await hand.confirm("Pause");
    await hand.paused(true);
    await hand.page.getByRole("banner").getByRole("button", { name: "Resume" }).click();
    await hand.confirm("Resume");
    await hand.paused(false);
  },
  async force(hand) {
    await hand.works("1.1");
    await hand.at("/board");
    await hand.page.getByRole("banner").getByRole("button", { name: "Pause" }).click();
    await hand.confirm(/^Force/);
    await hand.paused(true);
    await until(() => hand.swarm.view("status").agents.length === 0, "the agents to be stopped");
    hand.swarm.swarm("resume");
  },
  async checkpoint(hand) {
    await hand.at("/checkpoints");
    await hand.click(/^Make a checkpoint/);
    await hand.dialog.getByRole("textbox").fill("by-mouse");
    await hand.confirm("Make by-mouse");
    await hand.page.getByRole("link", { name: "by-mouse" }).waitFor();
  },
  async review(hand) {
    hand.swarm.swarm("task", "start", "3.1");
    await hand.status("3.1", "review");
    await hand.at("/tasks/3.1?tab=review");
    await hand.click(/^Approve tree/);
    await hand.status("3.1", "done");
  },
  async leave(hand) {
    // To close the page ends nothing.
    const tab = await hand.page.context().newPage();
    await tab.goto(`${hand.base}/board`);
    await tab.close();
    assert.equal(hand.swarm.view("status").coordinator, true);
  },
};

const keys = {
  async start(hand) {
    await hand.at("/tasks/1.2");
    await until(async () => {
      await hand.press("Shift+S");
      return hand.task("1.2").status === "active";
    }, "1.2 to be started");
  },
  async watch(hand) {
    await hand.at("/tasks/1.2");
    // A key that comes before the page listens is nobody's.
    await until(async () => {
      await hand.press("l");
      return hand.page.getByText("at work on 1.2").isVisible();
    }, "the log");
  },
  async edit(hand) {
    await hand.at("/tasks/4.2");
    await hand.open("e");
    await until(async () => (await hand.dialog.getByLabel("Title").inputValue()) === "Waits 4.2", "the title to be read");
    await hand.press("End");
    await hand.page.keyboard.type(" a little");
    await hand.press("Enter");
    await until(() => hand.task("4.2").title === "Waits 4.2 a little", "the edit");
  },
  async block(hand) {
    await hand.at("/tasks/4.2");
    await hand.open("b");
    await hand.page.keyboard.type("not yet");
    await hand.press("Enter");
    await hand.status("4.2", "blocked");
  },
  async answer(hand) {
    hand.swarm.swarm("task", "start", "2.2");
    await hand.status("2.2", "blocked");
    await hand.at("/attention");
    const here = () => hand.page.evaluate(() => document.activeElement?.closest("[data-entry]")?.dataset.entry ?? "");
    await until(async () => {
      await hand.press("a");
      return (await here()) === "task/2.2";
    }, "the question to be selected");
    const ways = await hand.page.locator('[data-entry="task/2.2"]').getByRole("button").allInnerTexts();
    await hand.press(String(ways.findIndex((text) => text.includes("…")) + 1));
    await hand.dialog.waitFor();
    await hand.page.keyboard.type("The long one");
    await hand.press("Control+Enter");
    await until(() => hand.task("2.2").status !== "blocked" || hand.task("2.2").restarts > 0, "2.2 to go on");
  },
  async pause(hand) {
    await hand.at("/board");
    await hand.open("Space");
    await hand.ready("Pause");
    await hand.press("Enter");
    await hand.paused(true);
    await hand.page.getByText(/^Paused \(user\)/).waitFor();
    await hand.open("Space");
    await hand.ready("Resume");
    await hand.press("Enter");
    await hand.paused(false);
  },
  async force(hand) {
    await hand.at("/board");
    await hand.works("1.2");
    await hand.page
      .locator(".top")
      .getByText(/at work/)
      .waitFor();
    await hand.open("Space");
    await hand.ready(/^Force/);
    await hand.tabTo(/^Force/);
    await hand.press("Enter");
    await hand.paused(true);
    await until(() => hand.swarm.view("status").agents.length === 0, "the agents to be stopped");
    hand.swarm.swarm("resume");
  },
  async checkpoint(hand) {
    await hand.at("/board");
    await hand.open("c");
    await hand.page.keyboard.type("by-keys");
    await hand.press("Enter");
    await until(() => hand.swarm.view("checkpoint list").some(({ name }) => name === "by-keys"), "the checkpoint");
  },
  async review(hand) {
    hand.swarm.swarm("task", "start", "3.2");
    await hand.status("3.2", "review");
    await hand.at("/tasks/3.2");
    await hand.press("v");
    await hand.button(/^Approve tree/).waitFor();
    await until(async () => (await hand.button(/^Approve tree/).getAttribute("aria-disabled")) !== "true", "the diff to be shown");
    await hand.tabTo(/^Approve tree/);
    await hand.press("Enter");
    await hand.status("3.2", "done");
  },
  async "roll back"(hand) {
    await hand.at("/tasks/3.2");
    await hand.open("Shift+R");
    await hand.read("Roll back 3.2");
    await hand.ready("Roll back 3.2");
    await hand.press("Enter");
    await until(() => hand.task("3.2").status !== "done", "3.2 to be rolled back");
  },
  async quit(hand) {
    await hand.at("/board");
    for (const [words, over] of [
      ["Checkpoint, then drain", () => hand.coordinated()],
      ["Abort", () => until(() => hand.swarm.view("op log").some(({ kind, state }) => kind === "abort" && state === "done"), "the abort")],
    ]) {
      await hand.press("Control+k");
      await until(() => hand.dialog.getByRole("combobox").evaluate((field) => field === document.activeElement), "the field of the palette");
      await hand.page.keyboard.type(words);
      await hand.press("Enter");
      await hand.dialog.getByText("On the command line").waitFor();
      await hand.ready(words);
      await hand.press("Enter");
      await hand.dialog.getByRole("heading", { name: `${words}?` }).waitFor();
      await hand.read(words);
      await hand.ready(words);
      await hand.press("Enter");
      await over();
    }
  },
};

export async function robot({ browser }) {
  const swarm = new Swarm(PLAN, "robot");
  const door = new Door(swarm.dir);
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 } });
  context.setDefaultTimeout(12_000);
  const faults = [];
  try {
    await swarm.start("semi-auto");
    await door.open();
    await showDist(context);
    const page = await context.newPage();
    await page.goto(door.link);
    await page.getByRole("heading", { name: "Overview" }).waitFor();
    const hand = new Hand(page, door.base, swarm);
    for (const [by, stories] of [
      ["mouse", mouse],
      ["keyboard", keys],
    ]) {
      for (const [name, story] of Object.entries(stories)) {
        if (process.env.STORY && !name.includes(process.env.STORY)) continue;
        const began = Date.now();
        try {
          await story(hand);
          if (process.env.SEE) console.log(`      ${((Date.now() - began) / 1000).toFixed(1)} s  ${by}: ${name}`);
        } catch (error) {
          faults.push(`${by}: ${name}: ${error.stack}`);
          if (process.env.SEE) await page.screenshot({ path: `${process.env.SEE}-${name}.png` });
        }
      }
    }
  } finally {
    await context.close();
    door.close();
    await swarm.stop();
  }
  if (faults.length) throw new Error(faults.join("\n"));
}
