// The journal of a run: what is there is paged in, what comes is followed. A window of lines is kept in memory.
import { useEffect, useState } from "react";
import { errorOf } from "../api/client";
import { logPage } from "../api/queries";
import type { ApiError } from "../api/types";
import { live, type LogLine } from "../live/live";

export interface Journal {
  lines: LogLine[];
  /** Lines in front of the window that were let go. */
  dropped: number;
  ended: boolean;
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

const EMPTY: Journal = { lines: [], dropped: 0, ended: false, loaded: false, stopped: false, refused: null };
const PAGE = 1000;

/** Adds lines that are not there yet; keeps at most so many. */
export function grown(journal: Journal, lines: LogLine[], kept: number): Journal {
  const last = journal.lines.at(-1)?.n ?? 0;
  const fresh = lines.filter((line) => line.n > last);
  if (fresh.length === 0) return journal;
  const all = [...journal.lines, ...fresh];
  const over = Math.max(0, all.length - kept);
  return { ...journal, lines: over ? all.slice(over) : all, dropped: journal.dropped + over };
}

export function useJournal(run: string, kept = 10_000, mark: Mark | null = null): Journal {
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
      unfollow = live.follow(run, cursor, (lines, ended) => set((before) => ({ ...grown(before, lines, kept), ended: before.ended || ended })));
    };
    read().catch((thrown: unknown) => current && set((before) => ({ ...before, loaded: true, refused: errorOf(thrown) })));
    return () => {
      current = false;
      unfollow?.();
    };
  }, [run, kept, sought]);
  return journal;
}

// Colours and cursor moves of terminals: nothing here is a terminal.
const ESCAPES = /\u001b(?:\[[0-9;?]*[ -/]*[@-~]|\][^\u0007\u001b]*(?:\u0007|\u001b\\)?|[@-_])|[\u0000-\u0008\u000b-\u001f\u007f]/g;

export const plain = (text: string): string => text.replace(ESCAPES, "");
