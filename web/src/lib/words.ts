// Which words of a changed line are new. Computed for what is looked at, not for whole diffs.
import type { PatchLine } from "./patch";

export interface Piece {
  text: string;
  marked: boolean;
}

const TOKENS_MAX = 160;

const tokens = (text: string): string[] => text.match(/[\p{L}\p{N}_]+|\s+|[^\p{L}\p{N}_\s]/gu) ?? [];

/** For each token of both sides: does the other side have it, in the same order? */
function common(a: string[], b: string[]): [boolean[], boolean[]] {
  const width = b.length + 1;
  const table = new Uint16Array((a.length + 1) * width);
  const at = (i: number, j: number) => table[i * width + j] as number;
  for (let i = a.length - 1; i >= 0; i--) {
    for (let j = b.length - 1; j >= 0; j--) {
      table[i * width + j] = a[i] === b[j] ? at(i + 1, j + 1) + 1 : Math.max(at(i + 1, j), at(i, j + 1));
    }
  }
  const [left, right] = [a.map(() => false), b.map(() => false)];
  for (let i = 0, j = 0; i < a.length && j < b.length;) {
    if (a[i] === b[j]) {
      left[i++] = true;
      right[j++] = true;
    } else if (at(i + 1, j) >= at(i, j + 1)) i++;
    else j++;
  }
  return [left, right];
}

function pieces(parts: string[], same: boolean[]): Piece[] {
  const out: Piece[] = [];
  parts.forEach((text, n) => {
    const marked = !same[n];
    const last = out.at(-1);
    if (last && last.marked === marked) last.text += text;
    else out.push({ text, marked });
  });
  return out;
}

/** Both lines with what differs marked; none where they have so little in common that marks would only confuse. */
export function wordDiff(before: string, after: string): { before: Piece[]; after: Piece[] } | null {
  const [a, b] = [tokens(before), tokens(after)];
  if (a.length > TOKENS_MAX || b.length > TOKENS_MAX) return null;
  const [left, right] = common(a, b);
  const letters = (parts: string[], same: boolean[]) => parts.reduce((sum, part, n) => sum + (same[n] && part.trim() ? part.length : 0), 0);
  const shorter = Math.min(before.trim().length, after.trim().length);
  if (shorter === 0 || letters(a, left) < shorter * 0.3) return null;
  return { before: pieces(a, left), after: pieces(b, right) };
}

export interface Row {
  left: PatchLine | null;
  right: PatchLine | null;
}

/** Lines beside one another: removed ones meet those added in their place. */
export function sideBySide(lines: PatchLine[]): Row[] {
  const rows: Row[] = [];
  for (let i = 0; i < lines.length;) {
    const line = lines[i] as PatchLine;
    if (line.kind === " ") {
      rows.push({ left: line, right: line });
      i++;
      continue;
    }
    const removed: PatchLine[] = [];
    const added: PatchLine[] = [];
    for (; i < lines.length && lines[i]?.kind === "-"; i++) removed.push(lines[i] as PatchLine);
    for (; i < lines.length && lines[i]?.kind === "+"; i++) added.push(lines[i] as PatchLine);
    for (let n = 0; n < Math.max(removed.length, added.length); n++) rows.push({ left: removed[n] ?? null, right: added[n] ?? null });
  }
  return rows;
}

/** The line that each changed line is compared with. */
export function partners(lines: PatchLine[]): Map<PatchLine, PatchLine> {
  const pairs = new Map<PatchLine, PatchLine>();
  for (const { left, right } of sideBySide(lines)) {
    if (left && right && left !== right) pairs.set(left, right).set(right, left);
  }
  return pairs;
}
