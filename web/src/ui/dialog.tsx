// The frame of every question: the browser's own dialog, so that focus stays in it and goes back where it was.
import { useEffect, useLayoutEffect, useRef, useState, type ReactNode } from "react";
import { shut } from "../lib/dialogs";

/** Keys of this time were meant for what stood there before. */
const DEAF_MS = 250;

export function useArmed(): boolean {
  const [armed, arm] = useState(false);
  useEffect(() => {
    const timer = setTimeout(() => arm(true), DEAF_MS);
    return () => clearTimeout(timer);
  }, []);
  return armed;
}

/** As a click on the button that confirms; while that is not possible nothing happens. */
function confirmBy(dialog: HTMLDialogElement | null): void {
  const button = dialog?.querySelector<HTMLButtonElement>("button[type=submit]");
  if (button && !button.disabled) button.click();
}

export function Dialog({ title, children, wide, onSubmit }: { title: string; children: ReactNode; wide?: boolean; onSubmit?: () => void }) {
  const box = useRef<HTMLDialogElement>(null);
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
        onSubmit={(event) => {
          event.preventDefault();
          onSubmit?.();
        }}
      >
        <h2 id="dialog-title" tabIndex={-1}>
          {title}
        </h2>
        {children}
      </form>
    </dialog>
  );
}

export function Buttons({
  button,
  ready,
  bad,
  children,
  onCancel,
}: {
  button: string;
  ready: boolean;
  bad?: boolean;
  children?: ReactNode;
  onCancel?: () => void;
}) {
  const armed = useArmed();
  return (
    <div className="buttons">
      {children}
      <button type="button" className="button" onClick={onCancel ?? shut}>
        Cancel
      </button>
      <button type="submit" className={`button ${bad ? "bad" : "good"}`} disabled={!armed || !ready}>
        {button}
      </button>
    </div>
  );
}
