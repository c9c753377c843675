// The ways on of an attention entry. A verdict is given where the work is shown and nowhere else: here it is a link to that page.
import type { AttentionChoice, AttentionEntry } from "../api/types";

export type WayOn = { kind: "review"; task: string; label: string } | { kind: "choice"; choice: AttentionChoice };

/** Beginnings of commands for a terminal that a button does as well. */
const BUTTONS: Record<string, string> = {
  unblock_task: "swarm task unblock ",
  defer_task: "swarm task defer ",
  cancel_task: "swarm task cancel ",
  accept_task: "swarm task accept ",
  message_agent: "swarm agent message ",
  start_tasks: "swarm task start ",
  acknowledge_attention: "swarm attention --seen ",
  accept_proposal: "swarm attention --accept ",
  decline_proposal: "swarm attention --decline ",
  extend_budget: "swarm budget extend",
  revive_agent: "swarm agent revive ",
  open_quota: "swarm quota open ",
  hold_quota: "swarm quota hold ",
  review: "swarm review ",
};

/** Ways on that only a terminal has. */
export function terminalOnly(entry: AttentionEntry): string[] {
  const done = entry.choices.flatMap(({ command }) => BUTTONS[command.do] ?? []);
  // A link beside the buttons shows the task.
  if (entry.task) done.push(`swarm task show ${entry.task}`);
  return entry.commands.filter((line) => !done.some((begin) => line.startsWith(begin)));
}

export function waysOn(entry: AttentionEntry): WayOn[] {
  const verdicts = entry.choices.filter(({ command }) => command.do === "review");
  const others = entry.choices.filter(({ command }) => command.do !== "review").map((choice): WayOn => ({ kind: "choice", choice }));
  const task = entry.task;
  if (!task || (verdicts.length === 0 && entry.kind !== "review")) return others;
  return [{ kind: "review", task, label: `Review ${task}` }, ...others];
}
