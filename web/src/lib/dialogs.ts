// The question in front of the person, if there is one.
import type { AttentionChoice, Command } from "../api/types";
import type { Asked } from "./command";
import { store } from "./store";

export type Question =
  | ({ kind: "confirm"; weight: "stops" | "moves" } & Asked)
  | { kind: "block"; task: string }
  | { kind: "edit"; task: string }
  | { kind: "message"; task: string }
  | { kind: "redirect"; task: string }
  | { kind: "pause" }
  | { kind: "checkpoint" }
  | { kind: "answer"; what: string; choice: AttentionChoice; draft: string }
  | { kind: "form"; command: Command["do"]; task: string | null }
  | { kind: "palette"; task: string | null }
  | { kind: "help" };

export const question = store<Question | null>(null);

/** The task that letters are about: the focused row's, or the page's. */
export const selected = store<string | null>(null);

export const shut = (): void => question.set(null);

/** Each question is a dialog of its own: what was written for one is never meant for another. */
const numbers = new WeakMap<Question, number>();
let last = 0;

export function numberOf(asked: Question): number {
  const known = numbers.get(asked) ?? ++last;
  numbers.set(asked, known);
  return known;
}
