// The journal of a run: what is there is paged in, what comes is followed. A window of lines is kept in memory.
import { useEffect, useState } from "react";
import { errorOf } from "../api/client";
import { logPage } from "../api/queries";
import type { ApiError } from "../api/types";
import { live, type LogLine } from "../live/live";
import { shown } from "./shown";

export interface Journal {
  lines: LogLine[];
  /** Lines in front of the window that were let go. */
  dropped: number;
  /** The newest line that was heard of. */
  newest: number;
  /** Lines behind the window that were not kept, because somebody reads in it. */
  missed: number;
  ended: boolean;
  /** It could not be followed any further, and nobody knows whether the run goes on. */
  lost: boolean;
  loaded: boolean;
  /** There is more, which was not read, so that what was looked for stays in the window. */
  stopped: boolean;
  refused: ApiError | null;
}

/** A place in a journal: a line by its number, or where an iteration begins. */
export type Mark = { line: number } | { iteration: number };

const BEGINS = /^iteration (\d+) begins\b/;

/** Which iteration begins with this line. Only the daemon's own lines say so; a program can print what it likes. */
export const iterationAt = (line: LogLine): number | null => (line.stream === "swarm" ? Number(BEGINS.exec(line.text)?.[1] ?? 0) || null : null);

export const isMarked = (line: LogLine, mark: Mark): boolean => ("line" in mark ? line.n >= mark.line : iterationAt(line) === mark.iteration);

export const EMPTY: Journal = {
  lines: [],
  dropped: 0,
  newest: 0,
  missed: 0,
  ended: false,
  lost: false,
  loaded: false,
  stopped: false,
  refused: null,
};
const NOBODY = { current: false };
const PAGE = 1000;

/**
 * Adds lines that are not there yet; keeps at most so many. What somebody reads is not taken away from below their eyes:
 * twice as many are kept then, and what comes after those is only counted.
 */
export function grown(journal: Journal, lines: LogLine[], kept: number, read = false): Journal {
  const fresh = lines.filter((line) => line.n > journal.newest);
  const newest = fresh.at(-1)?.n;
  if (newest === undefined) return journal;
  if (journal.missed > 0 || (read && journal.lines.length + fresh.length > 2 * kept)) {
    return { ...journal, newest, missed: journal.missed + fresh.length };
  }
  const all = [...journal.lines, ...fresh];
  const over = read ? 0 : Math.max(0, all.length - kept);
  return { ...journal, newest, lines: over ? all.slice(over) : all, dropped: journal.dropped + over };
}

/** How many of these lines, which are in order, stand behind that one. */
export function newer(lines: LogLine[], n: number): number {
  let count = 0;
  while ((lines[lines.length - 1 - count]?.n ?? n) > n) count++;
  return count;
}

/** `reading`: whether somebody reads above the end. `again`: another number reads it anew. */
export function useJournal(
  run: string,
  kept = 10_000,
  mark: Mark | null = null,
  reading: { readonly current: boolean } = NOBODY,
  again = 0,
): Journal {
  const [journal, set] = useState<Journal>(EMPTY);
  const sought = JSON.stringify(mark);
  useEffect(() => {
    let current = true;
    let unfollow: (() => void) | undefined;
    set(EMPTY);
    const mark = JSON.parse(sought) as Mark | null;
    const read = async () => {
      let [cursor, after] = [0, null as number | null];
      for (;;) {
        const page = await logPage(run, cursor, PAGE);
        if (!current) return;
        const lines = page.lines as LogLine[];
        set((before) => grown(before, lines, kept));
        cursor = page.cursor;
        if (after !== null) after += lines.length;
        else if (mark && lines.some((line) => isMarked(line, mark))) after = lines.length;
        if (after !== null && after > kept / 2 && !page.end) return set((before) => ({ ...before, loaded: true, stopped: true }));
        if (page.end || page.lines.length === 0) break;
      }
      set((before) => ({ ...before, loaded: true }));
      unfollow = live.follow(run, cursor, (lines, going) =>
        set((before) => ({
          ...grown(before, lines, kept, reading.current),
          ended: before.ended || going === "over",
          lost: going === "lost",
        })),
      );
    };
    read().catch((thrown: unknown) => current && set((before) => ({ ...before, loaded: true, refused: errorOf(thrown) })));
    return () => {
      current = false;
      unfollow?.();
    };
  }, [run, kept, sought, reading, again]);
  return journal;
}

// Colours and cursor moves of terminals: nothing here is a terminal.
const ESCAPES = /\u001b(?:\[[0-9;?]*[ -/]*[@-~]|\][^\u0007\u001b]*(?:\u0007|\u001b\\)?|[@-_])|[\u0000-\u0008\u000b-\u001f\u007f]/g;

export const plain = (text: string): string => shown(text.replace(ESCAPES, ""));
