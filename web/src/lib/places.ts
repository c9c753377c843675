// Where each command of the API is given in these pages. The compiler wants an entry for every command there is.
import type { Command, StatusView, TaskSpec } from "../api/types";

export interface FieldSpec {
  name: string;
  label: string;
  /** `names` are separated by commas or blanks, `words` may be long. */
  kind: "text" | "words" | "names" | "number" | "task" | "phase" | "yes";
  optional?: boolean;
  /** What it is now, for what is changed and not made. */
  now?: (status: StatusView) => string;
}

export type Values = Record<string, string>;

export interface Form {
  title: string;
  /** What it does, in one sentence. */
  help: string;
  /** The same on the command line. */
  line: string;
  fields: FieldSpec[];
  make: (values: Values) => Command;
}

export type Group = "Plan" | "Task" | "Swarm" | "Agents" | "Files and quotas";

export type Place =
  /** A form on the page of all commands. */
  | { at: "form"; group: Group; form: Form }
  /** A verb, or a button of a page. */
  | { at: "page"; where: string }
  /** A way on in the inbox, as the coordinator offers it. */
  | { at: "inbox"; when: string }
  /** Not a wish of a person at these pages. */
  | { at: "nowhere"; why: string };

const form = (group: Group, title: string, help: string, line: string, fields: FieldSpec[], make: Form["make"]): Place => ({
  at: "form",
  group,
  form: { title, help, line, fields, make },
});
const page = (where: string): Place => ({ at: "page", where });
const inbox = (when: string): Place => ({ at: "inbox", when });

const TASK: FieldSpec = { name: "task", label: "Task", kind: "task" };
const text = (name: string, label: string, optional = false): FieldSpec => ({ name, label, kind: "text", optional });
const yes = (name: string, label: string): FieldSpec => ({ name, label, kind: "yes", optional: true });

export const names = (value: string | undefined): string[] => (value ?? "").split(/[\s,]+/).filter(Boolean);
const some = (value: string | undefined): string | null => value?.trim() || null;
const phaseOf = (value: string | undefined): number | null => (value?.trim() ? Number(value) : null);

/** Each line a part: its id, then its title. */
export function parts(value: string | undefined): TaskSpec[] {
  const lines = (value ?? "").split("\n").map((line) => line.trim());
  return lines.filter(Boolean).map((line) => {
    const [id = "", ...title] = line.split(/\s+/);
    return { id, title: title.join(" ") || id };
  });
}

