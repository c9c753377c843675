import { describe, expect, it } from "vitest";
import { changed, href, moment } from "./address";
import { dearest, points } from "./burn";
import { expecting, filled, noteWords, weight } from "./command";
import { drift, problems } from "./drift";
import { said, who, type LedgerRecord } from "./events";
import { fits, fuzzy } from "./filter";
import { EMPTY, grown, isMarked, iterationAt, newer, plain } from "./journal";
import { KEYS, meaning } from "./keys";
import { cycle, layout, neighbourhood } from "./layers";
import { concerns } from "./records";
import { age, money, tokens, value } from "./said";
import { keyIn } from "../api/session";
import { pictureMs } from "../ui/past";
import type { BoardView, PlanFile } from "../api/types";

const row = {
  id: "2.5",
  title: "Chapter on recovery",
  status: "review" as const,
  word: "review",
  detail: "round 2 of 3",
  agent: null,
  tags: ["docs"],
};

describe("words", () => {
  it("are short, as in the terminal UI", () => {
    expect([money(4_123_000), tokens(41_200), tokens(1_250_000)]).toEqual(["$4.12", "41k", "1.2M"]);
    const ago = (secs: number) => age(10_000_000, new Date(10_000_000 - secs * 1000).toISOString());
    expect([ago(3), ago(25), ago(250), ago(7300)]).toEqual(["now", "20s", "4m", "2h"]);
  });
  it("say what a fact was", () => {
    expect(value({ stage: "blocked", why: "MIT?" })).toBe("blocked, why MIT?");
    expect(value(undefined)).toBe("nothing");
    expect(value("75c1308000000000000000000000000000000000")).toBe("75c1308");
  });
});

describe("filter", () => {
  it("takes words, stages, tags and their opposite", () => {
    const cases: [string, boolean][] = [
      ["recovery 2.5", true],
      ["stage:rev", true],
      ["tag:docs !stage:done", true],
      ["!tag:docs", false],
      ["tag:art", false],
      ["!", true],
      ["", true],
    ];
    for (const [filter, wanted] of cases) expect(fits(row, filter), filter).toBe(wanted);
  });
  it("finds commands by letters in order", () => {
    expect(fuzzy("Roll back 2.3", "rb")).toBeGreaterThan(fuzzy("scrub and rub", "rb"));
    expect(fuzzy("stop", "px")).toBe(0);
  });
});

describe("address", () => {
  it("has one form for one state", () => {
    expect(changed("?b=2&a=1", { c: 3, b: null })).toBe("a=1&c=3");
    expect(changed("", { q: "" })).toBe("");
  });
  it("knows a moment from nonsense", () => {
    expect([moment("?at=40"), moment("?at=0"), moment("?at=-1"), moment("?at=4e1"), moment("")]).toEqual([40, null, null, null, null]);
    expect(href("/board", 7, { q: "x" })).toBe("/board?at=7&q=x");
  });
  it("takes no permalink for a key", () => {
    expect([keyIn("#n1234"), keyIn("#main"), keyIn("")]).toEqual([null, null, null]);
    expect(keyIn(`#${"a1".repeat(16)}`)).toBe("a1".repeat(16));
  });
});

describe("keys", () => {
  it("mean one thing each", () => {
    const all = KEYS.flatMap(({ keys, where = "" }) => keys.map((key) => `${where} ${key}`));
    expect(all.filter((key, n) => all.indexOf(key) !== n)).toEqual([]);
    const actions = KEYS.filter(({ part }) => part !== "Pages").map(({ action }) => action);
    expect(actions.filter((action, n) => actions.indexOf(action) !== n)).toEqual([]);
  });
  it("wait for the second of two", () => {
    expect(meaning("g", "", false)).toBe("wait");
    expect(meaning("b", "g", false)).toMatchObject({ action: "go:/board" });
    expect(meaning("b", "", false)).toMatchObject({ action: "block" });
    expect(meaning("q", "", false)).toBeNull();
  });
  it("have another meaning in a diff only where the table says so", () => {
    expect(meaning("v", "", true)).toMatchObject({ action: "seen" });
    expect(meaning("v", "", false)).toMatchObject({ action: "review" });
  });
});

describe("commands", () => {
  const board = { agents: [{ task: "1.1" }] } as unknown as BoardView;
  it("weigh what they stop or move", () => {
    expect(weight({ do: "defer_task", task: "1.1" }, board)).toBe("stops");
    expect(weight({ do: "defer_task", task: "1.2" }, board)).toBe("free");
    expect(weight({ do: "rollback", to: null }, board)).toBe("moves");
    expect(weight({ do: "set_mode", mode: "semi-auto" }, board)).toBe("free");
  });
  it("carry what was seen, and the person's words", () => {
    expect(expecting({ do: "undo", operation: null, partial: false }, "abc")).toMatchObject({ expect: "abc" });
    expect(expecting({ do: "approve_plan" }, "abc")).toEqual({ do: "approve_plan" });
    expect(filled({ do: "message_agent", task: "2.2", text: "" }, "MIT")).toEqual({ do: "message_agent", task: "2.2", text: "MIT" });
    expect(noteWords({ file: "a.rs", line: 4, text: "why?" })).toBe("a.rs:4: why?");
  });
});

