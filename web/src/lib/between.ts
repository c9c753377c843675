// What is different between two records: everything that the main screen shows, once before and once after.
import type { BoardRow, BoardView } from "../api/types";
import { spent, tokens } from "./said";

export interface TaskChange {
  id: string;
  title: string;
  was: string;
  is: string;
}

export interface Between {
  tasks: TaskChange[];
  /** The swarm as a whole, each as before and after. */
  swarm: { what: string; was: string; is: string }[];
  /** What came and what went, by what it is. */
  came: { what: string; names: string[] }[];
  went: { what: string; names: string[] }[];
}

const words = (row: BoardRow): string => [row.word, row.detail].filter(Boolean).join(" ");
const ABSENT = "not in the plan";

function tasks(then: BoardRow[], later: BoardRow[]): TaskChange[] {
  const before = new Map(then.map((row) => [row.id, row]));
  const after = new Set(later.map((row) => row.id));
  const changed = later.flatMap((row) => {
    const was = before.get(row.id);
    const [old, now] = [was ? words(was) : ABSENT, words(row)];
    return old === now ? [] : [{ id: row.id, title: row.title, was: old, is: now }];
  });
  const gone = then.filter((row) => !after.has(row.id)).map((row) => ({ id: row.id, title: row.title, was: words(row), is: ABSENT }));
  return [...changed, ...gone];
}

type Names = (board: BoardView) => string[];

const SETS: [string, Names][] = [
  ["waits for a person", (board) => board.attention.map((entry) => entry.what)],
  ["agent at work", (board) => board.agents.map((agent) => `${agent.agent} on ${agent.task}`)],
  ["checkpoint", (board) => board.checkpoints.map((checkpoint) => checkpoint.name)],
  ["operation", (board) => board.operations.map((operation) => operation.text)],
];

const FACTS: [string, (board: BoardView) => string][] = [
  ["done", ({ status }) => `${status.counts.done}`],
  ["mode", ({ status }) => status.mode],
  ["paused", ({ status }) => status.paused.join(", ") || "no"],
  ["trunk", ({ status }) => (status.trunk ?? "").slice(0, 7)],
  ["money", ({ status }) => spent(status.usage)],
  ["tokens", ({ status }) => tokens((status.usage.inputTokens ?? 0) + (status.usage.outputTokens ?? 0))],
];

export function between(then: BoardView, later: BoardView): Between {
  const only = (one: BoardView, other: BoardView) =>
    SETS.map(([what, names]) => {
      const known = new Set(names(other));
      return { what, names: names(one).filter((name) => !known.has(name)) };
    }).filter(({ names }) => names.length > 0);
  return {
    tasks: tasks(then.rows, later.rows),
    swarm: FACTS.map(([what, read]) => ({ what, was: read(then), is: read(later) })).filter(({ was, is }) => was !== is),
    came: only(later, then),
    went: only(then, later),
  };
}
