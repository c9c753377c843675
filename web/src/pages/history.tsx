// The ledger, newest first; a record opens, and any record is a place to go to.
import { useMemo, useState } from "react";
import { useQuery } from "@tanstack/react-query";
import { get as ask } from "../api/client";
import { useHistory, type Seen } from "../api/queries";
import type { BoardView } from "../api/types";
import { useLive } from "../live/live";
import { useAddress } from "../lib/address";
import { kindWords, said, who, type LedgerRecord } from "../lib/events";
import { clock, day, money } from "../lib/said";
import { Awaited, Empty, Page, TaskLink } from "../ui/parts";
import { Filter } from "../ui/filter";
import { Rows } from "../ui/rows";
import { machinery } from "../ui/run";

const PAGE = 200;

export function fitsRecord(record: LedgerRecord, filter: string): boolean {
  const text = `${record.type} ${kindWords(record)} ${record.by} ${record.taskId ?? ""} ${said(record) ?? ""}`.toLowerCase();
  return filter
    .toLowerCase()
    .split(/\s+/)
    .filter(Boolean)
    .every((word) => (word.startsWith("!") ? word.length === 1 || !text.includes(word.slice(1)) : text.includes(word)));
}

function Record({ record, open, toggle, look }: { record: LedgerRecord; open: boolean; toggle: () => void; look: () => void }) {
  return (
    <div className="record" data-task={record.taskId}>
      <div className="line">
        <button type="button" className="fold" aria-expanded={open} onClick={toggle}>
          {open ? "▾" : "▸"} {record.seq}
        </button>
        <time dateTime={record.ts} title={day(record.ts)}>
          {clock(record.ts)}
        </time>
        <span className="about">{record.taskId ? <TaskLink id={record.taskId} /> : null}</span>
        <span className={said(record) ? "grow words" : "grow dim words"}>{said(record) ?? kindWords(record)}</span>
        <span className="dim by">{who(record.by)}</span>
        <button type="button" className="button small" onClick={look} aria-label={`Look at record ${record.seq}`}>
          Look
        </button>
      </div>
      {open ? (
        <pre className="prose" tabIndex={0}>
          {JSON.stringify(record, null, 2)}
        </pre>
      ) : null}
    </div>
  );
}

/** What is different between two records. */
function Compare({ a, b }: { a: number; b: number }) {
  const board = (at: number) => ({ queryKey: ["past", at, "/v1/board"], queryFn: () => ask<Seen<BoardView>>(`/v1/board?at=${at}`) });
  const [then, later] = [useQuery(board(a)).data?.view, useQuery(board(b)).data?.view];
  const changes = useMemo(() => {
    if (!then || !later) return [];
    const before = new Map(then.rows.map((row) => [row.id, row]));
    return later.rows.flatMap((row) => {
      const was = before.get(row.id);
      const words = (one: typeof row) => [one.word, one.detail].filter(Boolean).join(" ");
      return !was
        ? [{ id: row.id, title: row.title, was: "not in the plan", is: words(row) }]
        : words(was) === words(row)
          ? []
          : [{ id: row.id, title: row.title, was: words(was), is: words(row) }];
    });
  }, [then, later]);
  if (!then || !later) return <Empty>Reading both records …</Empty>;
  const cost = (later.status.usage.costMicros ?? 0) - (then.status.usage.costMicros ?? 0);
  return (
    <section className="card" aria-label={`From record ${a} to ${b}`}>
      <h2>
        From record {a} to {b}: {later.status.counts.done - then.status.counts.done} more done, {money(Math.max(0, cost))}
      </h2>
      {changes.length === 0 ? <Empty>No task is different.</Empty> : null}
      <ul className="plainlist">
        {changes.map((change) => (
          <li key={change.id}>
            <TaskLink id={change.id} title={change.title} /> <span className="dim">{change.was} →</span> {change.is}
          </li>
        ))}
      </ul>
    </section>
  );
}

export default function HistoryPage() {
  const { get, set, at } = useAddress();
  const newest = useLive().seq;
  const end = at ?? newest ?? 0;
  const all = machinery.use();
  const [pages, more] = useState(1);
  const wanted = Number(get("record")) || 0;
  const span = Math.max(PAGE * pages, wanted > 0 ? end - wanted + 20 : 0);
  const limit = Math.min(1000, span);
  const from = Math.max(1, end - limit + 1);
  const { data, error } = useHistory(from, limit, at !== null, end > 0);
  const filter = get("q");
  const shown = useMemo(() => {
    const records = ((data?.records ?? []) as LedgerRecord[]).filter((record) => record.seq <= end);
    return records.filter((record) => (all || record.seq === wanted || said(record) !== null) && fitsRecord(record, filter)).reverse();
  }, [data, end, all, filter, wanted]);
  const [a, b] = [Number(get("a")), Number(get("b"))];
  return (
    <Page title="History" side={<Filter hint="words, task, person, !not" />}>
      <form
        className="verbs"
        onSubmit={(event) => {
          event.preventDefault();
          const fields = new FormData(event.currentTarget);
          set({ a: String(fields.get("a")), b: String(fields.get("b")) }, true);
        }}
      >
        <button type="button" className="button" aria-pressed={all} onClick={() => machinery.set(!all)}>
          {all ? "Hide machinery" : "Show machinery"}
        </button>
        <button type="button" className="button" onClick={() => set({ at: 1 }, true)} disabled={at !== null}>
          Watch the film
        </button>
        <span className="push" />
        <label className="check">
          Compare <input name="a" type="text" inputMode="numeric" size={6} defaultValue={get("a") || 1} />
        </label>
        <label className="check">
          with <input name="b" type="text" inputMode="numeric" size={6} defaultValue={get("b") || end} key={get("b") ? "asked" : end} />
        </label>
        <button type="submit" className="button">
          Compare
        </button>
      </form>
      {a > 0 && b > a ? <Compare a={a} b={b} /> : null}
      {data ? null : <Awaited error={error} what="the ledger" />}
      <Rows
        items={shown}
        id={(record) => String(record.seq)}
        label="Records, newest first"
        height={34}
        className="lines records"
        row={(record) => (
          <Record
            record={record}
            open={record.seq === wanted}
            toggle={() => set({ record: record.seq === wanted ? null : record.seq })}
            look={() => set({ at: record.seq }, true)}
          />
        )}
      />
      {data && shown.length === 0 ? <Empty>No record fits.</Empty> : null}
      {from > 1 && limit < 1000 ? (
        <button type="button" className="button" onClick={() => more(pages + 1)}>
          Older
        </button>
      ) : null}
      {from > 1 && limit >= 1000 ? <p className="dim">Older ones: go back in time first (&lt;, or the scrubber).</p> : null}
    </Page>
  );
}
