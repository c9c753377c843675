// What a command would do, as the coordinator says it: a contract, sent back with the command.
import { useEffect, useRef, useState, type RefObject } from "react";
import { errorOf, preview as askPreview } from "../api/client";
import type { ApiError, Command, PreviewView, StopView } from "../api/types";
import { useLive } from "../live/live";
import { count } from "../lib/said";

export interface Looked {
  view: PreviewView | null;
  refused: ApiError | null;
  again: () => void;
}

/** Asks what the command would do; asks anew when it changes. */
export function usePreview(command: Command | null): Looked {
  const [looked, set] = useState<{ view: PreviewView | null; refused: ApiError | null }>({ view: null, refused: null });
  const [round, next] = useState(0);
  const key = JSON.stringify(command);
  useEffect(() => {
    let current = true;
    set({ view: null, refused: null });
    const wish = JSON.parse(key) as Command | null;
    if (wish) {
      askPreview(wish).then(
        (view) => current && set({ view, refused: null }),
        (thrown: unknown) => current && set({ view: null, refused: errorOf(thrown) }),
      );
    }
    return () => {
      current = false;
    };
  }, [key, round]);
  return { ...looked, again: () => next((n) => n + 1) };
}

function stopped(stop: StopView): string {
  const who = stop.agent ? `${stop.agent} on ${stop.task}` : `the ${stop.kind} of ${stop.task}`;
  return stop.savedTo ? `${who}; ${count(stop.filesInAll, "changed file")} kept at ${stop.savedTo}` : `${who}; nothing is uncommitted`;
}

function Part({ head, lines }: { head: string; lines: string[] }) {
  if (lines.length === 0) return null;
  return (
    <section>
      <h3>{head}</h3>
      <ul>
        {lines.map((line, n) => (
          <li key={n}>{line}</li>
        ))}
      </ul>
    </section>
  );
}

/** True once the end of the box has been on the screen. */
function useSeenEnd(box: RefObject<HTMLDivElement | null>, there: boolean): boolean {
  const [seen, see] = useState(false);
  useEffect(() => {
    const node = box.current;
    if (!there || !node) return see(false);
    const look = () => node.scrollTop + node.clientHeight >= node.scrollHeight - 4 && see(true);
    look();
    node.addEventListener("scroll", look);
    return () => node.removeEventListener("scroll", look);
  }, [box, there]);
  return seen;
}

export function Preview({ looked, onSeen, seq }: { looked: Looked; onSeen: (seen: boolean) => void; seq: number }) {
  const box = useRef<HTMLDivElement>(null);
  const { view, refused } = looked;
  const { coordinator } = useLive();
  const seen = useSeenEnd(box, view !== null);
  useEffect(() => onSeen(seen), [seen, onSeen]);
  if (refused) {
    return (
      <div className="refused" role="alert">
        <p>{refused.message}</p>
        {refused.hint ? <p className="dim">{refused.hint}</p> : null}
      </div>
    );
  }
  if (!view)
    return (
      <p className="empty" aria-busy="true">
        Looking at what would happen …
      </p>
    );
  if (view.nothing) return <p className="empty">Nothing would change</p>;
  const { says } = view;
  return (
    <div className="preview" ref={box} tabIndex={0} role="region" aria-label="What would happen">
      {view.text ? <p>{view.text}</p> : null}
      {coordinator ? null : (
        <p className="warn">
          No coordinator runs: nothing starts by itself before <code>swarm run</code>.
        </p>
      )}
      <div className="twocolumns">
        <div>
          <Part head="Tasks" lines={says.tasks ?? []} />
          <Part head="Commits" lines={says.commits ?? []} />
          <Part head="Stopped" lines={view.stops.map(stopped)} />
          <Part head="Work" lines={says.work ?? []} />
        </div>
        <div>
          <Part head="Other commits" lines={says.foreign ?? []} />
          <Part head="Stays, whatever is undone" lines={says.stays ?? []} />
        </div>
      </div>
      <p className="dim">
        {view.checkpoint ? `The state before is kept as checkpoint ${view.checkpoint}; z brings it back.` : "z takes it back."}
        {view.expect ? ` Checked at record ${seq}; if anything changes, nothing moves.` : ""}
      </p>
    </div>
  );
}
