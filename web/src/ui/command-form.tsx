// A command of the list: its words first, then what it would do where something is at stake.
import { useState } from "react";
import { useBoard } from "../api/queries";
import type { ApiError, Command, StatusView } from "../api/types";
import { askFor, boardNow, off } from "../lib/actions";
import { weight } from "../lib/command";
import { question, shut } from "../lib/dialogs";
import { missing, PLACES, type FieldSpec, type Place, type Values } from "../lib/places";
import { send } from "../lib/wishes";
import { Buttons, Dialog } from "./dialog";
import { Field } from "./field";

interface FieldOf {
  spec: FieldSpec;
  value: string;
  set: (value: string) => void;
  focus: boolean;
}

function Choice({ spec, value, set, focus }: FieldOf) {
  const board = useBoard().data?.view;
  const all =
    spec.kind === "phase"
      ? (board?.status.phases ?? []).map(({ id, name }) => ({ id: String(id), words: `${id} ${name}` }))
      : (board?.rows ?? []).map(({ id, title }) => ({ id, words: `${id} ${title}` }));
  // A list of thousands is no choice: there the id is typed.
  if (all.length > 200) return <Field label={spec.label} value={value} set={set} focus={focus} />;
  return (
    <p className="field">
      <label>
        {spec.label}{" "}
        <select value={value} data-focus={focus || undefined} onChange={(event) => set(event.target.value)}>
          <option value="">{spec.optional ? "none" : "choose"}</option>
          {all.map(({ id, words }) => (
            <option key={id} value={id}>
              {words}
            </option>
          ))}
        </select>
      </label>
    </p>
  );
}

function Asked({ spec, value, set, focus }: FieldOf) {
  if (spec.kind === "task" || spec.kind === "phase") return <Choice spec={spec} value={value} set={set} focus={focus} />;
  if (spec.kind === "yes")
    return (
      <label className="check">
        <input type="checkbox" checked={value === "yes"} onChange={(event) => set(event.target.checked ? "yes" : "")} />
        {spec.label}
      </label>
    );
  return <Field label={spec.label} value={value} set={set} focus={focus} {...(spec.kind === "words" ? { lines: 5 } : {})} />;
}

function asItIs(place: Place, status: StatusView | undefined): Values {
  if (place.at !== "form" || !status) return {};
  return Object.fromEntries(place.form.fields.flatMap(({ name, now }) => (now ? [[name, now(status)]] : [])));
}

/** What was written and not carried out, for as long as the page is open: a refusal costs nobody their words. */
const kept = new Map<Command["do"], Values>();

export function CommandForm({ command, task }: { command: Command["do"]; task: string | null }) {
  const place = PLACES[command];
  const status = useBoard().data?.view.status;
  const [values, setValues] = useState<Values>(() => ({ task: task ?? "", ...asItIs(place, status), ...kept.get(command) }));
  const [refused, refuse] = useState<ApiError | null>(null);
  const [busy, work] = useState(false);
  if (place.at !== "form") return null;
  const { title, help, line, fields, make } = place.form;
  const lacks = missing(fields, values);
  const set = (name: string, value: string) => {
    const next = { ...values, [name]: value };
    kept.set(command, next);
    setValues(next);
    refuse(null);
  };
  const confirm = async () => {
    if (lacks || busy) return;
    const asked = { title: `${title}?`, button: title, command: make(values), done: () => void kept.delete(command) };
    if (off() || weight(asked.command, boardNow()) !== "free") {
      shut();
      return askFor(asked);
    }
    work(true);
    const wish = await send(asked.command);
    work(false);
    if (wish.state === "refused" && wish.error) return refuse(wish.error);
    asked.done();
    // Whoever has gone on to something else meanwhile is left there.
    const now = question.get();
    if (now?.kind === "form" && now.command === command) shut();
  };
  return (
    <Dialog title={title} onSubmit={() => void confirm()}>
      <p>{help}</p>
      {fields.map((spec, n) => (
        <Asked key={spec.name} spec={spec} value={values[spec.name] ?? ""} set={(value) => set(spec.name, value)} focus={n === 0} />
      ))}
      <p className="dim">
        On the command line: <code>{line}</code>
      </p>
      {refused ? (
        <div className="refused" role="alert">
          <p>{refused.message}</p>
          {refused.hint ? <p className="dim">{refused.hint}</p> : null}
        </div>
      ) : null}
      <Buttons button={title} lacks={busy ? "It is under way" : lacks && `Still missing: ${lacks}`} />
    </Dialog>
  );
}
