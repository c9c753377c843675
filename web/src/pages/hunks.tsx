// The lines of a file's changes, inline or beside one another, with a note at any line.
import { Fragment, useMemo, useState, type ReactNode } from "react";
import type { PatchFile, PatchLine } from "../lib/patch";
import { partners, sideBySide, wordDiff, type Piece } from "../lib/words";
import { Field } from "../ui/field";
import type { Notes } from "./diff";

/** Lines that are drawn at once; more are asked for. */
const DRAWN = 600;

const NAMES = { "+": "added", "-": "removed", " ": "unchanged" } as const;

function marked(pieces: Piece[]): ReactNode {
  return pieces.map((piece, n) => (piece.marked ? <mark key={n}>{piece.text}</mark> : <Fragment key={n}>{piece.text}</Fragment>));
}

function useMarks(lines: PatchLine[]): (line: PatchLine) => ReactNode {
  return useMemo(() => {
    const pairs = partners(lines);
    return (line: PatchLine) => {
      const other = pairs.get(line);
      if (!other) return line.text;
      const words = line.kind === "-" ? wordDiff(line.text, other.text)?.before : wordDiff(other.text, line.text)?.after;
      return words ? marked(words) : line.text;
    };
  }, [lines]);
}

function NoteAt({ file, line, notes, close }: { file: string; line: number | null; notes: Notes; close: () => void }) {
  const [text, setText] = useState("");
  const save = () => {
    if (!text.trim()) return;
    notes.add({ file, ...(line === null ? {} : { line }), text: text.trim() });
    close();
  };
  return (
    <form
      className="noteform"
      onSubmit={(event) => {
        event.preventDefault();
        save();
      }}
      onKeyDown={(event) => {
        if (event.key !== "Escape") return;
        event.stopPropagation();
        close();
      }}
    >
      <Field label={`Note at ${file}${line === null ? "" : `:${line}`}`} value={text} set={setText} lines={2} focus />
      <div className="buttons">
        <button type="button" className="button small" onClick={close}>
          Discard
        </button>
        <button type="submit" className="button small good" disabled={!text.trim()}>
          Save note
        </button>
      </div>
    </form>
  );
}

function KeptNotes({ file, line, notes }: { file: string; line: number | null; notes: Notes }) {
  const own = notes.all.map((note, n) => ({ note, n })).filter(({ note }) => note.file === file && line !== null && note.line === line);
  return own.map(({ note, n }) => (
    <div key={n} className="kept">
      <span>└ {note.text}</span>
      <button type="button" className="button small" onClick={() => notes.drop(n)}>
        Discard
      </button>
    </div>
  ));
}

function Cells({
  line,
  side,
  text,
  onNote,
}: {
  line: PatchLine | null;
  side: "old" | "now" | "both";
  text: (line: PatchLine) => ReactNode;
  onNote: ((line: PatchLine) => void) | null;
}) {
  if (!line)
    return (
      <>
        <td className="n" />
        <td className="sign void" />
        <td className="code void" />
      </>
    );
  const tone = line.kind === "+" ? "add" : line.kind === "-" ? "del" : "";
  const number = side === "old" ? line.old : side === "now" ? line.now : (line.now ?? line.old);
  return (
    <>
      <td className={`n ${tone}`}>
        {onNote ? (
          <button type="button" className="linenote" tabIndex={-1} aria-label={`Note at line ${number ?? ""}`} onClick={() => onNote(line)}>
            {number}
          </button>
        ) : (
          number
        )}
      </td>
      <td className={`sign ${tone}`}>
        <span aria-hidden="true">{line.kind}</span>
        <span className="only-read">{line.kind === " " ? "" : NAMES[line.kind]}</span>
      </td>
      <td className={`code ${tone}`}>{text(line)}</td>
    </>
  );
}

function HunkRows({ file, lines, beside, notes }: { file: PatchFile; lines: PatchLine[]; beside: boolean; notes: Notes | null }) {
  const text = useMarks(lines);
  const [at, setAt] = useState<PatchLine | null>(null);
  const rows = useMemo(() => (beside ? sideBySide(lines) : lines.map((line) => ({ left: line, right: line }))), [lines, beside]);
  const onNote = notes ? (line: PatchLine) => setAt(line) : null;
  return rows.map(({ left, right }, n) => {
    const here = right ?? left;
    const open = notes && at !== null && (at === left || at === right);
    const kept = notes && here ? notes.all.some((note) => note.file === file.path && note.line === here.now) : false;
    return (
      <Fragment key={n}>
        <tr className={beside ? "beside" : undefined}>
          {beside ? <Cells line={left} side="old" text={text} onNote={null} /> : null}
          {beside ? <Cells line={right} side="now" text={text} onNote={onNote} /> : <Cells line={here} side="both" text={text} onNote={onNote} />}
        </tr>
        {notes && (open || kept) ? (
          <tr className="noterow">
            <td colSpan={6}>
              <KeptNotes file={file.path} line={here?.now ?? null} notes={notes} />
              {open ? <NoteAt file={file.path} line={at.now} notes={notes} close={() => setAt(null)} /> : null}
            </td>
          </tr>
        ) : null}
      </Fragment>
    );
  });
}

export function Hunks({ file, beside, notes }: { file: PatchFile; beside: boolean; notes: Notes | null }) {
  const [drawn, draw] = useState(DRAWN);
  const [noting, note] = useState(false);
  let left = drawn;
  const parts = file.hunks.flatMap((hunk) => {
    if (left <= 0) return [];
    const lines = left >= hunk.lines.length ? hunk.lines : hunk.lines.slice(0, left);
    left -= lines.length;
    return [{ hunk, lines }];
  });
  const all = file.hunks.reduce((sum, hunk) => sum + hunk.lines.length, 0);
  return (
    <div className="hunks" tabIndex={0} role="region" aria-label={`Changes of ${file.path}`}>
      <table className={beside ? "code beside" : "code"}>
        {beside ? (
          <colgroup>
            {["n", "s", "c", "n", "s", "c"].map((kind, n) => (
              <col key={n} className={`col-${kind}`} />
            ))}
          </colgroup>
        ) : null}
        {parts.map(({ hunk, lines }, n) => (
          <tbody key={n}>
            <tr className="hunkhead">
              <td colSpan={beside ? 6 : 3} tabIndex={-1} data-hunk>
                {hunk.head}
              </td>
            </tr>
            <HunkRows file={file} lines={lines} beside={beside} notes={notes} />
          </tbody>
        ))}
      </table>
      {all > drawn ? (
        <button type="button" className="button" onClick={() => draw(drawn + 4 * DRAWN)}>
          Show {Math.min(all - drawn, 4 * DRAWN)} more of {all} lines
        </button>
      ) : null}
      {notes && !noting ? (
        <button type="button" className="button small filenote" onClick={() => note(true)}>
          Note on {file.path} …
        </button>
      ) : null}
      {notes && noting ? <FileNote file={file} notes={notes} close={() => note(false)} /> : null}
    </div>
  );
}

/** A note by line number: the same for keyboards as a click on a line. */
function FileNote({ file, notes, close }: { file: PatchFile; notes: Notes; close: () => void }) {
  const [line, setLine] = useState("");
  const number = /^\d+$/.test(line) ? Number(line) : null;
  return (
    <div className="filenoteform">
      <label className="check">
        Line <input type="text" inputMode="numeric" size={5} value={line} onChange={(event) => setLine(event.target.value)} />
      </label>
      <NoteAt file={file.path} line={number} notes={notes} close={close} />
    </div>
  );
}
