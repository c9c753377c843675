// The line that stands above every page: mode, who is at work, what is done, what it cost, where trunk is.
import { useAllowed, useBoard } from "../api/queries";
import { useLive } from "../live/live";
import { useAddress } from "../lib/address";
import { act } from "../lib/actions";
import { question, selected } from "../lib/dialogs";
import { atWork, pauseWord } from "../lib/columns";
import { clock, money, spent } from "../lib/said";
import { nextTheme, theme } from "../lib/theme";
import { announce } from "../lib/announce";
import { errorOf, type Session } from "../api/client";
import { Act, To, useOff } from "./parts";

function Numbers() {
  const board = useBoard().data?.view;
  if (!board) return null;
  const { status } = board;
  const slots = status.profile.parallelization_enabled ? status.profile.max_concurrent_tasks : 1;
  const bound = status.budget?.cost_micros_max;
  return (
    <>
      <span className="figure">
        <b>
          {atWork(board.agents, board.rows).length}/{slots}
        </b>{" "}
        at work
      </span>
      <span className="figure done">
        <b>
          {status.counts.done}/{status.counts.total}
        </b>{" "}
        done
      </span>
      <span className="figure money">
        <b>{spent(status.usage)}</b>
        {bound ? ` of ${money(bound)}` : ""}
      </span>
      {status.trunk ? <span className="figure trunk">{status.trunk}</span> : null}
    </>
  );
}

export function Header({ session }: { session: Session }) {
  const board = useBoard().data?.view;
  const allowed = useAllowed(null, board !== undefined).data?.view;
  const shownTheme = theme.use();
  const waiting = board?.attention.length ?? 0;
  return (
    <header className="top">
      <To path="/" className="brand">
        swarm <span className="place">· {session.place}</span>
      </To>
      {board ? (
        <Act small onAct={() => void act("mode", null)} refused={allowed?.find((one) => one.verb === "mode")?.refused} title="Switch the mode">
          <span className="mode">
            {board.status.mode === "autopilot" ? (
              <>
                AUTO<span className="long">PILOT</span>
              </>
            ) : (
              <>
                SEMI<span className="long">-AUTO</span>
              </>
            )}
          </span>
        </Act>
      ) : null}
      <Numbers />
      <span className="push" />
      <To path="/attention" className={`needs${waiting ? " some" : ""}`}>
        {waiting ? `! ${waiting}` : "✓"}
        <span className="long"> {waiting === 0 ? "nothing needs you" : waiting === 1 ? "needs you" : "need you"}</span>
      </To>
      <span className="tools">
        <Act small onAct={() => question.set({ kind: "pause" })}>
          {pauseWord(board)}
        </Act>
        <button
          type="button"
          className="button small icon"
          title="Dark, light or as the system"
          aria-label={`Theme: ${shownTheme}`}
          onClick={() => announce(`Theme: ${nextTheme()}`)}
        >
          {shownTheme === "dark" ? "☾" : shownTheme === "light" ? "☀" : "◐"}
        </button>
        <button
          type="button"
          className="button small"
          onClick={() => question.set({ kind: "palette", task: selected.get() })}
          aria-label="Ctrl K: commands"
        >
          <kbd>Ctrl K</kbd>
        </button>
        <button type="button" className="button small icon keys" onClick={() => question.set({ kind: "help" })} aria-label="? all keys">
          ?
        </button>
      </span>
    </header>
  );
}

/** Shown only when something is abnormal. */
export function Banner() {
  const { phase, seq, heard, coordinator } = useLive();
  const { at } = useAddress();
  const { data: board, error } = useBoard();
  // Without a plan there is nothing that could run.
  const planless = error !== null && errorOf(error).kind === "no_plan";
  const why = useOff();
  const time = clock(new Date(heard).toISOString());
  if (phase === "lost") {
    return (
      <div className="banner bad" role="status">
        Connection lost. Shown is record {board?.seq ?? seq ?? "?"}, as of {time}. It is tried again by itself; commands are off until then.
      </div>
    );
  }
  const { status, pauses } = board?.view ?? { status: undefined, pauses: [] };
  return (
    <>
      {coordinator || planless ? null : (
        <div className="banner bad" role="status">
          No coordinator runs: nothing starts or ends by itself. Shown is record {board?.seq ?? seq ?? "?"}, as of {time}. It begins with{" "}
          <code>swarm run</code>
        </div>
      )}
      {status?.loss ? (
        <div className="banner bad" role="status">
          {status.loss}
        </div>
      ) : null}
      {status?.without_walls?.length ? (
        <div className="banner" role="status">
          Agents of {status.without_walls.join(", ")} run without walls (<code>sandbox: none</code>): they can do whatever you can.
        </div>
      ) : null}
      {pauses.map((pause) => (
        <div key={pause.reason} className="banner" role="status">
          Paused ({pause.reason}){pause.why ? `: ${pause.why}` : ""}. <span className="dim">{pause.ended_by}</span>
        </div>
      ))}
      {status?.draining ? (
        <div className="banner" role="status">
          Draining: agents go to their boundary, then the swarm ends.
        </div>
      ) : null}
      {status?.quotas?.map((quota) => (
        <div key={quota.group} className="banner" role="status">
          Quota of {quota.group} used up: {quota.why}
          {quota.resets_at ? `; back at ${clock(quota.resets_at)}` : ""}.
        </div>
      ))}
      {status?.reservations
        ?.filter((one) => one.until && one.waiting.length > 0)
        .map((one) => (
          <div key={one.number} className="banner" role="status">
            {one.waiting.join(", ")} {one.waiting.length === 1 ? "waits" : "wait"} for {[...one.files, ...one.shared].join(", ")}, reserved by{" "}
            {one.holder}
            {one.until ? ` until ${clock(one.until)}` : ""}. <code>swarm reservations release {one.number}</code>
          </div>
        ))}
      {status?.approved.drifted && at === null ? (
        <div className="banner" role="status">
          The plan has changed since it was approved. <To path="/plan">Look</To>
        </div>
      ) : null}
      {why && at === null && phase === "live" ? (
        <div className="banner" role="status">
          {why}
        </div>
      ) : null}
    </>
  );
}
