// The ledger, newest first; a record opens, and any record is a place to go to.
import { useMemo, useState } from "react";
import { useQuery } from "@tanstack/react-query";
import { useLocation } from "wouter";
import { get as ask } from "../api/client";
import { useHistory, type Seen } from "../api/queries";
import type { BoardView } from "../api/types";
import { useLive } from "../live/live";
import { href, useAddress } from "../lib/address";
import { kindWords, said, who, type LedgerRecord } from "../lib/events";
import { between } from "../lib/between";
import { clock, count, day } from "../lib/said";
import { Awaited, Empty, Page, TaskLink, To } from "../ui/parts";
import { Filter } from "../ui/filter";
import { Rows } from "../ui/rows";
import { film } from "../ui/past";
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
  const found = useMemo(() => (then && later ? between(then, later) : null), [then, later]);
  if (!found) return <Empty>Reading both records …</Empty>;
  const nothing = found.tasks.length + found.swarm.length + found.came.length + found.went.length === 0;
  return (
    <section className="card compared" aria-label={`From record ${a} to ${b}`}>
      <h2>
        From record {a} to {b}
      </h2>
      <p className="dim">
        <To path="/board" params={{ at: a }}>
          the board at {a}
        </To>{" "}
        ·{" "}
        <To path="/board" params={{ at: b }}>
          at {b}
        </To>
      </p>
      {nothing ? <Empty>Nothing is different.</Empty> : null}
      {found.swarm.length ? (
        <dl className="facts">
          {found.swarm.map(({ what, was, is }) => (
            <div key={what}>
              <dt>{what}</dt>
              <dd>
                <span className="dim">{was || "nothing"} →</span> {is || "nothing"}
              </dd>
            </div>
          ))}
        </dl>
      ) : null}
      {found.tasks.length ? (
        <>
          <h3>{count(found.tasks.length, "task")}</h3>
          <Rows
            items={found.tasks}
            id={(change) => change.id}
            label="Tasks that are different"
            height={34}
            passive
            row={(change) => (
              <>
                <TaskLink id={change.id} title={change.title} /> <span className="dim">{change.was} →</span> {change.is}
              </>
            )}
          />
        </>
      ) : null}
      {(["came", "went"] as const).map((way) =>
        found[way].map(({ what, names }) => (
          <section key={`${way} ${what}`}>
            <h3>{way === "came" ? `New: ${what}` : `Over: ${what}`}</h3>
            <ul className="plainlist">
              {names.slice(0, 50).map((name, n) => (
                <li key={n}>{name}</li>
              ))}
            </ul>
            {names.length > 50 ? <p className="dim">and {names.length - 50} more</p> : null}
          </section>
        )),
      )}
    </section>
  );
}

export default function HistoryPage() {
  const { get, set, at } = useAddress();
  const [, navigate] = useLocation();
  const newest = useLive().seq;
  const end = at ?? newest ?? 0;
  const all = machinery.use();
  const [pages, more] = useState(1);
  const watch = () => {
    film.set(true);
    navigate(href("/", 1));
  };
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
        <button type="button" className="button" onClick={watch} disabled={at !== null}>
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
