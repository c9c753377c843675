// The text in the editor of the plan: the plan as it is until somebody writes, and from then on a draft with the plan that it began with.
import { useEffect, useMemo, useState } from "react";
import type { PlanFile, TaskFile } from "../api/types";
import { drift, type Drift } from "./drift";
import { remember, remembered } from "./local";

const [TEXT, BASE] = ["draft:plan", "draft:plan:base"];

/** Statuses are the ledger's; they are no part of what is edited. */
export function editable(plan: PlanFile): string {
  const phases = plan.phases.map((phase) => ({ ...phase, tasks: ((phase.tasks ?? []) as TaskFile[]).map(({ status: _, ...task }) => task) }));
  return JSON.stringify({ ...plan, phases }, null, 2);
}

/** What somebody else has changed since the draft began, and saving it would change again. */
export function elsewhere(base: string | null, now: PlanFile, mine: PlanFile): Drift[] {
  if (base === null) return [];
  const began = JSON.parse(base) as PlanFile;
  const differs = new Set(drift(now, mine).map(({ id }) => id));
  const tasks = drift(began, now).filter(({ id }) => differs.has(id));
  const goal = began.goal !== now.goal && now.goal !== mine.goal;
  return goal ? [{ id: "the goal", what: "changed", members: [] }, ...tasks] : tasks;
}

export interface PlanDraft {
  text: string | null;
  /** The plan that it began with; none where that is not known any more. */
  base: string | null;
  change: (text: string) => void;
  startOver: () => void;
  saved: () => void;
}

export function usePlanDraft(view: PlanFile | undefined): PlanDraft {
  const [text, setText] = useState<string | null>(() => remembered(TEXT));
  const [base, setBase] = useState<string | null>(() => (remembered(TEXT) === null ? null : remembered(BASE)));
  const now = useMemo(() => (view ? editable(view) : null), [view]);
  const asItIs = () => {
    setText(now);
    setBase(now);
  };
  const forget = () => {
    remember(TEXT, null);
    remember(BASE, null);
  };
  useEffect(() => {
    if (now !== null && (text === null || text === base)) asItIs();
    // Only when the plan is another one: what was saved a moment ago may not be in it yet.
  }, [now]);
  return {
    text,
    base,
    change: (value) => {
      if (value === base) {
        // Nothing is left of what was written.
        forget();
        return asItIs();
      }
      if (text === base) remember(BASE, base);
      setText(value);
      remember(TEXT, value);
    },
    startOver: () => {
      forget();
      asItIs();
    },
    // From here on it is the plan, and follows it until somebody writes again.
    saved: () => {
      forget();
      setBase(text);
    },
  };
}
