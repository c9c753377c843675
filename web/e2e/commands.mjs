// Every form of the page of commands, against a real coordinator: it is opened, filled, previewed where something is at
// stake, and sent; then taken back, and given once more on the command line. Both must leave the same records, but for who
// gave it. Where the situation refuses a command, both refuse it with the same words.
import assert from "node:assert/strict";
import { execFileSync, spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { Door, showDist } from "./door.mjs";
import { Swarm, until } from "./swarm.mjs";

const bin = process.env.SWARM_BIN ?? "swarm";

const PLAN = {
  goal: "Every command once",
  execution_profile: { parallelization_enabled: true, max_concurrent_tasks: 2, council_parallel: true },
  phases: [
    {
      id: 1,
      name: "One",
      tasks: [
        { id: "1.1", title: "First" },
        { id: "1.2", title: "Second" },
        { id: "1.3", title: "Third", depends: ["1.1"] },
      ],
    },
    { id: 2, name: "Two", tasks: [{ id: "2.1", title: "Fourth", depends: ["1.3"] }] },
  ],
};

const PARTS = "4.1 The first half\n4.2 The second half";

const newest = (swarm) => String(swarm.view("reservations list").at(-1).number);

/** Title, what is typed into which field, the same on the command line; `refused`: by both with the same words, or by the form with these, where the command line has looked for the name before; `stays`: nothing takes it back. */
const FORMS = [
  [
    "Reserve files",
    { Files: "src/*.rs docs/a.md", Why: "a migration", "For how many hours": "2", "Others may": true },
    ["reservations", "add", "src/*.rs", "docs/a.md", "--reason", "a migration", "--for", "2h", "--shared"],
  ],
  [
    "Release a reservation",
    (swarm) => ({ Number: newest(swarm) }),
    (swarm) => ["reservations", "release", newest(swarm)],
    { before: ["reservations", "add", "x.md"] },
  ],
  [
    "Add a task",
    { Id: "2.7", Title: "Errata", Description: "What was wrong", Phase: "2", Behind: "2.1", Waits: "1.1, 1.2", Tags: "docs late" },
    [
      "task",
      "add",
      "Errata",
      "--id",
      "2.7",
      "--description",
      "What was wrong",
      "--phase",
      "2",
      "--after",
      "2.1",
      "--depends",
      "1.1,1.2",
      "--tags",
      "docs,late",
    ],
  ],
  ["Move a task", { Task: "1.1", Behind: "1.2" }, ["task", "move", "1.1", "--after", "1.2"]],
  ["Split a task", { Task: "1.2", Parts: PARTS }, ["task", "split", "1.2", "PARTS", "--yes"]],
  ["Remove a task", { Task: "2.1" }, ["task", "remove", "2.1"]],
  ["Take a task for done", { Task: "1.1", Why: "done elsewhere" }, ["task", "accept", "1.1", "--reason", "done elsewhere"], { refused: true }],
  ["Set how many agents work at once", { "Agents at once": "3" }, ["plan", "profile", "set", "--max", "3"]],
  ["Lock how many agents work at once", {}, ["plan", "profile", "lock"]],
  ["Complete a phase", { Phase: "1" }, ["phase", "complete", "1"], { refused: true }],
  ["Extend the budget", {}, ["budget", "extend"], { stays: true }],
  ["Hold a quota", { Group: "claude" }, ["quota", "hold", "claude"], { refused: "The quota of claude is not used up" }],
  ["Open a quota", { Group: "claude" }, ["quota", "open", "claude"], { refused: "The quota of claude is not used up" }],
  ["Revive an agent", { Agent: "ada-001" }, ["agent", "revive", "ada-001"], { refused: "There is no agent ada-001" }],
  ["Choose another trunk", { Branch: "next" }, ["run", "--trunk", "next", "--yes"], { elsewhere: true }],
  ["Reset the plan", {}, ["plan", "reset"], { before: ["task", "defer", "1.1"] }],
  ["Retry", {}, ["run", "--retry"], { refused: true }],
  ["Checkpoint, then drain", { Why: "for today" }, ["stop", "--checkpoint"], { stays: true }],
  ["Drain", { Why: "that is all" }, ["stop"], { stays: true }],
  ["Abort", {}, ["abort", "--yes"], { stays: true }],
];

class Both {
  constructor(page, swarm) {
    Object.assign(this, { page, swarm });
    this.dialog = page.getByRole("dialog");
  }

  /** By hand: what it printed, and whether it was refused. */
  cli(args) {
    const filled = args.map((word) => (word === "PARTS" ? "-" : word));
    const input = args.includes("PARTS") ? JSON.stringify(PARTS.split("\n").map((line) => ({ id: line.slice(0, 3), title: line.slice(4) }))) : "";
    const ran = spawnSync(bin, ["-C", this.swarm.dir, "--json", ...filled], { encoding: "utf8", input });
    return { refused: ran.status !== 0, said: ran.stdout };
  }

  records() {
    const text = readFileSync(join(this.swarm.dir, ".swarm/plan-ledger.jsonl"), "utf8");
    return text
      .split("\n")
      .filter(Boolean)
      .map((line) => JSON.parse(line))
      .filter(({ seq }) => seq);
  }

  /** What the first operation after this record has brought; the machinery may have gone on with it since. */
  async given(from) {
    const news = () => this.records().filter(({ seq }) => seq > from);
    await until(() => news().some(({ type }) => type === "operation"), "the record of the operation");
    const all = news();
    const { batch } = all.find(({ type }) => type === "operation") ?? {};
    return all.filter((record) => record.batch === batch);
  }

  async field(label, value) {
    const field = this.dialog.getByLabel(new RegExp(`^${label}`)).first();
    if (value === true) return field.check();
    return (await field.evaluate((node) => node.tagName)) === "SELECT" ? field.selectOption(value) : field.fill(value);
  }

  /** Through the form; says what the last line of the page says. */
  async form(title, fields) {
    const { page, dialog } = this;
    const before = await page.locator(".foot .result").innerText();
    await page.getByRole("button", { name: `${title} …`, exact: true }).click();
    for (const [label, value] of Object.entries(fields)) await this.field(label, value);
    const go = dialog.getByRole("button", { name: title, exact: true });
    await until(() => go.isEnabled(), `${title} to be armed`);
    await go.click();
    const refused = dialog.locator(".refused");
    const previewed = dialog
      .getByText("Checked at record")
      .or(dialog.getByText(/z (takes it|brings it) back/))
      .or(dialog.getByText("Nothing would change"));
    const result = page.locator(".foot .result");
    await until(
      async () =>
        (await refused.count()) > 0 ||
        (await previewed.count()) > 0 ||
        ((await dialog.count()) === 0 && (await result.innerText()) !== before && !(await result.innerText()).startsWith("…")),
      `an answer to ${title}`,
    );
    if (await refused.count()) {
      const said = await refused.innerText();
      await dialog.getByRole("button", { name: "Cancel" }).click();
      return { refused: true, said };
    }
    if (await previewed.count()) {
      await dialog.locator(".preview").evaluateAll((boxes) => boxes.forEach((box) => box.scrollTo(0, box.scrollHeight)));
      await until(() => go.isEnabled(), `${title} to be armed after its preview`);
      await go.click();
      await until(
        async () =>
          (await refused.count()) > 0 ||
          ((await dialog.count()) === 0 && (await result.innerText()) !== before && !(await result.innerText()).startsWith("…")),
        `${title} to be answered`,
      );
      if (await refused.count()) {
        const said = await refused.innerText();
        await dialog.getByRole("button", { name: "Cancel" }).click();
        return { refused: true, said };
      }
    }
    const said = await result.innerText();
    return { refused: said.startsWith("✗"), said };
  }

  undo() {
    const undone = this.cli(["undo", "--yes"]);
    assert.equal(undone.refused, false, undone.said);
  }
}

/** What was recorded, without what no two records share. */
const same = (records) => {
  const gone = new Set(["id", "number", "seq", "operation", "at", "since", "expires", "until", "ends"]);
  const bare = (value) =>
    Array.isArray(value)
      ? value.map(bare)
      : value && typeof value === "object"
        ? Object.fromEntries(
            Object.entries(value)
              .filter(([key]) => !gone.has(key))
              .map(([key, member]) => [key, bare(member)]),
          )
        : typeof value === "string"
          ? value
              .replace(/^person:.*/, "somebody")
              .replace(/(reservation[ /])\d+/, "$1N")
              .replace(/^(before-[a-z-]+)-\d+$/, "$1")
          : value;
  return records.map(({ type, taskId, status, data }) => bare({ type, taskId, status, data }));
};

export async function everyForm({ browser }) {
  const swarm = new Swarm(PLAN, "forms");
  const door = new Door(swarm.dir);
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 } });
  context.setDefaultTimeout(12_000);
  try {
    execFileSync("git", ["-C", swarm.dir, "branch", "next"]);
    await swarm.start("semi-auto");
    await door.open();
    await showDist(context);
    const page = await context.newPage();
    await page.goto(door.link);
    await page.getByRole("heading", { name: "Overview" }).waitFor();
    await page.goto(`${door.base}/commands`);
    await page.getByText(/^live · record/).waitFor();
    await page.locator(".commandlist .button").first().waitFor();
    const shown = (await page.locator(".commandlist .button").allInnerTexts()).map((text) => text.replace(/ …$/, ""));
    assert.deepEqual(shown.toSorted(), FORMS.map(([title]) => title).toSorted(), "every form is tried, and no other");
    const both = new Both(page, swarm);
    const faults = [];
    for (const [title, fields, args, how = {}] of FORMS) {
      try {
        await oneForm(both, title, fields, args, how);
      } catch (error) {
        faults.push(`${title}: ${error.message}`);
        if (process.env.SEE) console.log(faults.at(-1));
        await page.reload();
        await page.getByText(/^(live|no coordinator) · record/).waitFor();
      }
    }
    if (faults.length) throw new Error(faults.join("\n"));
  } finally {
    await context.close();
    door.close();
    await swarm.stop();
  }
}

