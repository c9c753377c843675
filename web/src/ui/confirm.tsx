// Questions before something stops, starts or moves.
import { useEffect, useMemo, useState } from "react";
import { useBoard, useRedirects } from "../api/queries";
import { errorOf } from "../api/client";
import type { Command, Force } from "../api/types";
import { expecting, forced, weight, NO_FORCE } from "../lib/command";
import type { Question } from "../lib/dialogs";
import { Buttons, Dialog } from "./dialog";
import { Field } from "./field";
import { Preview, usePreview, type Looked } from "./preview";
import { useSending } from "./sending";

type Confirming = Extract<Question, { kind: "confirm" }>;

const CAN_FORCE = ["rollback", "rollback_task", "abort", "undo", "redo"];

function Forces({ force, set, undo }: { force: Force; set: (force: Force) => void; undo: boolean }) {
  const box = (key: keyof Force, words: string) => (
    <label className="check">
      <input type="checkbox" checked={force[key] ?? false} onChange={(event) => set({ ...force, [key]: event.target.checked })} />
      {words}
    </label>
  );
  return (
    <fieldset>
      <legend>Go all the same</legend>
      {box("saveLocal", "put local changes that are in the way on a ref")}
      {box("dropForeign", "take your own commits off too; they stay under a ref")}
      {undo ? box("setAside", "set aside what agents have begun since") : null}
    </fieldset>
  );
}

/** Why what was previewed cannot be done yet. */
function unready({ view, refused }: Looked): string {
  if (refused) return "It cannot be done as it is";
  return view ? "Read to the end first" : "What would happen is still being looked at";
}

export function Confirm({ asked }: { asked: Confirming }) {
  const board = useBoard().data;
  const [force, setForce] = useState<Force>(NO_FORCE);
  const [cascade, setCascade] = useState(true);
  const [partial, setPartial] = useState(false);
  const [seen, see] = useState(false);
  const sending = useSending();
  const command = useMemo<Command>(() => {
    let wish = forced(asked.command, force);
    if (wish.do === "rollback_task") wish = { ...wish, cascade };
    if (wish.do === "undo") wish = { ...wish, partial };
    return wish;
  }, [asked.command, force, cascade, partial]);
  const looked = usePreview(command);
  const ready = looked.view !== null && (asked.weight === "stops" || seen || looked.view.nothing === true);
  const can = CAN_FORCE.includes(command.do);
  const forcing = can && (looked.refused !== null || force.dropForeign || force.saveLocal || force.setAside);
  const confirm = () => {
    // From there the keys that scroll lead to the end.
    if (looked.view && !ready) document.querySelector<HTMLElement>("dialog .preview")?.focus();
    if (ready) sending.send(expecting(command, looked.view?.expect), asked.done);
  };
  const again = () => {
    sending.forget();
    looked.again();
  };
  return (
    <Dialog title={asked.title} wide={asked.weight === "moves"} onSubmit={confirm}>
      <Preview looked={looked} onSeen={see} seq={board?.seq ?? 0} />
      {command.do === "rollback_task" ? (
        <label className="check">
          <input type="checkbox" checked={cascade} onChange={(event) => setCascade(event.target.checked)} />
          with every task that builds on it
        </label>
      ) : null}
      {command.do === "undo" && (partial || looked.refused?.kind === "changed_since") ? (
        <label className="check">
          <input type="checkbox" checked={partial} onChange={(event) => setPartial(event.target.checked)} />
          leave what has changed since, take the rest back
        </label>
      ) : null}
      {forcing ? <Forces force={force} set={setForce} undo={command.do === "undo" || command.do === "redo"} /> : null}
      {looked.refused || (sending.told && !sending.lacks) ? (
        <p>
          <button type="button" className="button small" onClick={again}>
            Look again
          </button>
        </p>
      ) : null}
      {looked.view && !ready ? <p className="dim">Read to the end to go on.</p> : null}
      <Buttons
        button={asked.button}
        lacks={sending.lacks ?? (ready ? null : unready(looked))}
        told={sending.told}
        bad={asked.weight === "moves" || command.do === "kill_agent" || command.do === "cancel_task"}
      />
    </Dialog>
  );
}

export function Block({ task }: { task: string }) {
  const board = useBoard().data;
  const [reason, setReason] = useState("");
  const [, see] = useState(false);
  const sending = useSending();
  const stops = weight({ do: "block_task", task, reason }, board?.view) === "stops";
  const looked = usePreview(stops ? { do: "block_task", task, reason: "your reason" } : null);
  const lacks = reason.trim() === "" ? "Still missing: Why" : stops && !looked.view ? unready(looked) : null;
  const confirm = () => {
    if (!lacks) sending.send({ do: "block_task", task, reason: reason.trim() });
  };
  return (
    <Dialog title={`Block ${task}?`} onSubmit={confirm}>
      <Field label="Why" value={reason} set={setReason} focus />
      {stops ? <Preview looked={looked} onSeen={see} seq={board?.seq ?? 0} /> : null}
      <Buttons button={`Block ${task}`} lacks={sending.lacks ?? lacks} told={sending.told} />
    </Dialog>
  );
}

export function Redirect({ task }: { task: string }) {
  const board = useBoard().data;
  const { data, error } = useRedirects(task);
  const [chosen, choose] = useState("");
  const [same, setSame] = useState(false);
  const [, see] = useState(false);
  const sending = useSending();
  // The best one when it was opened; another that becomes the best meanwhile does not take its place.
  const best = data?.view[0]?.task;
  useEffect(() => {
    if (!chosen && best) choose(best);
  }, [chosen, best]);
  const to = chosen;
  const gone = to !== "" && data !== undefined && !data.view.some((choice) => choice.task === to);
  const command = useMemo<Command | null>(() => (to ? { do: "redirect", task, to, same_worktree: same } : null), [task, to, same]);
  const looked = usePreview(command);
  const agent = board?.view.agents.find((one) => one.task === task)?.agent ?? `the agent of ${task}`;
  const confirm = () => {
    if (command && looked.view && !gone) sending.send(command);
  };
  const lacks =
    command === null
      ? "There is no task to redirect to"
      : gone
        ? `${to} is not ready any more: choose another`
        : looked.view
          ? null
          : unready(looked);
  return (
    <Dialog title={`Redirect ${agent} from ${task}?`} wide onSubmit={confirm}>
      {error ? <p role="alert">{errorOf(error).message}</p> : null}
      <fieldset className="choices">
        <legend>Takes up instead</legend>
        {data?.view.map((choice) => (
          <label key={choice.task} className="check">
            <input type="radio" name="to" value={choice.task} checked={choice.task === to} onChange={() => choose(choice.task)} />
            <span>
              {choice.task} {choice.title} <span className="dim">{choice.why}</span>
            </span>
          </label>
        ))}
        {data && data.view.length === 0 ? <p className="empty">No other task is ready</p> : null}
      </fieldset>
      <label className="check">
        <input type="checkbox" checked={same} onChange={(event) => setSame(event.target.checked)} />
        begins with this task's work
      </label>
      {command ? <Preview looked={looked} onSeen={see} seq={board?.seq ?? 0} /> : null}
      <Buttons button={to ? `Redirect to ${to}` : "Redirect"} lacks={sending.lacks ?? lacks} told={sending.told} />
    </Dialog>
  );
}
