// The one table of keys: help, palette, hints and the conflict test are made of it. Letters mean what they mean in the terminal UI.
import type { Verb } from "../api/types";

export type Part = "Selected agent" | "Selected task" | "Whole swarm" | "Looking" | "Pages" | "Moving";

export const PARTS: Part[] = ["Selected agent", "Selected task", "Whole swarm", "Looking", "Pages", "Moving"];

export interface Binding {
  /** As `event.key` has them; two keys after one another are joined by a blank. */
  keys: string[];
  shown: string;
  action: string;
  word: string;
  help: string;
  part: Part;
  /** The coordinator is asked whether this is possible now. */
  verb?: Verb;
  /** Not a command of the palette. */
  silent?: boolean;
  /** Only there; the same key may mean something else elsewhere. */
  where?: "diff";
}

const key = (keys: string[], shown: string, action: string, word: string, help: string, part: Part, more: Partial<Binding> = {}): Binding => ({
  keys,
  shown,
  action,
  word,
  help,
  part,
  ...more,
});

const page = (letter: string, path: string, word: string, help: string) => key([`g ${letter}`], `g ${letter}`, `go:${path}`, word, help, "Pages");

export const KEYS: Binding[] = [
  key(["s"], "s", "stop", "stop", "Stop the agent: its task goes back to the queue, its work is kept", "Selected agent", { verb: "stop" }),
  key(["r"], "r", "redirect", "redirect", "Give the agent another task", "Selected agent", { verb: "redirect" }),
  key(["x"], "x", "kill", "kill", "Stop the agent at once; this iteration's changes go to a ref", "Selected agent", { verb: "kill" }),
  key(["M"], "M", "message", "tell", "Send a message to the agent, delivered at its next boundary", "Selected agent", { verb: "message" }),
  key(["l"], "l", "log", "log", "Show the log of the agent", "Selected agent"),
  key(["b"], "b", "block", "block", "Block the task with a reason; its agent stops", "Selected task", { verb: "block" }),
  key(["u"], "u", "unblock", "unblock", "Put the task back into the queue", "Selected task", { verb: "unblock" }),
  key(["e"], "e", "edit", "edit", "Edit title and description; an agent sees it next iteration", "Selected task", { verb: "edit" }),
  key(["S"], "S", "start", "start", "Start the task, in semi-auto mode", "Selected task", { verb: "start" }),
  key(["P"], "P", "defer", "defer", "Put the task aside until it is unblocked", "Selected task", { verb: "defer" }),
  key([], "", "cancel", "cancel", "Give the task up", "Selected task", { verb: "cancel" }),
  key(["R"], "R", "rollback_task", "roll back", "Take the work of the task out of trunk, or off its branch", "Selected task", {
    verb: "rollback_task",
  }),
  key(["D"], "D", "diff", "diff", "Show what the task changes", "Selected task"),
  key(["v"], "v", "review", "review", "Approve submitted work, or ask for changes", "Selected task", { verb: "review" }),
  key(["i"], "i", "panel", "panel", "Show everything that can be done with the task", "Selected task"),
  key([" "], "Space", "pause", "pause", "Pause at the next boundary; again: force, then resume", "Whole swarm"),
  key(["m"], "m", "mode", "mode", "Switch between semi-auto and autopilot", "Whole swarm", { verb: "mode" }),
  key(["c"], "c", "checkpoint", "checkpoint", "Make a checkpoint with a name", "Whole swarm", { verb: "checkpoint" }),
  key(["C"], "C", "go:/checkpoints", "checkpoints", "List checkpoints and roll back to one", "Whole swarm"),
  key([], "", "rollback_session", "session rollback", "Roll back to the beginning of the session", "Whole swarm", { verb: "rollback_session" }),
  key(["z"], "z", "undo", "undo", "Undo your newest operation", "Whole swarm", { verb: "undo" }),
  key(["Z"], "Z", "redo", "redo", "Redo what was undone last", "Whole swarm", { verb: "redo" }),
  key(["a"], "a", "attention", "answer", "Go to the next thing that waits for you; a digit chooses there", "Looking"),
  key(["/"], "/", "filter", "filter", "Filter: words, stage:review, tag:docs, !not", "Looking"),
  key(["Ctrl+k", ":"], "Ctrl+K", "palette", "commands", "Find any command, page or task by name", "Looking", { silent: true }),
  key(["?"], "?", "help", "all keys", "Show all keys", "Looking"),
  key(["y"], "y", "copy", "copy link", "Copy a link to what is shown, at this record", "Looking"),
  key(["["], "[", "mark:previous", "previous hunk", "Previous hunk of the diff", "Looking", { silent: true }),
  key(["]"], "]", "mark:next", "next hunk", "Next hunk of the diff", "Looking", { silent: true }),
  key(["{"], "{", "file:previous", "previous file", "Previous file of the diff", "Looking", { silent: true }),
  key(["}"], "}", "file:next", "next file", "Next file of the diff", "Looking", { silent: true }),
  key(["v"], "v", "seen", "seen", "In a diff: mark the file as seen and go on to the next", "Looking", { silent: true, where: "diff" }),
  key(["<"], "<", "back:record", "one record back", "Look at the swarm one record earlier", "Looking"),
  key([">"], ">", "forth:record", "one record forth", "One record later", "Looking", { silent: true }),
  key([], "", "film", "film", "Watch what happened from the beginning, as a film; again: halt", "Looking"),
  key(["t"], "t", "present", "present", "Back to the present", "Looking"),
  key(["w"], "w", "wrap", "wrap", "Wrap long lines of logs and diffs", "Looking"),
  key(["."], ".", "machinery", "machinery", "Show or hide what only the machinery does", "Looking"),
  key([], "", "theme", "dark or light", "Switch between dark, light and the system's choice", "Looking"),
  key([], "", "signout", "sign out", "End the session of this browser; swarm web begins another", "Looking"),
  page("o", "/", "overview", "Overview"),
  page("a", "/attention", "attention", "What waits for you"),
  page("b", "/board", "board", "Board"),
  page("p", "/plan", "plan", "Plan as list and graph"),
  page("w", "/agents", "agents", "Agents at work"),
  page("t", "/trunk", "trunk", "Trunk: a file, and why each line is there"),
  page("c", "/checkpoints", "checkpoints", "Checkpoints"),
  page("u", "/operations", "operations", "Operations, undo and redo"),
  page("h", "/history", "history", "The ledger"),
  page("m", "/cost", "money", "Money and tokens"),
  page("f", "/handoff", "handoff", "Handoff: what a fresh agent or person needs to go on"),
  page("d", "/doctor", "doctor", "Doctor: is everything in order"),
  page("x", "/commands", "commands", "Every command"),
  key(["j", "ArrowDown"], "j", "down", "down", "Next row", "Moving", { silent: true }),
  key(["k", "ArrowUp"], "k", "up", "up", "Previous row", "Moving", { silent: true }),
  key(["g g"], "g g", "first", "first", "First row", "Moving", { silent: true }),
  key(["G"], "G", "last", "last", "Last row; in a log: follow", "Moving", { silent: true }),
  key(["Enter"], "Enter", "open", "open", "Open what is selected", "Moving", { silent: true }),
  key(["Escape"], "Esc", "back", "back", "One step back: field, dialog, filter, page", "Moving", { silent: true }),
];

const PREFIXES = new Set(KEYS.flatMap(({ keys }) => keys.filter((k) => k.length === 3 && k[1] === " ").map((k) => k[0])));

/** What a key means after the keys before it; `wait`: more has to come. */
export function meaning(pressed: string, before: string, diff: boolean): Binding | "wait" | null {
  const whole = before ? `${before} ${pressed}` : pressed;
  const found = KEYS.filter(({ keys }) => keys.includes(whole));
  const best = found.find(({ where }) => where === "diff" && diff) ?? found.find(({ where }) => where === undefined);
  if (best) return best;
  return !before && PREFIXES.has(pressed) ? "wait" : null;
}

export const keyOf = (action: string): string => KEYS.findLast((binding) => binding.action === action)?.shown ?? "";
