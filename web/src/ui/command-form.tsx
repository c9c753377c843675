// A command of the list: its words first, then what it would do where something is at stake.
import { useState } from "react";
import { useBoard } from "../api/queries";
import type { Command } from "../api/types";
import { askFor } from "../lib/actions";
import { shut } from "../lib/dialogs";
import { missing, PLACES, type FieldSpec, type Values } from "../lib/places";
import { Buttons, Dialog } from "./dialog";
import { Field } from "./field";

function Choice({ spec, value, set }: { spec: FieldSpec; value: string; set: (value: string) => void }) {
  const board = useBoard().data?.view;
  const all =
    spec.kind === "phase"
      ? (board?.status.phases ?? []).map(({ id, name }) => ({ id: String(id), words: `${id} ${name}` }))
      : (board?.rows ?? []).map(({ id, title }) => ({ id, words: `${id} ${title}` }));
  // A list of thousands is no choice: there the id is typed.
  if (all.length > 200) return <Field label={spec.label} value={value} set={set} />;
  return (
    <p className="field">
      <label>
        {spec.label}{" "}
        <select value={value} onChange={(event) => set(event.target.value)}>
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

function Asked({ spec, value, set, focus }: { spec: FieldSpec; value: string; set: (value: string) => void; focus: boolean }) {
  if (spec.kind === "task" || spec.kind === "phase") return <Choice spec={spec} value={value} set={set} />;
  if (spec.kind === "yes")
    return (
      <label className="check">
        <input type="checkbox" checked={value === "yes"} onChange={(event) => set(event.target.checked ? "yes" : "")} />
        {spec.label}
      </label>
    );
  return <Field label={spec.label} value={value} set={set} focus={focus} {...(spec.kind === "words" ? { lines: 5 } : {})} />;
}

export function CommandForm({ command, task }: { command: Command["do"]; task: string | null }) {
  const place = PLACES[command];
  const [values, setValues] = useState<Values>({ task: task ?? "" });
  if (place.at !== "form") return null;
  const { title, help, line, fields, make } = place.form;
  const lacks = missing(fields, values);
  const confirm = () => {
    if (lacks) return;
    shut();
    askFor({ title: `${title}?`, button: title, command: make(values) });
  };
  return (
    <Dialog title={title} onSubmit={confirm}>
      <p>{help}</p>
      {fields.map((spec, n) => (
        <Asked
          key={spec.name}
          spec={spec}
          value={values[spec.name] ?? ""}
          set={(value) => setValues((now) => ({ ...now, [spec.name]: value }))}
          focus={n === 0}
        />
      ))}
      <p className="dim">
        On the command line: <code>{line}</code>
      </p>
      <Buttons button={title} ready={lacks === null} />
    </Dialog>
  );
}
