// Why a line of trunk is there: the attempt, the iteration and the review behind a commit, read off the records of its task.
import type { LedgerRecord } from "./events";

export interface Cause {
  /** The record that put the commit on trunk. */
  merged: LedgerRecord | null;
  /** The record that gave the task to the agent who made it. */
  claimed: LedgerRecord | null;
  /** The iteration at whose end the commit was there. */
  iteration: LedgerRecord | null;
  /** What was said about it before it was merged, oldest first. */
  reviews: LedgerRecord[];
}

const ON_TRUNK = new Set(["merge_completed", "work_rewritten", "work_back", "task_status_changed"]);
const REVIEWS = new Set(["review_asked", "changes_requested", "review_failed", "council_voice", "task_approved"]);

const text = (value: unknown): string => (typeof value === "string" ? value : "");

function proves(record: LedgerRecord, commit: string): boolean {
  const proof = record.data?.["proof"] as { commits?: string[]; made?: string[] } | undefined;
  return ON_TRUNK.has(record.type) && Boolean(proof?.commits?.includes(commit) || proof?.made?.includes(commit));
}

/** `records` are of its task, newest first; `at`: when the commit was written, which merging keeps. */
export function causeOf(records: LedgerRecord[], commit: string, at: string): Cause {
  const merged = records.findLast((record) => proves(record, commit)) ?? null;
  const before = merged ? records.filter((record) => record.seq < merged.seq) : records;
  // Git knows whole seconds only.
  const written = Math.floor(Date.parse(at) / 1000) * 1000;
  const iteration = before.findLast((record) => record.type === "iteration" && Date.parse(record.ts) >= written) ?? null;
  const claims = before.filter((record) => record.type === "task_claimed");
  const run = text(iteration?.data?.["run"]);
  const claimed = claims.find((record) => run !== "" && record.data?.["run"] === run) ?? claims[0] ?? null;
  const reviews = before.filter((record) => REVIEWS.has(record.type) && record.seq > (claimed?.seq ?? 0)).reverse();
  return { merged, claimed, iteration, reviews };
}

/** Lines that one commit brought, one after the other: it is named at the first of them. */
export function blocks<T extends { cause: number }>(lines: T[]): boolean[] {
  return lines.map((line, n) => n === 0 || lines[n - 1]?.cause !== line.cause);
}
