// Everything that waits for a person, with the ways on as buttons.
import { useEffect, useMemo, useRef } from "react";
import { useBoard } from "../api/queries";
import type { AttentionEntry, BoardRow } from "../api/types";
import { choose, sentence } from "../lib/actions";
import { useAddress } from "../lib/address";
import { age, count } from "../lib/said";
import { terminalOnly, waysOn, type WayOn } from "../lib/ways";
import { Commands } from "../ui/commands";
import { Act, Awaited, Empty, Page, To, taskPath, useNow } from "../ui/parts";
import { Rows } from "../ui/rows";

function Way({ entry, way, n }: { entry: AttentionEntry; way: WayOn; n: number }) {
  const digit = <kbd aria-hidden="true">{n + 1}</kbd>;
  const tone = n === 0 ? "good" : "plain";
  if (way.kind === "review")
    return (
      <To path={taskPath(way.task)} params={{ tab: "review" }} className={`button ${tone}`} data-task={way.task}>
        {digit} {way.label}
      </To>
    );
  return (
    <Act onAct={() => choose(entry, way.choice)} tone={tone}>
      {digit} {sentence(way.choice.label)}
      {way.choice.asks_for ? " …" : ""}
    </Act>
  );
}

interface EntryProps {
  entry: AttentionEntry;
  now: number;
  /** Of its task. */
  title?: string | undefined;
  brief?: boolean;
  first?: boolean;
}

export function Entry({ entry, now, title, brief, first }: EntryProps) {
  const box = useRef<HTMLDivElement>(null);
  const { get } = useAddress();
  const ways = waysOn(entry);
  const wanted = get("entry") === entry.id || (first === true && get("entry") === "first");
  useEffect(() => {
    if (wanted && !brief) box.current?.focus();
  }, [wanted, brief]);
  return (
    <div className="entry" ref={box} tabIndex={-1} data-entry={entry.id} data-task={entry.task ?? undefined} role="group" aria-label={entry.what}>
      <div className="entryhead">
        <span className="g-needs_you" aria-hidden="true">
          !
        </span>
        <strong>{entry.what}</strong>
        <span className="dim"> {age(now, entry.since)}</span>
      </div>
      {title ? <p className="entrytitle">{title}</p> : null}
      {entry.why ? <p className="why">{entry.why}</p> : null}
      <div className="ways">
        {ways.map((way, n) => (
          <Way key={way.kind === "review" ? "review" : way.choice.label} entry={entry} way={way} n={n} />
        ))}
        {entry.task && ways[0]?.kind !== "review" ? (
          <To path={taskPath(entry.task)} className="button plain" data-task={entry.task}>
            Look at {entry.task}
          </To>
        ) : null}
      </div>
      {brief && ways.length > 0 ? null : <Commands lines={terminalOnly(entry)} />}
    </div>
  );
}

const useTitles = (rows: BoardRow[] | undefined) => useMemo(() => new Map(rows?.map((row) => [row.id, row.title])), [rows]);

export function AttentionPage() {
  const { data, error } = useBoard();
  const now = useNow();
  const entries = data?.view.attention ?? [];
  const titles = useTitles(data?.view.rows);
  return (
    <Page
      title="Attention"
      side={data ? <span className="dim">{entries.length === 1 ? "1 thing needs you" : `${count(entries.length, "thing")} need you`}</span> : null}
    >
      {data ? null : <Awaited error={error} what="what waits for you" />}
      {data && entries.length === 0 ? <Empty>Nothing waits for you.</Empty> : null}
      <Rows
        items={entries}
        id={(entry) => entry.id}
        label="What waits for you"
        height={120}
        className="entries"
        row={(entry, n) => <Entry entry={entry} now={now} title={titles.get(entry.task ?? "")} first={n === 0} />}
      />
      <Notify />
    </Page>
  );
}

/** Notifications come only while the page is hidden, and only when somebody asked for them. */
function Notify() {
  if (!("Notification" in window) || Notification.permission !== "default") return null;
  return (
    <p className="dim after">
      <button type="button" className="button small" onClick={() => void Notification.requestPermission()}>
        Notify me
      </button>{" "}
      when something new waits and this page is hidden
    </p>
  );
}
