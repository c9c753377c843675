// A journal on the screen: opens at the end, scrolling up stops following, lines are in the page only while they can be seen.
import { useVirtualizer } from "@tanstack/react-virtual";
import { useEffect, useMemo, useRef, useState } from "react";
import type { LogLine } from "../live/live";
import { clock } from "../lib/said";
import { isMarked, iterationAt, newer, plain, useJournal, type Journal, type Mark } from "../lib/journal";
import { remember, remembered } from "../lib/local";
import { Empty, To } from "./parts";
import { pageKeys, wrap } from "./run";

const NEAR_END_PX = 40;

/** There are lines of the journal that are not in the window. */
const isPart = (journal: Journal): boolean => journal.dropped > 0 || journal.missed > 0 || journal.stopped;

function download(run: string, journal: Journal): void {
  const { lines } = journal;
  const part = isPart(journal) ? `-lines-${lines[0]?.n}-${lines.at(-1)?.n}` : "";
  const text = lines.map((line) => `${line.n}\t${line.ts}\t${line.stream}\t${plain(line.text)}`).join("\n");
  const url = URL.createObjectURL(new Blob([text], { type: "text/plain" }));
  const link = document.createElement("a");
  [link.href, link.download] = [url, `${run}${part}.log`];
  link.click();
  URL.revokeObjectURL(url);
}

/** Where an iteration, a tool or a signal begins. */
const landmark = (line: LogLine): boolean => line.stream === "swarm" || line.stream === "tool";

function useScrolling(lines: LogLine[], journal: Journal, elsewhere: boolean) {
  const box = useRef<HTMLDivElement>(null);
  const [following, follow] = useState(!elsewhere);
  const [seenTo, see] = useState(0);
  const { loaded, missed } = journal;
  // Counted by their numbers: a window that is full has as many lines as before.
  const [count, newest] = [lines.length, lines.at(-1)?.n ?? 0];
  const virtual = useVirtualizer({ count, getScrollElement: () => box.current, estimateSize: () => 20, overscan: 20 });
  useEffect(() => {
    if (!following || count === 0) return;
    virtual.scrollToIndex(count - 1, { align: "end" });
    see(newest);
  }, [following, count, newest, virtual]);
  // What was there when it was opened is not new.
  useEffect(() => {
    if (loaded) see(newest);
    // Only in the moment when everything has been read.
  }, [loaded]);
  const scrolled = () => {
    const node = box.current;
    if (!node) return;
    const atEnd = node.scrollTop + node.clientHeight >= node.scrollHeight - NEAR_END_PX;
    if (atEnd !== following) follow(atEnd);
    if (!atEnd && following) see(newest);
  };
  return { box, virtual, following, follow, scrolled, fresh: following || !loaded ? 0 : newer(lines, seenTo) + missed };
}

interface Shown {
  run: string;
  label: string;
  tall?: boolean;
  /** Where to look, in place of the end. */
  mark?: Mark | null;
  permalinks?: boolean;
}

