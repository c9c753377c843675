// Everything that waits for a person, with the ways on as buttons.
import { useEffect, useRef } from "react";
import { useBoard } from "../api/queries";
import type { AttentionEntry } from "../api/types";
import { choose, sentence } from "../lib/actions";
import { useAddress } from "../lib/address";
import { age, count } from "../lib/said";
import { Act, Awaited, Empty, Page, To, taskPath, useNow } from "../ui/parts";
import { Rows } from "../ui/rows";

/** Where to look before deciding. */
function Look({ entry }: { entry: AttentionEntry }) {
  if (!entry.task) return null;
  const tab = entry.kind === "review" ? { tab: "review" } : {};
  return (
    <To path={taskPath(entry.task)} params={tab} className="button plain" data-task={entry.task}>
      Look at {entry.task}
    </To>
  );
}

export function Entry({ entry, now, brief, first }: { entry: AttentionEntry; now: number; brief?: boolean; first?: boolean }) {
  const box = useRef<HTMLDivElement>(null);
  const { get } = useAddress();
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
      {entry.why ? <p className="why">{entry.why}</p> : null}
      <div className="ways">
        {entry.choices.map((choice, n) => (
          <Act key={choice.label} onAct={() => choose(entry, choice)} {...(n === 0 ? { tone: "good" as const } : {})}>
            <kbd aria-hidden="true">{n + 1}</kbd> {sentence(choice.label)}
            {choice.asks_for ? " …" : ""}
          </Act>
        ))}
        <Look entry={entry} />
      </div>
      {entry.choices.length === 0 && entry.commands.length > 0 ? (
        <p className="dim">
          On the command line:{" "}
          {entry.commands.map((line) => (
            <code key={line}>{line}</code>
          ))}
        </p>
      ) : null}
    </div>
  );
}

export function AttentionPage() {
  const { data, error } = useBoard();
  const now = useNow();
  const entries = data?.view.attention ?? [];
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
        row={(entry, n) => <Entry entry={entry} now={now} first={n === 0} />}
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
