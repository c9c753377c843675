// What is typed behind `/`: words, `stage:review`, `tag:docs`, and `!` before any of them.
import type { BoardRow } from "../api/types";

export type Filterable = Pick<BoardRow, "id" | "title" | "status" | "word" | "detail" | "agent" | "tags">;

/** All of the words have to fit. */
export function fits(row: Filterable, filter: string): boolean {
  return filter
    .toLowerCase()
    .split(/\s+/)
    .filter(Boolean)
    .every((word) => fitsWord(row, word));
}

function fitsWord(row: Filterable, word: string): boolean {
  if (word.startsWith("!")) return word.length === 1 || !fitsWord(row, word.slice(1));
  if (word.startsWith("stage:")) {
    const stage = word.slice("stage:".length);
    return [row.status, row.word].some((name) => name.toLowerCase().startsWith(stage));
  }
  if (word.startsWith("tag:")) {
    const tag = word.slice("tag:".length);
    return row.tags.some((name) => name.toLowerCase().startsWith(tag));
  }
  return [row.id, row.title, row.word, row.detail, row.agent ?? ""].some((text) => text.toLowerCase().includes(word));
}

/** How well a text fits what was typed: every letter in order, runs and beginnings of words count more. Zero: not at all. */
export function fuzzy(text: string, typed: string): number {
  const [whole, letters] = [text.toLowerCase(), typed.toLowerCase().replaceAll(" ", "")];
  let [score, at, run] = [1, 0, 0];
  for (const letter of letters) {
    const found = whole.indexOf(letter, at);
    if (found < 0) return 0;
    run = found === at && at > 0 ? run + 1 : 0;
    score += 1 + run * 2 + (found === 0 || /[\s.\-_/]/.test(whole[found - 1] ?? " ") ? 3 : 0);
    at = found + 1;
  }
  // The very words go before letters that only happen to stand there in this order.
  const words = typed.toLowerCase().trim();
  if (whole.startsWith(words)) score += 200;
  else if (whole.includes(words)) score += 100;
  return score - whole.length / 1000;
}
