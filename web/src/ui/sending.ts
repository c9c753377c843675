// What a dialog has asked for: the dialog stays, with all that was written in it, until it is known to be done.
import { useEffect, useRef, useState } from "react";
import type { ApiError, Command } from "../api/types";
import { off } from "../lib/actions";
import { question, shut, type Question } from "../lib/dialogs";
import { begin, wishes } from "../lib/wishes";

export interface Sending {
  /** Sends it; `landed` is called once it is carried out, also where the dialog or the page has gone by then. */
  send(command: Command, landed?: () => void): void;
  /** Shown beside the button: why it was not done, or that nobody knows yet. */
  told: ApiError | null;
  /** Why nothing can be sent now; none: it can. */
  lacks: string | null;
  /** Something else is asked for by now: what was refused is none of its business. */
  forget(): void;
}

const UNKNOWN: ApiError = {
  kind: "lost",
  message: "No answer came: it is not known whether it was done",
  hint: "It is asked again by itself when the connection is back, and is not done twice. What you wrote stays here",
};

/** `dialog`: the question that is shut when it is done; none on a page. */
export function useSending(dialog: Question | null = question.get()): Sending {
  // By the time of the answer another one may be there.
  const [asked] = useState(dialog);
  const [id, follow] = useState<string | null>(null);
  const [barred, bar] = useState<ApiError | null>(null);
  const last = useRef<string | null>(null);
  const wish = wishes.use().find((one) => one.id === id);
  const state = wish?.state;
  useEffect(() => {
    if (state === "landed" && asked && question.get() === asked) shut();
  }, [state, asked]);
  return {
    send(command, landed) {
      // Of whoever has looked something up first, the picture may be of before.
      const before = wishes.get().find((one) => one.id === last.current)?.state;
      if (before === "queued" || before === "lost") return;
      const why = off();
      if (why) return bar({ kind: "off", message: why, hint: "What you wrote stays here" });
      bar(null);
      last.current = begin(command, landed).id;
      follow(last.current);
    },
    told: barred ?? (state === "lost" ? UNKNOWN : state === "refused" ? (wish?.error ?? null) : null),
    lacks: state === "queued" ? "It is under way" : state === "lost" ? "It is not known yet what became of it" : null,
    forget() {
      bar(null);
      if (state === "refused") follow(null);
    },
  };
}
