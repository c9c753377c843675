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

/** By kind of record; a test holds them against the kinds that there are. */
export const WORDS: Record<string, Words> = {
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
  drain_started: () => "drains: no new work",
  operation: (data) => text(data["answer"]) || text(data["text"]) || `operation ${text(data["kind"])}`,
  operation_asked: (data) => text(data["answer"]) || `operation begins: ${text(data["kind"])}`,
  operation_stuck: (data) => `operation cannot go on: ${text(data["why"])}`,
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
  council_spoke: (data) => `${text(data["member"])} says ${text(data["voice"]).replaceAll("_", " ")}`,
  task_approved: () => "approved, waits for its turn to merge",
  agent_failed: (data) =>
    `${text(data["agent"])} ended: ${text(inner(data, "how", "kind")).replaceAll("_", " ")}${text(inner(data, "how", "text")) ? `: ${text(inner(data, "how", "text"))}` : ""}`,
  agent_stopped: (data) => `${text(data["agent"]) || "its agent"} was stopped`,
  agent_redirected: (data) => `its agent takes up ${text(data["to"])} next`,
  agent_degraded: (data) => `${text(data["agent"])} is out of service: ${text(data["why"])}`,
  agent_revived: (data) => `${text(data["agent"])} works again`,
  verification_failed: () => "the merged tree is red",
  publish_waits: (data) => `merge waits: ${text(data["why"])}`,
  merge_held: (data) => `merge waits: ${text(data["why"])}`,
  merge_interrupted: (data) => `the merge was broken off: ${text(data["why"])}`,
  approval_voided: () => "its branch was changed after its approval: it is reviewed again",
  merge_resolved: () => "rules decided what conflicted with trunk",
  protected_touched: () => "changes protected files: waits for a person",
  merge_failed: () => "the merge did not succeed",
  merge_completed: (data) => `on ${text(inner(data, "proof", "trunk"))} at ${cut(inner(data, "proof", "commit"))}`,
  work_gone: () => "its work is not on trunk any more",
  work_back: () => "its work is on trunk again",
  work_rewritten: () => "its work stands on trunk under other names",
  work_reopened: (data) => `goes on: ${text(data["why"])}`,
  quota_exhausted: (data) => `the quota of ${text(data["group"])} is used up`,
  quota_restored: (data) => `the quota of ${text(data["group"])} is back`,
  task_split: () => "was split into parts",
  message_queued: (data) => `told: ${text(data["text"])}`,
  message_landed: () => "the message was delivered",
  message_undelivered: (data) => `the message was not delivered: ${text(data["why"])}`,
  budget_extended: () => "the budget was extended",
  agent_nudged: () => "was nudged",
  agent_killed: () => "its agent was killed",
  task_restored: (data, record) => `is ${record.status ?? "back"} again${text(data["why"]) ? `: ${text(data["why"])}` : ""}`,
  gate_waived: (data) => `a check was waived: ${text(data["reason"])}`,
  start_withheld: (data) => `does not start: ${text(data["why"])}`,
  overstep: (data) => (data["anybody"] === true ? text(data["what"]) : `its agent tried what is not its to do: ${text(data["what"])}`),
  worktree_kept: (data) => `its worktree is kept: ${text(data["why"])}`,
  trunk_moved: (data) => `trunk was moved to ${cut(data["to"])}`,
  trunk_chosen: (data) => `trunk is ${text(data["branch"])} now`,
  checkpoint_failed: (data) => `no checkpoint ${text(data["name"])}: ${text(data["why"])}`,
  plan_reopened: () => "the plan was opened again",
  phase_reopened: (_, record) => `phase ${record.phase ?? ""} is open again`,
  quota_held: (data) => `the quota of ${text(data["group"])} is held until a person says otherwise`,
  loss_acknowledged: () => "a person has seen the loss",
  ledger_repaired: () => "the ledger was repaired",
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
