// The field behind `/`. What is typed stands in the address.
import { useAddress } from "../lib/address";

export function Filter({ hint = "words, stage:review, tag:docs, !not" }: { hint?: string }) {
  const { get, set } = useAddress();
  return (
    <input
      type="search"
      data-filter
      className="filter"
      aria-label={`Filter: ${hint}`}
      placeholder={`/ ${hint}`}
      value={get("q")}
      onChange={(event) => set({ q: event.target.value })}
      onKeyDown={(event) => {
        if (event.key === "Enter") event.currentTarget.blur();
      }}
    />
  );
}
