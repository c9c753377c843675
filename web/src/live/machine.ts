// The live connection as a pure state machine: what came in, what is to be done. No socket, no clock.

export type Phase = "connecting" | "live" | "lost";

export interface LiveState {
  phase: Phase;
  /** The newest record that was heard of; none before the first hello. */
  seq: number | null;
  ledger: string | null;
  /** Whether a coordinator runs behind the door. */
  coordinator: boolean;
  role: string;
  /** Connections that failed in a row. */
  tries: number;
}

export type Frame =
  | { type: "hello"; ledger: string | null; seq: number; coordinator: boolean; role: string }
  | { type: "record"; seq: number; event: string; record: unknown }
  | { type: "agent"; news: unknown }
  | { type: "log"; run: string; lines: unknown[]; cursor: number }
  | { type: "log_end"; run: string }
  | { type: "log_lost"; run: string }
  | { type: "coordinator"; up: boolean }
  | { type: "another_ledger"; ledger: string | null }
  | { type: "cut"; resume: number };

export type Input =
  | { in: "opened" }
  | { in: "frame"; frame: Frame }
  | { in: "closed" }
  /** The waiting is over, or the network, the page or the person came back. */
  | { in: "again" };

export type Effect =
  | { do: "connect" }
  | { do: "hello"; from: number | null; ledger: string | null }
  | { do: "wait"; ms: number }
  /** What is shown may be old. */
  | { do: "refresh" }
  /** Another plan: everything shown is thrown away. */
  | { do: "anew" };

export const FIRST: LiveState = { phase: "connecting", seq: null, ledger: null, coordinator: true, role: "viewer", tries: 0 };

const LONGEST_MS = 30_000;

export function backoff(tries: number): number {
  return Math.min(1000 * 2 ** Math.max(0, tries - 1), LONGEST_MS);
}

export function step(state: LiveState, input: Input): [LiveState, Effect[]] {
  switch (input.in) {
    case "again":
      return state.phase === "lost" ? [{ ...state, phase: "connecting" }, [{ do: "connect" }]] : [state, []];
    case "opened":
      return [state, [{ do: "hello", from: state.seq === null ? null : state.seq + 1, ledger: state.ledger }]];
    case "closed": {
      if (state.phase === "lost") return [state, []];
      const tries = state.tries + 1;
      return [{ ...state, phase: "lost", tries }, [{ do: "wait", ms: backoff(tries) }]];
    }
    case "frame":
      return frame(state, input.frame);
  }
}

function frame(state: LiveState, frame: Frame): [LiveState, Effect[]] {
  switch (frame.type) {
    case "hello": {
      const known = { ...state, phase: "live" as const, tries: 0, coordinator: frame.coordinator, role: frame.role };
      // What was missed comes as records; only the very first hello says where the present is.
      return [{ ...known, ledger: frame.ledger, seq: state.seq ?? frame.seq }, [{ do: "refresh" }]];
    }
    case "record":
      if (state.seq !== null && frame.seq <= state.seq) return [state, []];
      return [{ ...state, seq: frame.seq }, [{ do: "refresh" }]];
    case "coordinator":
      return [{ ...state, coordinator: frame.up }, [{ do: "refresh" }]];
    case "another_ledger":
      return [{ ...state, seq: null, ledger: null }, [{ do: "anew" }]];
    case "cut":
      // The door closes next; the following hello asks for what was left out.
      return [{ ...state, seq: Math.max(0, frame.resume - 1), tries: 0 }, []];
    default:
      return [state, []];
  }
}
