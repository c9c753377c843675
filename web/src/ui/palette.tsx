// Every command, page and task by name.
import { useMemo, useRef, useState } from "react";
import { useAllowed, useBoard } from "../api/queries";
import { fuzzy } from "../lib/filter";
import { KEYS } from "../lib/keys";
import { PLACES } from "../lib/places";
import { sentence } from "../lib/actions";
import { shut } from "../lib/dialogs";
import { Dialog } from "./dialog";
import { taskPath, useOff } from "./parts";

interface Entry {
  id: string;
  text: string;
  key: string;
  action: string;
  refused: string;
}

const SHOWN = 60;

function useEntries(task: string | null): Entry[] {
  const board = useBoard().data?.view;
  const allowed = useAllowed(task).data?.view;
  const why = useOff();
  return useMemo(() => {
    const verbs = KEYS.filter((binding) => !binding.silent).map((binding) => {
      const refused = binding.verb ? (why ?? allowed?.find((one) => one.verb === binding.verb)?.refused?.message) : null;
      const about = binding.part === "Selected task" || binding.part === "Selected agent" ? ` ${task ?? "…"}` : "";
      const text = binding.part === "Pages" ? `Go to ${binding.help}` : `${sentence(binding.word)}${about}: ${binding.help}`;
      return { id: binding.action, text, key: binding.shown, action: binding.action, refused: refused ?? "" };
    });
    const own = task ? verbs : verbs.filter((entry) => !entry.text.includes("…"));
    const tasks = (board?.rows ?? []).map((row) => ({
      id: `task ${row.id}`,
      text: `${row.id} ${row.title}`,
      key: row.word,
      action: `go:${taskPath(row.id)}`,
      refused: "",
    }));
    const forms = Object.entries(PLACES).flatMap(([command, place]) =>
      place.at === "form"
        ? [{ id: `form ${command}`, text: `${place.form.title}: ${place.form.help}`, key: "", action: `form:${command}`, refused: why ?? "" }]
        : [],
    );
    return [...own, ...forms, ...tasks];
  }, [board, allowed, task, why]);
}

export function Palette({ task, run }: { task: string | null; run: (action: string, task: string | null) => void }) {
  const [typed, type] = useState("");
  const [at, move] = useState(0);
  const list = useRef<HTMLUListElement>(null);
  const entries = useEntries(task);
  const found = useMemo(() => {
    if (!typed.trim()) return entries.slice(0, SHOWN);
    const scored = entries.map((entry) => ({ entry, score: fuzzy(entry.text, typed) })).filter(({ score }) => score > 0);
    return scored
      .sort((a, b) => b.score - a.score)
      .slice(0, SHOWN)
      .map(({ entry }) => entry);
  }, [entries, typed]);
  const now = Math.min(at, Math.max(0, found.length - 1));
  const choose = (entry: Entry | undefined) => {
    if (!entry) return;
    shut();
    run(entry.action, task);
  };
  const step = (by: number) => {
    const next = (now + by + found.length) % Math.max(1, found.length);
    move(next);
    list.current?.children[next]?.scrollIntoView({ block: "nearest" });
  };
  return (
    <Dialog title={task ? `Commands for ${task}` : "Commands"} wide onSubmit={() => choose(found[now])}>
      <input
        type="text"
        role="combobox"
        aria-expanded="true"
        aria-controls="palette-list"
        aria-activedescendant={found[now] ? `palette-${now}` : undefined}
        aria-label="Find a command, page or task"
        autoComplete="off"
        data-focus
        value={typed}
        onChange={(event) => {
          type(event.target.value);
          move(0);
        }}
        onKeyDown={(event) => {
          if (event.key === "ArrowDown" || (event.ctrlKey && event.key === "n")) step(1);
          else if (event.key === "ArrowUp" || (event.ctrlKey && event.key === "p")) step(-1);
          else return;
          event.preventDefault();
        }}
      />
      <ul className="palette" id="palette-list" role="listbox" aria-label="Found" ref={list}>
        {found.map((entry, index) => (
          <li
            key={entry.id}
            id={`palette-${index}`}
            role="option"
            aria-selected={index === now}
            className={entry.refused ? "dim" : undefined}
            onClick={() => choose(entry)}
          >
            <span>
              {entry.text}
              {entry.refused ? ` (${entry.refused})` : ""}
            </span>
            <kbd>{entry.key}</kbd>
          </li>
        ))}
      </ul>
      {found.length === 0 ? <p className="empty">Nothing fits</p> : null}
    </Dialog>
  );
}

/** All keys, from the table that the page itself obeys. */
export function Help() {
  const parts = useMemo(() => [...new Set(KEYS.map(({ part }) => part))], []);
  return (
    <Dialog title="All keys" wide onSubmit={shut}>
      <div className="help" tabIndex={0} role="region" aria-label="Keys">
        <div>
          {parts.map((part) => (
            <section key={part}>
              <h3>{part}</h3>
              <dl>
                {KEYS.filter((binding) => binding.part === part && binding.shown).map((binding) => (
                  <div key={binding.action}>
                    <dt>
                      <kbd>{binding.shown}</kbd>
                    </dt>
                    <dd>{binding.help}</dd>
                  </div>
                ))}
              </dl>
            </section>
          ))}
        </div>
      </div>
      <div className="buttons">
        <button type="submit" className="button">
          Close
        </button>
      </div>
    </Dialog>
  );
}
