// Which submission of a task's work is shown, and since which one.
import type { Part } from "../api/queries";
import type { RoundView } from "../api/types";
import { clock, day } from "../lib/said";
import type { Params } from "../lib/address";
import { To } from "../ui/parts";

/** What the address asks for, as far as there are such rounds. */
export function partAsked(round: string, since: string, rounds: RoundView[] | undefined): Part {
  const known = (text: string): number | null => rounds?.find((one) => String(one.round) === text)?.round ?? null;
  const [to, from] = [known(round), known(since)];
  return { round: to, since: from !== null && from < (to ?? Infinity) ? from : null };
}

function Choice({ path, params, on, children, title }: { path: string; params: Params; on: boolean; children: string; title?: string }) {
  return (
    <To path={path} params={params} className="button small" aria-current={on ? "true" : undefined} title={title}>
      {children}
    </To>
  );
}

/** `keep` is what else stands in the address. */
export function Rounds({ rounds, part, path, keep }: { rounds: RoundView[]; part: Part; path: string; keep: Record<string, string> }) {
  const chosen = rounds.find(({ round }) => round === part.round);
  const newest = rounds.at(-1);
  if (!newest) return null;
  // What waits for a verdict is what was submitted last.
  const end = part.round ?? (newest.verdict ? Infinity : newest.round);
  const before = rounds.filter(({ round }) => round < end);
  return (
    <div className="rounds">
      <span className="switch" role="group" aria-label="Which submission">
        <Choice path={path} params={{ ...keep, since: part.since }} on={part.round === null}>
          Now
        </Choice>
        {rounds.map(({ round, at, verdict }) => (
          <Choice
            key={round}
            path={path}
            params={{ ...keep, round, since: part.since !== null && part.since < round ? part.since : null }}
            on={part.round === round}
            title={`submitted ${day(at)} ${clock(at)}`}
          >
            {`Round ${round}${verdict ? `: ${verdict}` : ""}`}
          </Choice>
        ))}
      </span>
      {before.length ? (
        <span className="switch" role="group" aria-label="How much of it">
          <Choice path={path} params={{ ...keep, round: part.round }} on={part.since === null}>
            All of it
          </Choice>
          {before.map(({ round }) => (
            <Choice key={round} path={path} params={{ ...keep, round: part.round, since: round }} on={part.since === round}>
              {`Since round ${round}`}
            </Choice>
          ))}
        </span>
      ) : null}
      {chosen?.notes.length ? (
        <details>
          <summary>What was asked for in round {chosen.round}</summary>
          <ul className="plainlist">
            {chosen.notes.map((note, n) => (
              <li key={n}>{note}</li>
            ))}
          </ul>
        </details>
      ) : null}
    </div>
  );
}