async function oneForm(both, title, fields, args, { refused = false, stays = false, elsewhere = false, before }) {
  if (before) both.cli(before);
  const from = both.records().at(-1).seq;
  const web = await both.form(title, typeof fields === "function" ? fields(both.swarm) : fields);
  if (process.env.SEE) console.log(title, web);
  assert.equal(web.refused, refused !== false, web.said);
  if (typeof refused === "string") return assert.ok(web.said.includes(refused), web.said);
  if (refused) {
    const cli = both.cli(args);
    assert.equal(cli.refused, true, cli.said);
    assert.ok(web.said.includes(JSON.parse(cli.said).error.message), `${web.said} is not ${cli.said}`);
    return;
  }
  if (elsewhere || stays) {
    // What moves git is recorded when it has moved; on the command line it is part of a run, or nothing takes it back.
    const done = () => both.swarm.view("op log").find((one) => one.by.startsWith("person:web") && one.seq > from && one.state !== "under_way");
    await until(done, `${title} to be done`);
    assert.equal(done().state, "done");
    if (elsewhere) both.undo();
    return;
  }
  const mine = await both.given(from);
  assert.match(mine.find(({ type }) => type === "operation")?.by ?? "nobody", /^person:web/);
  both.undo();
  const again = both.records().at(-1).seq;
  const cli = both.cli(typeof args === "function" ? args(both.swarm) : args);
  assert.equal(cli.refused, false, cli.said);
  const theirs = await both.given(again);
  assert.deepEqual(same(mine), same(theirs));
  both.undo();
  if (before) both.undo();
}
