import { expect, test } from "vitest";
import type { BoardView } from "../api/types";
import { between } from "./between";

const row = (id: string, word: string, detail = "") => ({ id, title: `Task ${id}`, word, detail });
const board = (rows: unknown[], more: Record<string, unknown> = {}, status: Record<string, unknown> = {}): BoardView =>
  ({
    rows,
    attention: [],
    agents: [],
    checkpoints: [],
    operations: [],
    ...more,
    status: { counts: { done: 0 }, mode: "autopilot", paused: [], trunk: null, usage: {}, ...status },
  }) as unknown as BoardView;

test("tasks that changed, came and went are named with what they were", () => {
  const then = board([row("1", "ready"), row("2", "works", "50 %"), row("3", "done")]);
  const later = board([row("1", "ready"), row("2", "done"), row("4", "ready")]);
  expect(between(then, later).tasks.map(({ id, was, is }) => [id, was, is])).toEqual([
    ["2", "works 50 %", "done"],
    ["4", "not in the plan", "ready"],
    ["3", "done", "not in the plan"],
  ]);
});

test("what came, what went, and the swarm as a whole", () => {
  const then = board([], { checkpoints: [{ name: "a" }], attention: [{ what: "2 asks" }] });
  const later = board(
    [],
    { checkpoints: [{ name: "a" }, { name: "b" }], agents: [{ agent: "ed-001", task: "2" }] },
    { counts: { done: 2 }, paused: ["user"], usage: { costMicros: 1_500_000 } },
  );
  const found = between(then, later);
  expect(found.came).toEqual([
    { what: "agent at work", names: ["ed-001 on 2"] },
    { what: "checkpoint", names: ["b"] },
  ]);
  expect(found.went).toEqual([{ what: "waits for a person", names: ["2 asks"] }]);
  expect(found.swarm.map(({ what, was, is }) => `${what} ${was} ${is}`)).toEqual(["done 0 2", "paused no user", "money $0.00 $1.50"]);
  expect(between(then, then)).toEqual({ tasks: [], swarm: [], came: [], went: [] });
});
