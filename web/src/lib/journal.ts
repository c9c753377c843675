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
  refused: ApiError | null;
}

const EMPTY: Journal = { lines: [], dropped: 0, ended: false, loaded: false, refused: null };
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

export function useJournal(run: string, kept = 10_000): Journal {
  const [journal, set] = useState<Journal>(EMPTY);
  useEffect(() => {
    let current = true;
    let unfollow: (() => void) | undefined;
    set(EMPTY);
    const read = async () => {
      let cursor = 0;
      for (;;) {
        const page = await logPage(run, cursor, PAGE);
        if (!current) return;
        set((before) => grown(before, page.lines as LogLine[], kept));
        cursor = page.cursor;
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
  }, [run, kept]);
  return journal;
}

// Colours and cursor moves of terminals: nothing here is a terminal.
const ESCAPES = /\u001b(?:\[[0-9;?]*[ -/]*[@-~]|\][^\u0007\u001b]*(?:\u0007|\u001b\\)?|[@-_])|[\u0000-\u0008\u000b-\u001f\u007f]/g;

export const plain = (text: string): string => text.replace(ESCAPES, "");
