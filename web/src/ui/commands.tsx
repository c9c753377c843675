// Commands for a terminal, each with a button that copies it.
import { useAddress } from "../lib/address";
import { say } from "../lib/wishes";

function copy(line: string): void {
  const done = navigator.clipboard?.writeText(line) ?? Promise.reject(new Error("no clipboard"));
  done.then(
    () => say(`Copied: ${line}`),
    () => say("This browser lets nothing be copied: mark the command and copy it by hand"),
  );
}

/** In the past they would be about the present, and are not offered. */
export function Commands({ lines }: { lines: string[] }) {
  const { at } = useAddress();
  if (lines.length === 0 || at !== null) return null;
  return (
    <div className="commands">
      <span className="dim">On the command line</span>
      <ul>
        {lines.map((line) => (
          <li key={line}>
            <code>{line}</code>
            <button type="button" className="button small" aria-label={`Copy ${line}`} onClick={() => copy(line)}>
              Copy
            </button>
          </li>
        ))}
      </ul>
    </div>
  );
}
