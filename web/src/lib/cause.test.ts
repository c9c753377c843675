import { expect, test } from "vitest";
import { blocks, causeOf } from "./cause";
import type { LedgerRecord } from "./events";

const at = (seconds: number): string => new Date(Date.UTC(2026, 0, 1, 10, 0, seconds, 400)).toISOString();
const record = (seq: number, type: string, data: Record<string, unknown> = {}): LedgerRecord => ({
  seq,
  ts: at(seq),
  type,
  by: "swarm",
  taskId: "1.1",
  data,
});

const story = [
  record(1, "task_claimed", { run: "r1", attempt: 1, agent: "ed-001" }),
  record(3, "iteration", { run: "r1", iteration: 1, tip: "a" }),
  record(4, "agent_failed", { run: "r1" }),
  record(5, "task_claimed", { run: "r2", attempt: 2, agent: "ed-002" }),
  record(8, "iteration", { run: "r2", iteration: 1, tip: "b" }),
  record(9, "review_asked", { tip: "b" }),
  record(10, "changes_requested", { tip: "b" }),
  record(13, "iteration", { run: "r2", iteration: 2, tip: "c" }),
  record(14, "review_asked", { tip: "c" }),
  record(15, "task_approved", { tip: "c" }),
  record(17, "merge_completed", { proof: { commits: ["x", "y", "z"], commit: "z" } }),
  record(20, "task_claimed", { run: "r9", attempt: 3, agent: "ed-009" }),
].reverse();

test("a commit leads to the attempt and the iteration in which it was written, and to what was said of it", () => {
  const first = causeOf(story, "x", at(2));
  expect([first.merged?.seq, first.claimed?.data?.["attempt"], first.iteration?.seq]).toEqual([17, 1, 3]);
  const second = causeOf(story, "y", at(7));
  expect([second.claimed?.data?.["run"], second.iteration?.data?.["iteration"]]).toEqual(["r2", 1]);
  const third = causeOf(story, "z", at(12));
  expect([third.iteration?.seq, third.reviews.map(({ type }) => type)]).toEqual([
    13,
    ["review_asked", "changes_requested", "review_asked", "task_approved"],
  ]);
});

test("of a commit that no record names nothing is made up", () => {
  expect(causeOf([], "x", at(1))).toEqual({ merged: null, claimed: null, iteration: null, reviews: [] });
});

test("a commit is named where its lines begin", () => {
  expect(blocks([{ cause: 0 }, { cause: 0 }, { cause: 1 }, { cause: 0 }])).toEqual([true, false, true, true]);
});
