// The last line: what became of the newest wish, its undo, and how old the page is.
import { useEffect, useRef } from "react";
import { useBoard } from "../api/queries";
import { useLive } from "../live/live";
import { undo } from "../lib/actions";
import { useAddress } from "../lib/address";
import { spoken } from "../lib/announce";
import { note, wishes, type Wish } from "../lib/wishes";
import { Act, To } from "./parts";

function WishLine({ wish }: { wish: Wish }) {
  const board = useBoard().data?.view;
  const operation = board?.operations.find((op) => op.id === wish.id);
  if (wish.state === "queued") return <span>… {wish.command.do.replaceAll("_", " ")}: queued</span>;
  if (wish.state === "lost")
    return <span className="warn">? {wish.command.do.replaceAll("_", " ")}: no answer came; it is asked again when the connection is back</span>;
  if (wish.state === "refused") {
    return (
      <span className="warn">
        ✗ {wish.error?.message} {wish.error?.hint ? <span className="dim">{wish.error.hint}</span> : null}
      </span>
    );
  }
  return (
    <span>
      <span className="g-done">✓</span> {wish.answer?.text}
      {operation ? (
        <>
          {" · "}
          <To path={`/operations/${encodeURIComponent(operation.id)}`}>operation {operation.seq}</To>
          {operation.state === "under_way" ? ` · under way${operation.step ? `: ${operation.step}` : ""}` : ""}
          {operation.state === "failed" ? " · failed" : ""}
          {operation.canBeUndone ? (
            <>
              {" "}
              <Act small onAct={() => undo(operation)}>
                Undo
              </Act>
            </>
          ) : null}
        </>
      ) : null}
    </span>
  );
}

export function Foot() {
  const [newest] = wishes.use();
  const said = note.use();
  const { phase, seq, coordinator } = useLive();
  const { at } = useAddress();
  const board = useBoard().data;
  const state = phase === "live" ? (coordinator ? "live" : "no coordinator") : phase;
  return (
    <footer className="foot">
      <div className="result">
        {said ? (
          <span className="warn">
            {said.message} {said.hint ? <span className="dim">{said.hint}</span> : null}
          </span>
        ) : newest ? (
          <WishLine wish={newest} />
        ) : (
          <span className="dim keyhint">? shows all keys</span>
        )}
      </div>
      <div className="dim since">
        {at === null ? state : "past"} · record {at ?? board?.seq ?? seq ?? "…"}
      </div>
    </footer>
  );
}

/** Speaks attention and results to screen readers. */
export function Spoken() {
  const { text, n } = spoken.use();
  return (
    <div className="spoken" role="log" aria-live="polite" aria-relevant="additions">
      {text ? <p key={n}>{text}</p> : null}
    </div>
  );
}

/** A new entry of the attention list is said once, and shown by the browser when nobody looks at the page. */
export function Herald() {
  const board = useBoard().data?.view;
  const known = useRef<Set<string> | null>(null);
  const { at } = useAddress();
  useEffect(() => {
    if (!board || at !== null) return;
    const first = known.current === null;
    const before = known.current ?? new Set<string>();
    known.current = new Set(board.attention.map((entry) => entry.id));
    if (first) return;
    for (const entry of board.attention.filter((one) => !before.has(one.id))) {
      spoken.set((now) => ({ text: `Needs you: ${entry.what}. ${entry.why}`, n: now.n + 1 }));
      if (document.hidden && "Notification" in window && Notification.permission === "granted") {
        new Notification(entry.what, { body: entry.why, tag: entry.id });
      }
    }
  }, [board, at]);
  return null;
}
