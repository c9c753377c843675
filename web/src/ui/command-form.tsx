// A command of the list: its words first, then what it would do where something is at stake.
import { useState } from "react";
import { useBoard } from "../api/queries";
import type { Command, StatusView } from "../api/types";
import { askFor, boardNow, off } from "../lib/actions";
import { weight } from "../lib/command";
import { shut } from "../lib/dialogs";
import { missing, PLACES, type FieldSpec, type Place, type Values } from "../lib/places";
import { Buttons, Dialog } from "./dialog";
import { Field } from "./field";
import { useSending } from "./sending";

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
          {value && !all.some(({ id }) => id === value) ? <option value={value}>{value}, which is not there now</option> : null}
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
const kept = new Map<string, Values>();

export function CommandForm({ command, task }: { command: Command["do"]; task: string | null }) {
  const place = PLACES[command];
  const status = useBoard().data?.view.status;
  // What was written about one task is not meant for another.
  const about = `${command}:${task ?? ""}`;
  const [values, setValues] = useState<Values>(() => ({ task: task ?? "", ...asItIs(place, status), ...kept.get(about) }));
  const sending = useSending();
  if (place.at !== "form") return null;
  const { title, help, line, fields, make } = place.form;
  const lacks = missing(fields, values);
  const set = (name: string, value: string) => {
    const next = { ...values, [name]: value };
    kept.set(about, next);
    setValues(next);
    sending.forget();
  };
  const confirm = () => {
    if (lacks) return;
    const asked = { title: `${title}?`, button: title, command: make(values), done: () => void kept.delete(about) };
    if (off() || weight(asked.command, boardNow()) === "free") return sending.send(asked.command, asked.done);
    shut();
    askFor(asked);
  };
  return (
    <Dialog title={title} onSubmit={confirm}>
      <p>{help}</p>
      {fields.map((spec, n) => (
        <Asked key={spec.name} spec={spec} value={values[spec.name] ?? ""} set={(value) => set(spec.name, value)} focus={n === 0} />
      ))}
      <p className="dim">
        On the command line: <code>{line}</code>
      </p>
      <Buttons button={title} lacks={sending.lacks ?? (lacks && `Still missing: ${lacks}`)} told={sending.told} />
    </Dialog>
  );
}
