// The ways on of an attention entry. A verdict is given where the work is shown and nowhere else: here it is a link to that page.
import type { AttentionChoice, AttentionEntry } from "../api/types";

export type WayOn = { kind: "review"; task: string; label: string } | { kind: "choice"; choice: AttentionChoice };

export function waysOn(entry: AttentionEntry): WayOn[] {
  const verdicts = entry.choices.filter(({ command }) => command.do === "review");
  const others = entry.choices.filter(({ command }) => command.do !== "review").map((choice): WayOn => ({ kind: "choice", choice }));
  const task = entry.task;
  if (!task || (verdicts.length === 0 && entry.kind !== "review")) return others;
  return [{ kind: "review", task, label: `Review ${task}` }, ...others];
}
