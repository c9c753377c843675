// How the plan differs from another form of it.
import type { PlanFile, TaskFile } from "../api/types";

export interface Drift {
  id: string;
  what: "added" | "removed" | "changed";
  /** Which members are others. */
  members: string[];
}

const tasksOf = (plan: PlanFile): Map<string, TaskFile & { phase: number }> =>
  new Map(
    (plan.phases ?? []).flatMap((phase) => ((phase.tasks ?? []) as TaskFile[]).map((task) => [task.id, { ...task, phase: phase.id }] as const)),
  );

const same = (a: unknown, b: unknown) => JSON.stringify(a ?? null) === JSON.stringify(b ?? null) || (empty(a) && empty(b));
const empty = (value: unknown) => value === undefined || value === null || value === "" || (Array.isArray(value) && value.length === 0);

/** Statuses are no part of what was agreed to. */
export function drift(before: PlanFile, after: PlanFile): Drift[] {
  const [old, now] = [tasksOf(before), tasksOf(after)];
  const out: Drift[] = [];
  for (const [id, task] of now) {
    const was = old.get(id);
    if (!was) {
      out.push({ id, what: "added", members: [] });
      continue;
    }
    const keys = [...new Set([...Object.keys(task), ...Object.keys(was)])].filter((key) => key !== "status");
    const members = keys.filter((key) => !same((task as Record<string, unknown>)[key], (was as Record<string, unknown>)[key]));
    if (members.length) out.push({ id, what: "changed", members });
  }
  for (const id of old.keys()) if (!now.has(id)) out.push({ id, what: "removed", members: [] });
  return out;
}

/** What is wrong with a plan that somebody typed; the coordinator has the last word. */
export function problems(plan: PlanFile): string[] {
  const found: string[] = [];
  if (!plan.goal?.trim()) found.push("The plan has no goal");
  const ids = (plan.phases ?? []).flatMap((phase) => ((phase.tasks ?? []) as TaskFile[]).map((task) => task.id));
  const known = new Set(ids);
  ids.forEach((id, n) => ids.indexOf(id) < n && found.push(`${id} is there twice`));
  for (const phase of plan.phases ?? []) {
    for (const task of (phase.tasks ?? []) as TaskFile[]) {
      if (!task.title?.trim()) found.push(`${task.id} has no title`);
      for (const other of task.depends ?? []) if (!known.has(other)) found.push(`${task.id} depends on ${other}, which is not in the plan`);
    }
  }
  return found;
}
