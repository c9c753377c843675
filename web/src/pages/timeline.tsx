// What happened to a task: newest first, by attempt, quiet hours squeezed, machinery folded.
import { useMemo } from "react";
import { said, kindWords, who, type LedgerRecord } from "../lib/events";
import type { TaskRecords } from "../lib/records";
import { age, clock, day, money, short, tokens } from "../lib/said";
import { Awaited, Empty, To } from "../ui/parts";
import { machinery } from "../ui/run";

const QUIET_MS = 30 * 60_000;

interface Item {
  record: LedgerRecord;
  words: string;
  /** Quiet time between this one and the next older one. */
  quiet: string;
  /** Begins an attempt. */
  attempt: string;
}

function iterationWords(data: Record<string, unknown>): string {
  const usage = data["usage"] as { inputTokens?: number; outputTokens?: number; costMicros?: number } | undefined;
  const cost = usage ? `, ${tokens((usage.inputTokens ?? 0) + (usage.outputTokens ?? 0))} tokens, ${money(usage.costMicros ?? 0)}` : "";
  return `iteration ${data["iteration"] ?? ""} ended at ${short(String(data["tip"] ?? ""))}${cost}`;
}

export function items(records: LedgerRecord[], all: boolean): Item[] {
  const lines = records.flatMap((record) => {
    const words = record.type === "iteration" ? iterationWords(record.data ?? {}) : said(record);
    return words || all ? [{ record, words: words ?? kindWords(record) }] : [];
  });
  return lines.map(({ record, words }, n) => {
    const older = lines[n + 1]?.record;
    const gap = older ? Date.parse(record.ts) - Date.parse(older.ts) : 0;
    return {
      record,
      words,
      quiet: gap > QUIET_MS && older ? age(Date.parse(record.ts), older.ts) : "",
      attempt: record.type === "task_claimed" ? String(record.data?.["attempt"] ?? "") : "",
    };
  });
}

export function Timeline({ records }: { records: TaskRecords }) {
  const all = machinery.use();
  const list = useMemo(() => items(records.records, all), [records.records, all]);
  const hidden = records.records.length - list.length;
  return (
    <div className="timeline">
      <p className="dim">
        <button type="button" className="button small" aria-pressed={all} onClick={() => machinery.set(!all)}>
          {all ? "Hide machinery" : `Show machinery${hidden ? ` (${hidden})` : ""}`}
        </button>
      </p>
      {records.error || (list.length === 0 && records.reading) ? (
        <Awaited error={records.error} what="what happened to it" />
      ) : list.length === 0 ? (
        <Empty>Nothing has happened to it yet.</Empty>
      ) : null}
      <ol>
        {list.map(({ record, words, quiet, attempt }) => (
          <li key={record.seq} className={attempt ? "attempt" : undefined}>
            <time dateTime={record.ts} title={day(record.ts)}>
              {clock(record.ts)}
            </time>
            <span className="dim by">{who(record.by)}</span>
            <span className="words">
              {words}
              {typeof record.data?.["run"] === "string" && attempt ? (
                <>
                  {" "}
                  · <To path={`/runs/${String(record.data["run"])}`}>log of {String(record.data["run"])}</To>
                </>
              ) : null}
            </span>
            <To path="/history" params={{ record: record.seq }} className="dim seq">
              {record.seq}
            </To>
            {quiet ? <span className="quiet">┄ {quiet} quiet ┄</span> : null}
          </li>
        ))}
      </ol>
      {records.from > 1 ? (
        <button type="button" className="button" onClick={records.older}>
          Older
        </button>
      ) : null}
    </div>
  );
}
