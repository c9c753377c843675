// A reviewer's page stays with the submission that was opened: what is typed and approved is about that one and no other.
import type { DiffView, ReviewView } from "../api/types";

export interface Held {
  /** What the reviewer looks at; none: nothing waits. */
  review: ReviewView | null;
  /** What this page has given its verdict about; it is not taken up again while the answer is on its way. */
  decided: string | null;
}

export const NOTHING_HELD: Held = { review: null, decided: null };

/** A submission: the same commit handed in for another round is another one. */
export const submission = (review: ReviewView): string => `${review.round}:${review.submitted}`;

/** Only a person's verdict can go astray; what others review is shown as it is now. */
const awaitsPerson = (review: ReviewView): boolean => review.reviewer === "human" || review.stage.startsWith("blocked");

/** What is held when the coordinator says that this waits for a review now. */
export function holding(held: Held, now: ReviewView | undefined): Held {
  if (held.review && !(now && submission(now) === submission(held.review)) && awaitsPerson(held.review)) return held;
  const decided = now && submission(now) === held.decided ? held.decided : null;
  const review = now && !decided ? now : null;
  return review === held.review && decided === held.decided ? held : { review, decided };
}

/** Shows what is there now, whatever was looked at before. */
export const taken = (held: Held, now: ReviewView | undefined): Held => ({ ...held, review: now ?? null });

/** After the page's own verdict. */
export const settled = (review: ReviewView): Held => ({ review: null, decided: submission(review) });

/** Why no verdict can be given about what is shown; none: it can. */
export function overtaken(held: ReviewView, now: ReviewView | undefined): { message: string; hint: string } | null {
  if (now && submission(now) === submission(held)) return null;
  return now
    ? { message: `A newer submission has arrived: round ${now.round}, tree ${now.tree.slice(0, 7)}`, hint: "Show it, then decide about it" }
    : { message: "What is shown does not wait for a review any more", hint: "Show what is there now" };
}

/** The diff to be shown: that of the submission as long as it is known, whatever the branch has become since. */
export function diffOf(review: ReviewView | null, kept: DiffView | undefined, now: DiffView | undefined): DiffView | undefined {
  if (!review || now?.to === review.submitted) return now;
  return kept?.to === review.submitted ? kept : now;
}
