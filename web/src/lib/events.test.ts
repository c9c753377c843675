import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { said, WORDS } from "./events";

const source = readFileSync("../crates/swarm-protocol/src/event.rs", "utf8");
const kinds = new Set([...source.matchAll(/^ {4}[A-Z]\w+ "([a-z_]+)"/gm)].map((found) => found[1]));

test("words are for kinds of records that there are", () => {
  expect(kinds.size).toBeGreaterThan(100);
  const named = [...Object.keys(WORDS), "task_claimed", "task_restored", "merge_completed", "iteration", "review_asked"];
  expect(named.filter((kind) => !kinds.has(kind))).toEqual([]);
});

test("a record without its members is still a line", () => {
  for (const type of Object.keys(WORDS)) expect(() => said({ seq: 1, ts: "", type, by: "swarm" })).not.toThrow();
});

test("a branch that was put right is no charge against an agent", () => {
  const record = { seq: 1, ts: "", type: "overstep", by: "swarm", data: { what: "the branch was deleted", anybody: true } };
  expect(said(record)).toBe("the branch was deleted");
  expect(said({ ...record, data: { what: "the branch was deleted" } })).toContain("its agent tried");
});
