import { describe, expect, it } from "vitest";
import type { AttentionChoice, AttentionEntry, BoardAgent, BoardRow } from "../api/types";
import { atWork, cardsOf, COLUMNS, withoutCard } from "./columns";
import type { LedgerRecord } from "./events";
import { isRun, ownerIn } from "./runs";
import { terminalOnly, waysOn } from "./ways";
import { ticks } from "../ui/chart";
import { money } from "./said";

const entry = (more: Partial<AttentionEntry>): AttentionEntry =>
  ({ id: "task/2.1", kind: "review", task: "2.1", choices: [], commands: [], what: "", why: "", since: "", ...more }) as AttentionEntry;
const row = (id: string, group: string, word = group): BoardRow => ({ id, group, word }) as unknown as BoardRow;

describe("the ways on of an entry", () => {
  const approve: AttentionChoice = { label: "approve it", command: { do: "review", task: "2.1", verdict: { approve: { tip: "abc" } } } };
  const changes: AttentionChoice = { label: "ask for changes", command: { do: "review", task: "2.1", verdict: { needs_changes: { notes: [] } } } };
  const defer: AttentionChoice = { label: "defer it", command: { do: "defer_task", task: "2.1" } };
  it("lead to the work where a verdict is wanted, and give none", () => {
    expect(waysOn(entry({ choices: [approve, changes] }))).toEqual([{ kind: "review", task: "2.1", label: "Review 2.1" }]);
    const blocked = waysOn(entry({ kind: "blocked", choices: [approve, changes, defer] }));
    expect(blocked.map((way) => (way.kind === "review" ? way.label : way.choice.label))).toEqual(["Review 2.1", "defer it"]);
  });
  it("stand there as commands where no button does it", () => {
    const commands = ["swarm worktree merge 2.1", "swarm task show 2.1", "swarm task edit 2.1 --allow-empty", "swarm task defer 2.1"];
    expect(terminalOnly(entry({ choices: [defer], commands }))).toEqual(["swarm worktree merge 2.1", "swarm task edit 2.1 --allow-empty"]);
    expect(terminalOnly(entry({ task: null, commands: ["swarm doctor"] }))).toEqual(["swarm doctor"]);
  });
  it("are otherwise those of the core", () => {
    expect(waysOn(entry({ kind: "blocked", choices: [defer] }))).toEqual([{ kind: "choice", choice: defer }]);
  });
});

describe("the board", () => {
  const rows = [row("1", "works", "checking"), row("2", "works", "working"), row("3", "works", "crashed"), row("4", "needs_you", "review")];
  it("puts what is being checked where that is looked for, and every card once", () => {
    const cards = Object.fromEntries(COLUMNS.map((column) => [column.name, cardsOf(column, rows).map(({ id }) => id)]));
    expect(cards).toMatchObject({ Working: ["2", "3"], "Checking and review": ["1"], "Needs you": ["4"] });
  });
  it("counts what needs a person as the header does", () => {
    const attention = [entry({ id: "task/4" }), entry({ id: "start", kind: "start" }), entry({ id: "seen/overstep/4", task: "4" })];
    const others = withoutCard(attention, rows);
    expect(others.map(({ id }) => id)).toEqual(["start", "seen/overstep/4"]);
    expect(others.length + 1).toBe(attention.length);
  });
  it("does not count crashed agents among those at work", () => {
    const agents = ["1", "2", "3"].map((task) => ({ task }) as BoardAgent);
    expect(atWork(agents, rows).map(({ task }) => task)).toEqual(["1", "2"]);
  });
});

describe("a run", () => {
  const record = (type: string, data: object, taskId?: string) =>
    ({ seq: 1, ts: "", by: "", type, data, ...(taskId ? { taskId } : {}) }) as LedgerRecord;
  it("is named by its records when it is over", () => {
    const records = [
      record("task_claimed", { run: "r1", agent: "ada-001" }, "1.1"),
      record("task_claimed", { run: "r17", agent: "ed-002" }, "1.2"),
      record("iteration", { run: "r1" }, "1.1"),
    ];
    expect(ownerIn(records, "r1")).toEqual({ owner: { task: "1.1", agent: "ada-001" }, begins: true });
    expect(ownerIn(records.slice(2), "r1")).toEqual({ owner: { task: "1.1", agent: null }, begins: false });
    expect(ownerIn(records, "r7")).toBeNull();
  });
  it("has a name of one form", () => {
    expect([isRun("r999"), isRun("zzz"), isRun("r"), isRun("r1/../x")]).toEqual([true, false, false, false]);
  });
});

it("the ticks of a chart say different things", () => {
  expect(ticks(1, (value) => money(value)).map(({ text }) => text)).toEqual(["$0.00"]);
  expect(ticks(1, (value) => String(Math.round(value))).map(({ text }) => text)).toEqual(["0", "1"]);
  expect(ticks(10_000_000, money).map(({ text }) => text)).toEqual(["$0.00", "$5.00", "$10.00"]);
});
