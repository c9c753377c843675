// Commands of verbs, how much is at stake with each, and the words around them. What is allowed, the coordinator says.
import type { BoardView, Command, Force, ReviewNote, Verb } from "../api/types";

/** Free: sent at once, and undone as easily. Stops: shown first. Moves: all of the preview has to have been on the screen. */
export type Weight = "free" | "stops" | "moves";

export function weight(command: Command, board: BoardView | undefined): Weight {
  const works = (task: string) => board?.agents.some((agent) => agent.task === task) ?? true;
  switch (command.do) {
    case "stop_agent":
    case "kill_agent":
    case "redirect":
    case "drain":
    case "checkpoint_and_drain":
      return "stops";
    case "set_mode":
      return command.mode === "autopilot" ? "stops" : "free";
    case "defer_task":
    case "cancel_task":
    case "block_task":
    case "remove_task":
    case "split_task":
      return works(command.task) ? "stops" : "free";
    case "rollback":
    case "rollback_task":
    case "abort":
    case "undo":
    case "redo":
    case "retry":
    case "reset_plan":
    case "save_plan":
    case "close_plan":
    case "set_trunk":
      return "moves";
    default:
      return "free";
  }
}

export const NO_FORCE: Force = { dropForeign: false, saveLocal: false };

/** The command with what the person has seen, so that it does that or nothing. */
export function expecting(command: Command, expect: string | null | undefined): Command {
  switch (command.do) {
    case "rollback":
    case "rollback_task":
    case "abort":
    case "undo":
    case "redo":
    case "set_trunk":
      return { ...command, expect: expect ?? null };
    default:
      return command;
  }
}

export function forced(command: Command, force: Force): Command {
  switch (command.do) {
    case "rollback":
    case "rollback_task":
    case "abort":
    case "undo":
    case "redo":
      return { ...command, force };
    default:
      return command;
  }
}

/** The person's own words in the place that was left for them. */
export function filled(command: Command, words: string): Command {
  switch (command.do) {
    case "message_agent":
      return { ...command, text: words };
    case "accept_task":
    case "block_task":
    case "waive_gate":
      return { ...command, reason: words };
    case "review":
      return { ...command, verdict: { needs_changes: { notes: [{ text: words }] } } };
    default:
      return command;
  }
}

export interface Asked {
  title: string;
  button: string;
  command: Command;
  /** Told when it was carried out. */
  done?: () => void;
}

/** What a verb asks for that needs no words of the person. */
export function verbCommand(verb: Verb, task: string, board: BoardView | undefined): Asked | null {
  const agent = board?.agents.find((one) => one.task === task)?.agent ?? `the agent of ${task}`;
  switch (verb) {
    case "start":
      return { title: `Start ${task}?`, button: `Start ${task}`, command: { do: "start_tasks", tasks: [task] } };
    case "stop":
      return { title: `Stop ${agent}?`, button: `Stop ${agent}`, command: { do: "stop_agent", task } };
    case "kill":
      return { title: `Kill ${agent}?`, button: `Kill ${agent}`, command: { do: "kill_agent", task } };
    case "unblock":
      return { title: `Unblock ${task}?`, button: `Unblock ${task}`, command: { do: "unblock_task", task } };
    case "defer":
      return { title: `Defer ${task}?`, button: `Defer ${task}`, command: { do: "defer_task", task } };
    case "cancel":
      return { title: `Cancel task ${task}?`, button: `Cancel task ${task}`, command: { do: "cancel_task", task } };
    case "rollback_task":
      // Whatever builds on it goes back with it; the preview names each.
      return { title: `Roll back task ${task}?`, button: `Roll back ${task}`, command: { do: "rollback_task", task, cascade: true } };
    case "rollback_session":
      return { title: "Roll back to the beginning of the session?", button: "Roll back the session", command: { do: "rollback", to: null } };
    case "redo":
      return { title: "Redo what was undone last?", button: "Redo", command: { do: "redo", operation: null } };
    case "resume":
      return { title: "Resume?", button: "Resume", command: { do: "resume", reason: "user" } };
    case "mode": {
      const mode = board?.status.mode === "autopilot" ? "semi-auto" : "autopilot";
      return { title: `Switch to ${mode}?`, button: `Switch to ${mode}`, command: { do: "set_mode", mode } };
    }
    default:
      return null;
  }
}

/** The note as the agent will read it: `file:line: text`. */
export function noteWords(note: ReviewNote): string {
  const place = note.file ? `${note.file}${note.line ? `:${note.line}` : ""}: ` : "";
  return place + note.text;
}

/** 1 to 64 letters: new for every wish. */
export function newWish(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(10));
  return `web-${Date.now().toString(36)}-${Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("")}`;
}
