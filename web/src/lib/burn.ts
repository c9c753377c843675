// Money by outcome, open tasks and agents over time: counted from the records, which hold all of it.
import type { LedgerRecord } from "./events";

export type Outcome = "merged" | "open" | "redone" | "lost" | "rolled back";

export interface Spent {
  task: string;
  agent: string;
  run: string;
  micros: number;
  tokens: number;
  outcome: Outcome;
}

export interface Point {
  at: number;
  value: number;
}

export interface Burn {
  spent: Spent[];
  /** Open tasks. */
  open: Point[];
  agents: Point[];
  /** Millionths of a dollar so far. */
  money: Point[];
}

export const CRASHES = new Set(["crashed", "failed", "lost", "orphaned", "timeout", "not_started", "no_workspace"]);
export const ENDS = new Set(["attempt_stopped", "agent_completed", "agent_failed"]);
export const REDONE = new Set(["changes_requested", "review_failed", "verification_failed", "checks_failed"]);
const CLOSED = new Set(["done", "cancelled", "deferred"]);

interface Usage {
  inputTokens?: number;
  outputTokens?: number;
  costMicros?: number;
}

class Counting {
  spent: Spent[] = [];
  open: Point[] = [];
  agents: Point[] = [];
  money: Point[] = [];
  private openTasks = new Set<string>();
  private agentOf = new Map<string, string>();
  private running = new Set<string>();
  private total = 0;

  take(record: LedgerRecord): void {
    const data = record.data ?? {};
    const at = Date.parse(record.ts);
    const task = record.taskId ?? "";
    const run = typeof data["run"] === "string" ? data["run"] : "";
    if (record.type === "task_claimed") {
      this.agentOf.set(run, String(data["agent"] ?? ""));
      this.running.add(run);
      this.agents.push({ at, value: this.running.size });
    } else if (ENDS.has(record.type) && this.running.delete(run)) {
      this.agents.push({ at, value: this.running.size });
    }
    this.pay(data["usage"] as Usage | undefined, task, run, at);
    this.judge(record, task, run, data);
    this.count(record, task, at);
  }

  private pay(usage: Usage | undefined, task: string, run: string, at: number): void {
    if (!usage || typeof usage !== "object") return;
    const micros = usage.costMicros ?? 0;
    const tokens = (usage.inputTokens ?? 0) + (usage.outputTokens ?? 0);
    this.spent.push({ task, run, agent: this.agentOf.get(run) ?? "swarm", micros, tokens, outcome: "open" });
    this.total += micros;
    this.money.push({ at, value: this.total });
  }

  private judge(record: LedgerRecord, task: string, run: string, data: Record<string, unknown>): void {
    const mark = (from: Outcome, to: Outcome, which: (one: Spent) => boolean) =>
      this.spent.forEach((one) => one.outcome === from && which(one) && (one.outcome = to));
    if (record.type === "merge_completed") mark("open", "merged", (one) => one.task === task);
    else if (REDONE.has(record.type)) mark("open", "redone", (one) => one.task === task);
    else if (record.type === "task_restored") mark("merged", "rolled back", (one) => one.task === task);
    else if (record.type === "agent_failed") {
      const kind = (data["how"] as { kind?: string } | undefined)?.kind ?? "";
      if (CRASHES.has(kind)) mark("open", "lost", (one) => one.run === run);
    }
  }

  private count(record: LedgerRecord, task: string, at: number): void {
    const was = this.openTasks.size;
    if (record.type === "task_added" || record.type === "task_restored") this.openTasks.add(task);
    else if (record.type === "task_removed" || CLOSED.has(record.status ?? "")) this.openTasks.delete(task);
    else if (record.status && task) this.openTasks.add(task);
    if (this.openTasks.size === was) return;
    // A plan of many tasks is added in one decision: one point for one moment.
    if (this.open.at(-1)?.at === at) this.open.pop();
    this.open.push({ at, value: this.openTasks.size });
  }
}

export function burn(records: LedgerRecord[]): Burn {
  const counting = new Counting();
  for (const record of records) counting.take(record);
  const { spent, open, agents, money } = counting;
  return { spent, open, agents, money };
}

/** Sums by a member, the dearest first. */
export function sums(spent: Spent[], by: "task" | "agent" | "outcome"): { name: string; micros: number; tokens: number }[] {
  const all = new Map<string, { name: string; micros: number; tokens: number }>();
  for (const one of spent) {
    const sum = all.get(one[by]) ?? { name: one[by], micros: 0, tokens: 0 };
    all.set(one[by], { name: sum.name, micros: sum.micros + one.micros, tokens: sum.tokens + one.tokens });
  }
  return [...all.values()].sort((a, b) => b.micros - a.micros || b.tokens - a.tokens);
}