export function Log({ run, label, tall, mark = null, permalinks }: Shown) {
  const [whole, readWhole] = useState(false);
  const reading = useRef(false);
  const [again, readAgain] = useState(0);
  const journal = useJournal(run, tall ? 10_000 : 1000, whole ? null : mark, reading, again);
  const [filter, setFilter] = useState("");
  const [times, setTimes] = useState(remembered("times") === "yes");
  const wrapped = wrap.use();
  const lines = useMemo(() => {
    const words = filter.toLowerCase();
    return words ? journal.lines.filter((line) => line.text.toLowerCase().includes(words) || line.stream === words) : journal.lines;
  }, [journal.lines, filter]);
  const { box, virtual, following, follow, scrolled, fresh } = useScrolling(lines, journal, mark !== null && !whole);
  useEffect(() => {
    reading.current = !following;
    // Whoever is back at the end gets what was not kept meanwhile.
    if (following && journal.missed > 0) readAgain((n) => n + 1);
  }, [following, journal.missed]);
  const start = mark && !whole ? lines.findIndex((line) => isMarked(line, mark)) : -1;
  const at = lines[start]?.n;
  useEffect(() => {
    if (start >= 0) virtual.scrollToIndex(start, { align: "center" });
  }, [start, virtual]);
  useEffect(() => {
    if (!tall) return;
    const heard = (event: Event) => {
      const action = (event as CustomEvent<string>).detail;
      if (action === "last") follow(true);
      if (action !== "mark:next" && action !== "mark:previous") return;
      const here = virtual.getVirtualItems().find((item) => item.start >= (box.current?.scrollTop ?? 0))?.index ?? 0;
      const next =
        action === "mark:next"
          ? lines.findIndex((line, n) => n > here && landmark(line))
          : lines.findLastIndex((line, n) => n < here && landmark(line));
      if (next >= 0) virtual.scrollToIndex(next, { align: "start" });
    };
    pageKeys.addEventListener("action", heard);
    return () => pageKeys.removeEventListener("action", heard);
  }, [tall, lines, virtual, box, follow]);
  return (
    <div className={`log${tall ? " tall" : ""}${permalinks ? " permalinks" : ""}${wrapped ? " wrapped" : ""}`}>
      {tall ? (
        <div className="logbar">
          <input
            type="search"
            aria-label="Filter lines"
            placeholder="filter lines"
            value={filter}
            onChange={(event) => setFilter(event.target.value)}
          />
          <button
            type="button"
            className="button small"
            aria-pressed={times}
            onClick={() => {
              setTimes(!times);
              remember("times", times ? null : "yes");
            }}
          >
            Times
          </button>
          <button type="button" className="button small" aria-pressed={wrapped} onClick={() => wrap.set(!wrapped)}>
            Wrap
          </button>
          <button type="button" className="button small" onClick={() => download(run, journal)}>
            {isPart(journal) ? `Download these ${journal.lines.length} lines` : "Download"}
          </button>
          <span className="dim">
            {lines.length} lines{journal.dropped ? `, ${journal.dropped} older not shown` : ""}
            {journal.missed ? `, ${journal.missed} newer not shown` : ""}
            {journal.ended
              ? ", over"
              : journal.lost
                ? ", nothing more can be read: reload the page to try again"
                : following && !journal.refused && !journal.stopped
                  ? ", following"
                  : ""}
          </span>
        </div>
      ) : null}
      <div className="loglines" ref={box} onScroll={scrolled} tabIndex={0} role="region" aria-label={label}>
        {journal.loaded && lines.length === 0 ? (
          <Empty>{journal.refused ? journal.refused.message : filter ? "No line fits." : "Nothing printed yet."}</Empty>
        ) : null}
        <div className="spacer" style={{ height: virtual.getTotalSize() }}>
          {virtual.getVirtualItems().map((part) => {
            const line = lines[part.index];
            if (!line) return null;
            return (
              <div
                key={line.n}
                ref={virtual.measureElement}
                data-index={part.index}
                id={permalinks ? `n${line.n}` : undefined}
                className={`logline s-${line.stream}${line.n === at ? " here" : ""}`}
                style={{ transform: `translateY(${part.start}px)` }}
              >
                {permalinks ? (
                  <a className="n" href={`#n${line.n}`}>
                    {line.n}
                  </a>
                ) : (
                  <span className="n">{line.n}</span>
                )}
                {times ? <time dateTime={line.ts}>{clock(line.ts)}</time> : null}
                <span className="stream">{line.stream === "out" ? "" : line.stream}</span>
                <span className="text">
                  {plain(line.text)}
                  {permalinks && iterationAt(line) !== null ? (
                    <>
                      {" "}
                      <To path={`/runs/${run}`} params={{ iteration: iterationAt(line) }}>
                        prompt
                      </To>
                    </>
                  ) : null}
                </span>
              </div>
            );
          })}
        </div>
      </div>
      {journal.stopped ? (
        <button
          type="button"
          className="button small tofollow"
          onClick={() => {
            readWhole(true);
            follow(true);
          }}
        >
          ↓ to the end
        </button>
      ) : following ? null : (
        <button type="button" className="button small tofollow" onClick={() => follow(true)}>
          ↓ {fresh ? `${fresh} new` : "follow"}
        </button>
      )}
    </div>
  );
}
