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

export interface TaskRecords {
  records: LedgerRecord[];
  /** The first record that was looked at; 1: all of them were. */
  from: number;
  older: () => void;
}

/** `wanted` more pages are read when somebody asks; new records come by themselves as `end` grows. */
export function useTaskRecords(task: string, end: number | null, enough = 200): TaskRecords {
  const [state, set] = useState<{ records: LedgerRecord[]; from: number; to: number }>({ records: [], from: 0, to: 0 });
  const [wanted, want] = useState(enough);
  useEffect(() => {
    if (end === null) return;
    let current = true;
    const page = async (from: number, to: number) => {
      const found = await get<HistoryPage>(`/v1/history?from=${from}&limit=${to - from + 1}`);
      return (found.records as LedgerRecord[]).filter((record) => record.seq <= to && concerns(record, task)).reverse();
    };
    const read = async () => {
      let { records, from, to } = state;
      if (to > end) [records, from, to] = [records.filter((record) => record.seq <= end), from, end];
      if (to === 0) [from, to] = [end + 1, end];
      for (let at = to + 1; at <= end; at += PAGE) records = [...(await page(at, Math.min(end, at + PAGE - 1))), ...records];
      while (current && from > 1 && records.length < wanted) {
        const next = Math.max(1, from - PAGE);
        records = [...records, ...(await page(next, from - 1))];
        from = next;
      }
      if (current && (from !== state.from || end !== state.to)) set({ records, from, to: end });
    };
    read().catch(() => {});
    return () => {
      current = false;
    };
  }, [task, end, wanted, state]);
  return { records: state.records, from: state.from, older: () => want((n) => n + enough) };
}
