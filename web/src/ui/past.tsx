// The past as a place: every page at any record, and the film.
import { useEffect, useRef, useState } from "react";
import { useHistory } from "../api/queries";
import { useLive } from "../live/live";
import { useAddress } from "../lib/address";
import { said, type LedgerRecord } from "../lib/events";
import { clock, day } from "../lib/said";
import { store } from "../lib/store";

const SPEEDS = [1, 10, 60, 600];
const PAGE = 200;
/** Nobody wants to watch a night in which nothing happened. */
const LONGEST_MS = 1200;
const SHORTEST_MS = 120;

/** How long a picture of the film stands, from the times of two records. */
export function pictureMs(from: string, to: string, speed: number): number {
  const real = Math.max(0, Date.parse(to) - Date.parse(from));
  return Math.min(LONGEST_MS, Math.max(SHORTEST_MS, real / speed));
}

/** The last record of the decision that this one belongs to: a half decision is no state. */
function endOfBatch(record: LedgerRecord | undefined, seq: number): number {
  return typeof record?.["batch"] === "number" ? (record["batch"] as number) : seq;
}

/** Whether the past runs by itself. */
export const film = store(false);

export function PastBar() {
  const { at, set, go } = useAddress();
  const last = useLive().seq ?? at ?? 1;
  const playing = film.use();
  const play = film.set;
  const [speed, setSpeed] = useState(60);
  const page = at === null ? 1 : Math.floor((at - 1) / PAGE) * PAGE + 1;
  const { data } = useHistory(page, PAGE + 1, page + PAGE <= last, at !== null);
  const records = (data?.records ?? []) as LedgerRecord[];
  const here = records.find((record) => record.seq === at);
  const next = at === null ? undefined : records.find((record) => record.seq > at);
  const timer = useRef<ReturnType<typeof setTimeout> | undefined>(undefined);
  useEffect(() => {
    clearTimeout(timer.current);
    if (at === null && playing) play(false);
    if (!playing || at === null) return;
    if (at >= last) return play(false);
    const to = Math.min(last, next ? endOfBatch(next, next.seq) : at + 1);
    timer.current = setTimeout(() => set({ at: to }), here && next ? pictureMs(here.ts, next.ts, speed) : SHORTEST_MS);
    return () => clearTimeout(timer.current);
  }, [playing, at, last, here, next, speed, set]);
  if (at === null) return null;
  return (
    <section className="past" aria-label="The past">
      <strong>PAST</strong>
      <span className="when">
        record {at} of {last}
        {here ? ` · ${day(here.ts)} ${clock(here.ts)}` : ""}
      </span>
      <span className="what">{here ? `${here.taskId ? `${here.taskId} ` : ""}${said(here) ?? here.type.replaceAll("_", " ")}` : ""}</span>
      <span className="controls">
        <button type="button" className="button small" aria-label="One record back" disabled={at <= 1} onClick={() => set({ at: at - 1 })}>
          ‹
        </button>
        <button type="button" className="button small" onClick={() => play(!playing)} disabled={at >= last}>
          {playing ? "Halt" : "Play"}
        </button>
        <select aria-label="Speed of the film" value={speed} onChange={(event) => setSpeed(Number(event.target.value))}>
          {SPEEDS.map((one) => (
            <option key={one} value={one}>
              {one}×
            </option>
          ))}
        </select>
        <button type="button" className="button small" aria-label="One record forth" disabled={at >= last} onClick={() => set({ at: at + 1 })}>
          ›
        </button>
      </span>
      <input
        type="range"
        min={1}
        max={Math.max(last, at)}
        value={at}
        aria-label="Record"
        onChange={(event) => set({ at: Number(event.target.value) })}
      />
      <button
        type="button"
        className="button small"
        disabled={at >= last}
        onClick={() => go("/history", { a: at, b: last })}
        title={`What is different at record ${last}`}
      >
        Compare
      </button>
      <button type="button" className="button small good" onClick={() => set({ at: null })}>
        Present
      </button>
    </section>
  );
}
