// A field whose words survive a lost connection or a closed tab.
import { useEffect, useId, useRef } from "react";
import { remember, remembered } from "../lib/local";

export function Field({
  label,
  value,
  set,
  draft,
  lines,
  focus,
  placeholder,
}: {
  label: string;
  value: string;
  set: (value: string) => void;
  /** Under which name the draft is kept in this browser. */
  draft?: string;
  lines?: number;
  focus?: boolean;
  placeholder?: string;
}) {
  const id = useId();
  const field = useRef<HTMLTextAreaElement & HTMLInputElement>(null);
  useEffect(() => {
    const kept = draft && value === "" ? remembered(`draft:${draft}`) : null;
    if (kept) set(kept);
    if (focus) field.current?.focus();
    // Only when it is opened.
  }, []);
  const change = (text: string) => {
    set(text);
    if (draft) remember(`draft:${draft}`, text);
  };
  const common = { id, ref: field, "data-focus": focus || undefined, value, placeholder, autoComplete: "off", spellCheck: true };
  return (
    <p className="field">
      <label htmlFor={id}>{label}</label>
      {lines ? (
        <textarea
          {...common}
          rows={lines}
          onChange={(event) => change(event.target.value)}
          onKeyDown={(event) => {
            if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) event.currentTarget.form?.requestSubmit();
          }}
        />
      ) : (
        <input {...common} type="text" onChange={(event) => change(event.target.value)} />
      )}
    </p>
  );
}

export const dropDraft = (draft: string): void => remember(`draft:${draft}`, null);