export const PLACES: Record<Command["do"], Place> = {
  save_plan: page("Plan, Edit"),
  approve_plan: page("Plan"),
  reset_plan: form("Plan", "Reset the plan", "Every task is pending again; nothing is taken off trunk.", "swarm plan reset", [], () => ({
    do: "reset_plan",
  })),
  set_profile: form(
    "Plan",
    "Set how many agents work at once",
    "Whether tasks run beside one another, and how many.",
    "swarm plan profile set",
    [
      { name: "most", label: "Agents at once", kind: "number", now: ({ profile }) => String(profile.max_concurrent_tasks ?? "") },
      { ...yes("parallel", "Tasks run beside one another"), now: ({ profile }) => (profile.parallelization_enabled ? "yes" : "") },
      { ...yes("council", "Voices of a council run beside one another"), now: ({ profile }) => (profile.council_parallel ? "yes" : "") },
    ],
    ({ most, parallel, council }) => ({
      do: "set_profile",
      profile: { max_concurrent_tasks: Number(most), parallelization_enabled: parallel === "yes", council_parallel: council === "yes" },
    }),
  ),
  lock_profile: form(
    "Plan",
    "Lock how many agents work at once",
    "It stays as it is until the plan is reset.",
    "swarm plan profile lock",
    [],
    () => ({
      do: "lock_profile",
    }),
  ),
  complete_phase: form(
    "Plan",
    "Complete a phase",
    "Says that a phase is complete, where the plan waits for a person to say so.",
    "swarm phase complete",
    [{ name: "phase", label: "Phase", kind: "phase" }],
    ({ phase }) => ({ do: "complete_phase", phase: Number(phase) }),
  ),
  add_task: form(
    "Plan",
    "Add a task",
    "At the end of a phase, or behind another task.",
    "swarm task add",
    [
      text("id", "Id, like 2.5"),
      text("title", "Title"),
      { name: "description", label: "Description", kind: "words", optional: true },
      { name: "phase", label: "Phase", kind: "phase", optional: true },
      { name: "after", label: "Behind the task", kind: "task", optional: true },
      { name: "depends", label: "Waits for these tasks", kind: "names", optional: true },
      { name: "tags", label: "Tags", kind: "names", optional: true },
    ],
    ({ id = "", title = "", description = "", phase, after, depends, tags }) => ({
      do: "add_task",
      phase: phaseOf(phase),
      after: some(after),
      task: { id: id.trim(), title: title.trim(), description, depends: names(depends), tags: names(tags) },
    }),
  ),
  edit_task: page("a task: e, or Edit"),
  remove_task: form("Task", "Remove a task", "Takes it out of the plan. Its records stay.", "swarm task remove", [TASK], ({ task = "" }) => ({
    do: "remove_task",
    task,
  })),
  move_task: form(
    "Task",
    "Move a task",
    "To another phase, or behind another task; with neither, to the start of its phase. What stands earlier is begun earlier.",
    "swarm task move",
    [
      TASK,
      { name: "phase", label: "Phase", kind: "phase", optional: true },
      { name: "after", label: "Behind the task", kind: "task", optional: true },
    ],
    ({ task = "", phase, after }) => ({ do: "move_task", task, phase: phaseOf(phase), after: some(after) }),
  ),
  split_task: form(
    "Task",
    "Split a task",
    "Its parts stand in the plan in its place, and it waits for them.",
    "swarm task split",
    [TASK, { name: "parts", label: "Parts, one in a line: id, then title", kind: "words" }],
    (values) => ({ do: "split_task", task: values["task"] ?? "", parts: parts(values["parts"]) }),
  ),
  accept_task: form(
    "Task",
    "Take a task for done",
    "Although its work is not on trunk, or there is none.",
    "swarm task accept",
    [TASK, text("reason", "Why")],
    ({ task = "", reason = "" }) => ({ do: "accept_task", task, reason: reason.trim() }),
  ),
  waive_gate: inbox("a check, scan, review or verification of a task fails"),
  block_task: page("a task: b, or Block"),
  unblock_task: page("a task: u, or Unblock"),
  defer_task: page("a task: P, or Defer"),
  cancel_task: page("a task: Cancel"),
  review: page("a task, Review"),
  start_tasks: page("a task: S, or Start"),
  message_agent: page("a task: M, or Messages"),
  stop_agent: page("a task or agent: s, or Stop"),
  kill_agent: page("a task or agent: x, or Kill"),
  redirect: page("a task or agent: r, or Redirect"),
  revive_agent: form(
    "Agents",
    "Revive an agent",
    "Gives work again to one that is out of service.",
    "swarm agent revive",
    [text("agent", "Agent")],
    ({ agent = "" }) => ({
      do: "revive_agent",
      agent: agent.trim(),
    }),
  ),
  pause: page("everywhere: Space"),
  resume: page("everywhere: Space"),
  set_mode: page("everywhere: m"),
  drain: form(
    "Swarm",
    "Drain",
    "No new work is begun; the run ends when what is under way has ended.",
    "swarm stop",
    [text("why", "Why", true)],
    ({ why = "" }) => ({ do: "drain", why: why.trim() || "asked in the web UI" }),
  ),
  checkpoint_and_drain: form(
    "Swarm",
    "Checkpoint, then drain",
    "A checkpoint is made, no new work is begun, and the run ends when what is under way has ended.",
    "swarm stop --checkpoint",
    [text("why", "Why", true)],
    ({ why = "" }) => ({ do: "checkpoint_and_drain", why: why.trim() || "asked in the web UI" }),
  ),
  abort: form("Swarm", "Abort", "Stops every agent and takes back what this session has merged.", "swarm abort", [], () => ({ do: "abort" })),
  retry: form("Swarm", "Retry", "After an abort or a failure: begins again where it makes sense.", "swarm run --retry", [], () => ({ do: "retry" })),
  set_trunk: form(
    "Swarm",
    "Choose another trunk",
    "Work is merged into this branch from now on.",
    "swarm run --trunk BRANCH",
    [text("branch", "Branch")],
    ({ branch = "" }) => ({ do: "set_trunk", branch: branch.trim() }),
  ),
  make_checkpoint: page("everywhere: c"),
  delete_checkpoint: page("a checkpoint"),
  rollback: page("a checkpoint, or the palette: session rollback"),
  rollback_task: page("a task: R, or Roll back"),
  undo: page("everywhere: z; an operation"),
  redo: page("everywhere: Z"),
  extend_budget: form(
    "Swarm",
    "Extend the budget",
    "Lets the swarm, or one task, spend as much again.",
    "swarm budget extend",
    [{ ...TASK, label: "Task; empty: the swarm", optional: true }],
    ({ task }) => ({ do: "extend_budget", task: some(task) }),
  ),
  open_quota: form(
    "Files and quotas",
    "Open a quota",
    "Says that the allowance of a group is back.",
    "swarm quota open",
    [text("group", "Group")],
    ({ group = "" }) => ({
      do: "open_quota",
      group: group.trim(),
    }),
  ),
  hold_quota: form(
    "Files and quotas",
    "Hold a quota",
    "Nothing of the group is probed or resumed until somebody says so.",
    "swarm quota hold",
    [text("group", "Group")],
    ({ group = "" }) => ({ do: "hold_quota", group: group.trim() }),
  ),
  reserve: form(
    "Files and quotas",
    "Reserve files",
    "Nobody else's work with these files is merged until they are released.",
    "swarm reservations add",
    [
      { name: "files", label: "Files, as patterns like src/*.rs", kind: "names" },
      text("reason", "Why", true),
      { name: "hours", label: "For how many hours", kind: "number", optional: true },
      yes("shared", "Others may reserve them, too"),
    ],
    ({ files, reason, hours, shared }) => ({
      do: "reserve",
      files: names(files),
      reason: some(reason),
      secs: hours?.trim() ? Math.round(Number(hours) * 3600) : null,
      shared: shared === "yes",
    }),
  ),
  release_reservation: form(
    "Files and quotas",
    "Release a reservation",
    "By its number, as the list of reservations has it.",
    "swarm reservations release",
    [{ name: "number", label: "Number", kind: "number" }],
    ({ number }) => ({ do: "release_reservation", number: Number(number) }),
  ),
  acknowledge_attention: inbox("something needs to be seen and nothing else"),
  accept_proposal: inbox("a program wants to take something back, and a person is to agree"),
  decline_proposal: inbox("a program wants to take something back"),
  propose: { at: "nowhere", why: "programs propose over MCP, where `mcp.confirm` is person" },
  acknowledge_loss: inbox("records of the ledger were lost"),
  close_plan: { at: "nowhere", why: "`swarm close` ends the run and writes the archive to a file" },
  reopen_plan: { at: "nowhere", why: "`swarm plan reopen` reads the archive from a file" },
  record_export: { at: "nowhere", why: "`swarm plan export` writes a file, and this records it" },
  submit_work: { at: "nowhere", why: "`swarm worktree merge` hands in what a person committed in a worktree" },
  record_removal: { at: "nowhere", why: "`swarm worktree cleanup` removes a worktree, and this records it" },
};

/** What is still missing in a form; none: it can be sent. */
export function missing(fields: FieldSpec[], values: Values): string | null {
  for (const { name, label, kind, optional } of fields) {
    const value = (values[name] ?? "").trim();
    if (!value && !optional && kind !== "yes") return label;
    if (value && (kind === "number" || kind === "phase") && !(Number(value) > 0)) return label;
  }
  return null;
}
