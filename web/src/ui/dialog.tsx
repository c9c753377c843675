// The frame of every question: the browser's own dialog, so that focus stays in it and goes back where it was.
import { createContext, useContext, useEffect, useLayoutEffect, useMemo, useRef, useState, type ReactNode } from "react";
import type { ApiError } from "../api/types";
import { shut } from "../lib/dialogs";

/** Keys of this time were meant for what stood there before; but whoever has written into the dialog has seen it. */
const DEAF_MS = 250;

interface Said {
  /** What is pressed is meant for this dialog. */
  armed: boolean;
  /** It was to be confirmed. Where that was not possible, the reason is said. */
  tried: boolean;
}

const Around = createContext<Said>({ armed: false, tried: false });

/** As a click on the button that confirms. */
function confirmBy(dialog: HTMLDialogElement | null): void {
  const button = dialog?.querySelector<HTMLButtonElement>("button[type=submit]");
  button?.click();
}

export function Dialog({ title, children, wide, onSubmit }: { title: string; children: ReactNode; wide?: boolean; onSubmit?: () => void }) {
  const box = useRef<HTMLDialogElement>(null);
  const [armed, arm] = useState(false);
  const [tried, tries] = useState(false);
  const said = useMemo(() => ({ armed, tried }), [armed, tried]);
  useEffect(() => {
    const timer = setTimeout(() => arm(true), DEAF_MS);
    return () => clearTimeout(timer);
  }, []);
  useLayoutEffect(() => {
    const dialog = box.current;
    const before = document.activeElement as HTMLElement | null;
    if (dialog && !dialog.open) dialog.showModal();
    // The browser would choose the first button. What asked for the focus could not have it before the dialog was open.
    (dialog?.querySelector<HTMLElement>("[data-focus]") ?? dialog?.querySelector("h2"))?.focus();
    return () => {
      dialog?.close();
      if (before?.isConnected) before.focus();
    };
  }, []);
  return (
    <dialog
      ref={box}
      className={wide ? "wide" : undefined}
      aria-labelledby="dialog-title"
      onCancel={(event) => {
        event.preventDefault();
        shut();
      }}
      onClick={(event) => event.target === box.current && shut()}
      onKeyDown={(event) => {
        const target = event.target as HTMLElement;
        if (event.ctrlKey || event.metaKey || event.altKey || target.matches("input:not([type=checkbox]):not([type=radio]), textarea, select"))
          return;
        if (event.key === "n") shut();
        else if (event.key === "y" || (event.key === "Enter" && !target.matches("button, a"))) confirmBy(box.current);
        else return;
        event.preventDefault();
      }}
    >
      <form
        onInput={() => arm(true)}
        onSubmit={(event) => {
          event.preventDefault();
          if (!armed) return;
          tries(true);
          onSubmit?.();
        }}
      >
        <h2 id="dialog-title" tabIndex={-1}>
          {title}
        </h2>
        <Around.Provider value={said}>{children}</Around.Provider>
      </form>
    </dialog>
  );
}

/** Why something was not done, or that nobody knows yet. */
export function Told({ error }: { error: ApiError | null | undefined }) {
  if (!error) return null;
  return (
    <div className="refused" role="alert">
      <p>{error.message}</p>
      {error.hint ? <p className="dim">{error.hint}</p> : null}
    </div>
  );
}

interface Last {
  button: string;
  lacks: string | null;
  /** Why it was not done, or that nobody knows yet: beside the button, with the next step. */
  told?: ApiError | null;
  bad?: boolean;
  children?: ReactNode;
}

/** The last line of a dialog. Enter where it cannot go on yet is answered with what is missing. */
export function Buttons({ button, lacks, told, bad, children }: Last) {
  const { armed, tried } = useContext(Around);
  return (
    <>
      <Told error={told} />
      {tried && lacks && !told ? (
        <p className="lacks warn" role="alert">
          {lacks}
        </p>
      ) : null}
      <div className="buttons">
        <button type="button" className="button" onClick={shut}>
          Cancel
        </button>
        {children}
        <button type="submit" className={`button ${bad ? "bad" : "good"}`} aria-disabled={!armed || lacks !== null ? true : undefined}>
          {button}
        </button>
      </div>
    </>
  );
}

/** Another way on beside the one that Enter takes. */
export function OtherWay({ onAct, children }: { onAct: () => void; children: ReactNode }) {
  const { armed } = useContext(Around);
  return (
    <button type="button" className="button bad" aria-disabled={armed ? undefined : true} onClick={() => armed && onAct()}>
      {children}
    </button>
  );
}
