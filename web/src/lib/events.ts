// A record of the ledger as one line for people. What has no words here is machinery.

export interface LedgerRecord {
  seq: number;
  ts: string;
  type: string;
  by: string;
  taskId?: string;
  status?: string;
  phase?: number;
  data?: Record<string, unknown>;
  [more: string]: unknown;
}

const text = (value: unknown): string => (typeof value === "string" ? value : typeof value === "number" ? String(value) : "");
const cut = (value: unknown): string => text(value).slice(0, 7);

function inner(data: Record<string, unknown>, ...path: string[]): unknown {
  return path.reduce<unknown>((at, key) => (at as Record<string, unknown> | undefined)?.[key], data);
}

function signal(data: Record<string, unknown>): string | null {
  const [name, words] = [text(data["signal"]), text(data["text"])];
  return name === "COMPLETE" || name === "PROGRESS" ? null : `says ${name.toLowerCase().replaceAll("_", " ")}${words ? `: ${words}` : ""}`;
}

type Words = (data: Record<string, unknown>, record: LedgerRecord) => string | null;

const WORDS: Record<string, Words> = {
  plan_created: () => "the plan begins",
  plan_updated: () => "the plan was changed",
  plan_rebuilt: () => "the plan was imported",
  plan_approved: () => "the plan was approved",
  plan_reset: () => "the plan was reset",
  plan_closed: () => "the plan was closed",
  task_added: (data) => `added: ${text(data["title"])}`.replace(/: $/, ""),
  task_updated: () => "was edited",
  task_removed: () => "was removed",
  task_reordered: () => "was moved",
  task_status_changed: (data, record) => {
    const commit = cut(inner(data, "proof", "commit"));
    const why = text(data["why"]) || text(data["reason"]);
    return `${record.status ?? "changed"}${commit ? `, on ${text(inner(data, "proof", "trunk"))} at ${commit}` : ""}${why ? `: ${why}` : ""}`;
  },
  phase_completed: (_, record) => `phase ${record.phase ?? ""} is complete`,
  coordinator_started: () => "a coordinator took over",
  coordinator_stopped: () => "the coordinator left in good order",
  mode_changed: (data) => `the mode is ${text(data["mode"])} now`,
  paused: (data) => `paused${text(data["why"]) ? `: ${text(data["why"])}` : ""}`,
  resumed: () => "goes on",
  draining: () => "drains: no new work",
  operation: (data) => text(data["answer"]) || text(data["text"]) || `operation ${text(data["kind"])}`,
  operation_begun: (data) => `operation begins: ${text(data["kind"]) || text(inner(data, "request", "what"))}`,
  operation_finished: (data) => text(data["text"]) || "operation finished",
  operation_failed: (data) => `operation failed: ${text(data["why"])}`,
  checkpoint_made: (data) => `checkpoint ${text(inner(data, "checkpoint", "name"))}`,
  checkpoint_deleted: (data) => `checkpoint ${text(data["name"])} was deleted`,
  task_started: () => "may start",
  task_claimed: (data) => `goes to ${text(data["agent"])}, attempt ${text(data["attempt"])}`,
  signal,
  work_submitted: (data) => `work handed in at ${cut(data["tip"])}`,
  checks_failed: () => "its checks failed",
  review_asked: () => "waits for a review",
  review_started: () => "is being reviewed",
  review_answered: () => "the reviewer has spoken",
  review_failed: () => "the review wants changes",
  changes_requested: () => "needs changes",
  council_voice: (data) => `${text(data["member"])} says ${text(data["voice"])}`,
  task_approved: () => "approved, waits for its turn to merge",
  agent_failed: (data) =>
    `${text(data["agent"])} ended: ${text(inner(data, "how", "kind")).replaceAll("_", " ")}${text(inner(data, "how", "text")) ? `: ${text(inner(data, "how", "text"))}` : ""}`,
  agent_stopped: (data) => `${text(data["agent"]) || "its agent"} was stopped`,
  agent_redirected: (data) => `its agent takes up ${text(data["to"])} next`,
  agent_degraded: (data) => `${text(data["agent"])} is out of service: ${text(data["why"])}`,
  agent_revived: (data) => `${text(data["agent"])} works again`,
  verification_failed: () => "the merged tree is red",
  publish_held: (data) => `merge waits: ${text(data["why"])}`,
  merge_failed: () => "the merge did not succeed",
  merge_completed: (data) => `on ${text(inner(data, "proof", "trunk"))} at ${cut(inner(data, "proof", "commit"))}`,
  work_gone: () => "its work is not on trunk any more",
  work_found: () => "its work is on trunk again",
  quota_exhausted: (data) => `the quota of ${text(data["group"])} is used up`,
  quota_restored: (data) => `the quota of ${text(data["group"])} is back`,
  task_split: () => "was split into parts",
  message_queued: (data) => `told: ${text(data["text"])}`,
  message_delivered: () => "the message was delivered",
  budget_extended: () => "the budget was extended",
  nudged: () => "was nudged",
  ledger_loss: () => "records were lost",
};

/** The line, or none for machinery. */
export function said(record: LedgerRecord): string | null {
  return WORDS[record.type]?.(record.data ?? {}, record) ?? null;
}

/** The name of the kind for those who look at machinery. */
export const kindWords = (record: LedgerRecord): string => record.type.replaceAll("_", " ");

/** `you`, `swarm`, `ed-001`. */
export function who(by: string): string {
  const [kind, name = ""] = by.split(":", 2);
  if (kind === "person") return name ? `you (${name})` : "you";
  return kind === "agent" ? name : "swarm";
}
