// Keys of the whole page. Whoever types into a field is left alone.
import { useEffect, useRef } from "react";
import { meaning } from "../lib/keys";
import { asking } from "../lib/actions";
import { question, selected } from "../lib/dialogs";

const CHORD_MS = 1500;

const typing = (node: EventTarget | null): boolean =>
  node instanceof HTMLElement &&
  (node.isContentEditable || node.matches("textarea, select, input:not([type=checkbox]):not([type=radio]):not([type=range])"));

function name(event: KeyboardEvent): string {
  if (event.ctrlKey || event.metaKey) return event.key.toLowerCase() === "k" ? "Ctrl+k" : "";
  return event.altKey ? "" : event.key;
}

/** What a focused control does with a key by itself. */
function belongsTo(node: EventTarget | null, pressed: string): boolean {
  if (!(node instanceof HTMLElement)) return false;
  if (pressed === "Enter") return node.matches("a, button, summary, input, select, textarea");
  if (pressed === " ") return node.matches("button, summary, input, select");
  if (pressed.startsWith("Arrow")) return node.matches("input, select, [role=region]");
  return false;
}

export function useKeyboard(run: (action: string, task: string | null) => void): void {
  const before = useRef({ key: "", at: 0 });
  const latest = useRef(run);
  latest.current = run;
  useEffect(() => {
    const pressed = (event: KeyboardEvent) => {
      const key = name(event);
      if (!key || event.defaultPrevented) return;
      if (question.get() !== null && key !== "Ctrl+k") return;
      if (typing(event.target) && key !== "Ctrl+k") {
        if (key === "Escape") (event.target as HTMLElement).blur();
        return;
      }
      if (belongsTo(event.target, key)) return;
      // What is typed for a dialog that is still to come is no command.
      if (asking.get() > 0 && key !== "Escape") return event.preventDefault();
      const chord = Date.now() - before.current.at < CHORD_MS ? before.current.key : "";
      const diff = document.querySelector("[data-diff]") !== null;
      const found = meaning(key, chord, diff) ?? (chord ? meaning(key, "", diff) : null);
      before.current = found === "wait" ? { key, at: Date.now() } : { key: "", at: 0 };
      if (found === null || found === "wait") {
        if (!/^[1-9]$/.test(key)) return;
        // A digit that opens a field must not be the first thing typed into it.
        event.preventDefault();
        latest.current(`digit:${key}`, selected.get());
        return;
      }
      event.preventDefault();
      latest.current(found.action, selected.get());
    };
    const focused = (event: FocusEvent) => {
      const task = (event.target as HTMLElement | null)?.closest<HTMLElement>("[data-task]")?.dataset["task"];
      if (task) selected.set(task);
    };
    document.addEventListener("keydown", pressed);
    document.addEventListener("focusin", focused);
    return () => {
      document.removeEventListener("keydown", pressed);
      document.removeEventListener("focusin", focused);
    };
  }, []);
}
