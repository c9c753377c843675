// Records of one task, newest first, read backwards in pages: the ledger is asked for no more than is looked at.
import { useEffect, useState } from "react";
import { get } from "../api/client";
import type { HistoryPage } from "../api/types";
import type { LedgerRecord } from "./events";

const PAGE = 1000;

/** Whether a record is about the task. */
export function concerns(record: LedgerRecord, task: string): boolean {
  if (record.taskId === task) return true;
  const data = record.data ?? {};
  return data["task"] === task || data["subject"] === task || (Array.isArray(data["tasks"]) && data["tasks"].includes(task));
}

/** All records from one to another, oldest first: a page of long ones has fewer than were asked for, and says where it goes on. */
export async function recordsOf(from: number, to: number): Promise<LedgerRecord[]> {
  const found: LedgerRecord[] = [];
  for (let next = from; next <= to;) {
    const page = await get<HistoryPage>(`/v1/history?from=${next}&limit=${to - next + 1}`);
    found.push(...(page.records as LedgerRecord[]));
    if (!page.next || page.next <= next) break;
    next = page.next;
  }
  return found.filter((record) => record.seq <= to);
}

export interface TaskRecords {
  records: LedgerRecord[];
  /** The first record that was looked at; 1: all of them were. */
  from: number;
  older: () => void;
  /** There is more to come without being asked for. */
  reading: boolean;
  /** Why the last page could not be had. */
  error: unknown;
}

interface Read {
  records: LedgerRecord[];
  from: number;
  to: number;
}

/** `wanted` more pages are read when somebody asks; new records come by themselves as `end` grows. */
export function useTaskRecords(task: string, end: number | null, enough = 200): TaskRecords {
  const [state, set] = useState<Read>({ records: [], from: 0, to: 0 });
  const [wanted, want] = useState(enough);
  const [error, fail] = useState<unknown>(null);
  useEffect(() => {
    if (end === null) return;
    const page = async (from: number, to: number) => (await recordsOf(from, to)).filter((record) => concerns(record, task)).reverse();
    // One page at a time: what was read stays, also where records come faster than a long ledger can be read.
    const read = async () => {
      let { records, from, to } = state;
      if (to > end) [records, from, to] = [records.filter((record) => record.seq <= end), Math.min(from, end + 1), end];
      if (to === 0) [from, to] = [end + 1, end];
      if (to < end) {
        const next = Math.min(end, to + PAGE);
        [records, to] = [[...(await page(to + 1, next)), ...records], next];
      } else if (from > 1 && records.length < wanted) {
        const next = Math.max(1, from - PAGE);
        [records, from] = [[...records, ...(await page(next, from - 1))], next];
      }
      fail(null);
      if (from !== state.from || to !== state.to) set((now) => (now === state ? { records, from, to } : now));
    };
    read().catch(fail);
  }, [task, end, wanted, state]);
  const reading = end === null || state.to === 0 || (state.from > 1 && state.records.length < wanted);
  return { records: state.records, from: state.from, older: () => want((n) => n + enough), reading, error };
}