describe("plan", () => {
  const plan = (tasks: object[]): PlanFile => ({ goal: "g", phases: [{ id: 1, name: "p", tasks }] }) as unknown as PlanFile;
  it("shows how it drifted, whatever the statuses are", () => {
    const before = plan([
      { id: "1.1", title: "a", status: "done" },
      { id: "1.2", title: "b" },
    ]);
    const after = plan([
      { id: "1.1", title: "a", depends: [] },
      { id: "1.3", title: "c" },
    ]);
    expect(drift(before, after)).toEqual([
      { id: "1.3", what: "added", members: [] },
      { id: "1.2", what: "removed", members: [] },
    ]);
  });
  it("names faults and the path of a cycle", () => {
    expect(
      problems(
        plan([
          { id: "1.1", title: "a", depends: ["9"] },
          { id: "1.1", title: "" },
        ]),
      ),
    ).toHaveLength(3);
    expect(
      cycle([
        { id: "a", depends: ["b"] },
        { id: "b", depends: ["c"] },
        { id: "c", depends: ["a"] },
      ]),
    ).toEqual(["a", "b", "c", "a"]);
    expect(
      cycle([
        { id: "a", depends: ["b"] },
        { id: "b", depends: [] },
      ]),
    ).toBeNull();
  });
  it("stands in columns, what depends to the right", () => {
    const nodes = [
      { id: "1", phase: 1, depends: [] },
      { id: "2", phase: 1, depends: ["1"] },
      { id: "3", phase: 2, depends: ["2"] },
    ];
    const { nodes: placed, edges, phases } = layout(nodes, new Set());
    const x = (id: string) => placed.find((node) => node.id === id)?.x ?? 0;
    expect(x("1") < x("2") && x("2") < x("3")).toBe(true);
    expect([edges.length, phases.length]).toEqual([2, 2]);
    expect(layout(nodes, new Set([1])).nodes.map(({ id }) => id)).toEqual(["3"]);
  });
  it("is shown around a task when it is large", () => {
    const chain = Array.from({ length: 300 }, (_, n) => ({ id: String(n), phase: 1, depends: n ? [String(n - 1)] : [] }));
    expect([...neighbourhood(chain, "100", 2)].sort()).toEqual(["100", "101", "102", "98", "99"]);
  });
});

describe("records", () => {
  const record = (type: string, more: object = {}): LedgerRecord => ({ seq: 1, ts: "2026-01-13T10:00:00Z", type, by: "swarm:coordinator", ...more });
  it("are lines for people or machinery", () => {
    expect(said(record("mode_changed", { data: { mode: "autopilot" } }))).toBe("the mode is autopilot now");
    expect(said(record("workspace_ready"))).toBeNull();
    expect([who("person:web"), who("agent:ed-001"), who("swarm:coordinator")]).toEqual(["you (web)", "ed-001", "swarm"]);
    expect(concerns(record("x", { data: { tasks: ["1.1"] } }), "1.1")).toBe(true);
  });
  it("tell where the money went, the dearest first, as the coordinator adds it up", () => {
    const row = (name: string, costMicros: number, inputTokens = 0) => ({ name, attempts: 1, costMicros, inputTokens });
    expect(dearest([row("merged", 7), row("redone", 0), row("lost", 100), row("under_way", 0, 10)]).map(({ name }) => name)).toEqual([
      "lost",
      "merged",
      "under_way",
    ]);
    const moments = [{ at: "2026-01-13T10:00:00Z", open: 2, done: 0, agents: 1 }];
    expect(points(moments, ({ open }) => open)).toEqual([{ at: Date.parse("2026-01-13T10:00:00Z"), value: 2 }]);
  });
  it("stand as long as a film allows", () => {
    expect(pictureMs("2026-01-13T10:00:00Z", "2026-01-13T18:00:00Z", 60)).toBe(1200);
    expect(pictureMs("2026-01-13T10:00:00Z", "2026-01-13T10:00:30Z", 60)).toBe(500);
  });
});

describe("journal", () => {
  it("keeps a window and takes no line twice", () => {
    const line = (n: number) => ({ n, ts: "", stream: "out", text: String(n) });
    const first = grown(EMPTY, [1, 2, 3].map(line), 4);
    const second = grown(first, [2, 3, 4, 5].map(line), 4);
    expect(second.lines.map(({ n }) => n)).toEqual([2, 3, 4, 5]);
    expect(second.dropped).toBe(1);
  });
  it("takes nothing away from somebody who reads, and counts what it has no room for", () => {
    const line = (n: number) => ({ n, ts: "", stream: "out", text: String(n) });
    const read = grown(grown(EMPTY, [1, 2, 3, 4].map(line), 4), [5, 6].map(line), 4, true);
    expect([read.lines.map(({ n }) => n), read.dropped, newer(read.lines, 4), newer(read.lines, 0)]).toEqual([[1, 2, 3, 4, 5, 6], 0, 2, 6]);
    const more = grown(read, [7, 8, 9].map(line), 4, true);
    expect([more.lines.length, more.missed, more.newest]).toEqual([6, 3, 9]);
    const later = grown(more, [9, 10].map(line), 4);
    expect([later.lines.length, later.missed, later.newest]).toEqual([6, 4, 10]);
  });
  it("says where an iteration begins, and only in its own lines", () => {
    const line = (stream: string, text: string) => ({ n: 7, ts: "", stream, text });
    const begins = line("swarm", "iteration 2 begins: claude -p");
    expect(iterationAt(begins)).toBe(2);
    expect(isMarked(begins, { iteration: 2 })).toBe(true);
    expect(isMarked(begins, { iteration: 1 })).toBe(false);
    expect(iterationAt(line("out", "iteration 2 begins: claude -p"))).toBeNull();
    expect(iterationAt(line("swarm", "iteration 2 ended: done"))).toBeNull();
    expect(isMarked(begins, { line: 6 })).toBe(true);
  });
  it("is text without a terminal's orders", () => {
    expect(plain("\u001b[31mred\u001b[0m\u001b]0;title\u0007 \u0007end")).toBe("red end");
  });
  it("shows marks that turn the order of what is read around", () => {
    expect(plain("if (\u2066!\u2069admin)\u202e")).toBe("if (\\u2066!\\u2069admin)\\u202e");
  });
});
