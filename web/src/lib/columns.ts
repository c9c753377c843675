// Which column of the board a card stands in, by the core's groups and words.
import type { AttentionEntry, BoardAgent, BoardRow, BoardView, Group } from "../api/types";

export interface Column {
  name: string;
  groups: Group[];
  folded?: boolean;
}

const CHECKING = "Checking and review";

export const COLUMNS: Column[] = [
  { name: "Needs you", groups: ["needs_you"] },
  { name: "Ready", groups: ["ready", "waits"] },
  { name: "Working", groups: ["works"] },
  { name: CHECKING, groups: ["in_review"] },
  { name: "Merging", groups: ["merges"] },
  { name: "Done", groups: ["done", "aside"], folded: true },
];

/** What is being checked counts among those at work, but its card says so and stands where that is looked for. */
export function cardsOf(column: Column, rows: BoardRow[]): BoardRow[] {
  const checking = (row: BoardRow) => row.group === "works" && row.word === "checking";
  const own = column.groups.flatMap((group) => rows.filter((row) => row.group === group && !checking(row)));
  return column.name === CHECKING ? [...rows.filter(checking), ...own] : own;
}

/** Entries that no card of a task tells of: a pause, a quota, tasks that wait for a start. */
export function withoutCard(attention: AttentionEntry[], rows: BoardRow[]): AttentionEntry[] {
  const told = new Set(rows.filter((row) => row.group === "needs_you").map((row) => `task/${row.id}`));
  return attention.filter((entry) => !told.has(entry.id));
}

/** An agent that crashed and waits for its restart has a task, but is not at work. */
export function atWork(agents: BoardAgent[], rows: BoardRow[]): BoardAgent[] {
  const crashed = new Set(rows.filter((row) => row.word === "crashed").map((row) => row.id));
  return agents.filter((agent) => !crashed.has(agent.task));
}

/** A pause that is not the person's is not theirs to end: the dialog behind the button asks about their own. */
export const pauseWord = (board: BoardView | undefined): "Pause" | "Resume" => (board?.status.paused.includes("user") ? "Resume" : "Pause");
