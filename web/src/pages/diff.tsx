// What the work of a task changes: counts first, files opened as they come into view, words marked in what is looked at.
import { useCallback, useEffect, useMemo, useRef, useState, useSyncExternalStore } from "react";
import type { DiffView, ReviewNote } from "../api/types";
import { useAddress } from "../lib/address";
import { remember, remembered } from "../lib/local";
import { kindWords, modeWords, parsePatch, whyFolded, type PatchFile } from "../lib/patch";
import { count, short } from "../lib/said";
import { shown as readable } from "../lib/shown";
import { Awaited, Empty } from "../ui/parts";
import { pageKeys, wrap } from "../ui/run";
import { Hunks } from "./hunks";

export interface Notes {
  all: ReviewNote[];
  add(note: ReviewNote): void;
  drop(n: number): void;
}

/** What was seen, by the print of its changes: a changed file becomes unseen by itself. */
function useSeen(task: string) {
  const key = `seen:${task}`;
  const [seen, set] = useState(() => new Set((remembered(key) ?? "").split(" ").filter(Boolean)));
  const mark = useCallback(
    (print: string, on: boolean) =>
      set((before) => {
        const next = new Set(before);
        if (on) next.add(print);
        else next.delete(print);
        remember(key, [...next].slice(-500).join(" "));
        return next;
      }),
    [key],
  );
  return { seen, mark };
}

function useNear(): [React.RefObject<HTMLDivElement | null>, boolean] {
  const box = useRef<HTMLDivElement>(null);
  const [near, set] = useState(false);
  useEffect(() => {
    const node = box.current;
    if (!node || near) return;
    const watch = new IntersectionObserver((entries) => entries.some((entry) => entry.isIntersecting) && set(true), { rootMargin: "800px" });
    watch.observe(node);
    return () => watch.disconnect();
  }, [near]);
  return [box, near];
}

const LINE_PX = 20;

/** A part of its own: what is watched has to be there when the watching begins, also in a file that was opened later. */
function FileBody({ file, beside, notes }: { file: PatchFile; beside: boolean; notes: Notes | null }) {
  const [box, near] = useNear();
  const lines = file.hunks.reduce((sum, hunk) => sum + hunk.lines.length + 1, 0);
  return (
    <div ref={box} style={near ? {} : { minHeight: Math.min(lines, 500) * LINE_PX }}>
      {!near ? null : file.binary ? (
        <Empty>Bytes that are no text.</Empty>
      ) : file.hunks.length === 0 ? (
        <Empty>{modeWords(file)}</Empty>
      ) : (
        <Hunks file={file} beside={beside} notes={notes} />
      )}
    </div>
  );
}

function FileView({
  file,
  beside,
  seen,
  onSeen,
  notes,
  guarded,
}: {
  file: PatchFile;
  beside: boolean;
  seen: boolean;
  onSeen: (on: boolean) => void;
  notes: Notes | null;
  /** Changed only with a person's word. */
  guarded: boolean;
}) {
  const why = whyFolded(file);
  const kind = kindWords(file);
  const [open, setOpen] = useState<boolean | null>(null);
  const shown = open ?? (!seen && why === null);
  const own = notes?.all.filter((note) => note.file === file.path).length ?? 0;
  return (
    <section className="file" data-file={file.path} aria-label={file.path}>
      <div className="filehead">
        <input type="checkbox" checked={seen} aria-label={`Seen: ${file.path}`} onChange={(event) => onSeen(event.target.checked)} />
        <button type="button" className="fold" aria-expanded={shown} onClick={() => setOpen(!shown)} data-filehead>
          {shown ? "▾" : "▸"} {file.was ? `${readable(file.was)} → ` : ""}
          {readable(file.path)}
        </button>
        <span className="plus">+{file.added}</span>
        <span className="minus">−{file.removed}</span>
        {guarded ? <span className="warn">protected</span> : null}
        {kind ? <span className="warn">{kind}</span> : null}
        <span className="dim">
          {file.what === "changed" || file.what === "mode" ? "" : file.what} {seen ? "seen" : ""}{" "}
          {why ? `${why}${shown ? "" : ", open to load"}` : ""} {own ? count(own, "note") : ""}
        </span>
      </div>
      {shown ? <FileBody file={file} beside={beside} notes={notes} /> : null}
    </section>
  );
}

/** Two columns of code need room. */
function useWide(): boolean {
  const [query] = useState(() => window.matchMedia("(min-width: 721px)"));
  const subscribe = useCallback(
    (tell: () => void) => {
      query.addEventListener("change", tell);
      return () => query.removeEventListener("change", tell);
    },
    [query],
  );
  return useSyncExternalStore(subscribe, () => query.matches);
}

function jump(selector: string, by: number): void {
  const marks = [...document.querySelectorAll<HTMLElement>(selector)];
  const edge = 140;
  const tops = marks.map((mark) => mark.getBoundingClientRect().top);
  const index = by > 0 ? tops.findIndex((top) => top > edge + 4) : tops.findLastIndex((top) => top < edge - 4);
  const mark = marks[index];
  if (!mark) return;
  mark.scrollIntoView({ block: "start" });
  mark.focus({ preventScroll: true });
}

export function Diff({
  task,
  data,
  error,
  notes,
  guarded,
  past,
  none,
}: {
  task: string;
  data: DiffView | undefined;
  error: Error | null;
  notes: Notes | null;
  guarded: string[];
  past: boolean;
  /** What is said where nothing is changed. */
  none: string;
}) {
  const { get, set } = useAddress();
  const wrapped = wrap.use();
  const files = useMemo(() => (data ? parsePatch(data.patch) : []), [data]);
  const { seen, mark } = useSeen(task);
  const wide = useWide();
  const beside = wide && (get("view") || remembered("diff") || "inline") === "side";
  const view = (side: boolean) => {
    remember("diff", side ? "side" : "inline");
    set({ view: side ? "side" : "inline" });
  };
  useEffect(() => {
    const heard = (event: Event) => {
      const action = (event as CustomEvent<string>).detail;
      if (action === "mark:next" || action === "mark:previous") jump("[data-hunk]", action.endsWith("next") ? 1 : -1);
      if (action === "file:next" || action === "file:previous") jump("[data-filehead]", action.endsWith("next") ? 1 : -1);
      if (action === "seen") {
        const here = document.activeElement?.closest<HTMLElement>("[data-file]")?.dataset["file"];
        const file = files.find((one) => one.path === here) ?? files.find((one) => !seen.has(one.print));
        if (!file) return;
        mark(file.print, true);
        const rest = files.slice(files.indexOf(file) + 1).find((one) => !seen.has(one.print));
        const heads = [...document.querySelectorAll<HTMLElement>("[data-filehead]")];
        heads[rest ? files.indexOf(rest) : files.indexOf(file)]?.focus();
      }
    };
    pageKeys.addEventListener("action", heard);
    return () => pageKeys.removeEventListener("action", heard);
  }, [files, seen, mark]);
  if (past) return <Empty>The diff is shown for the present only.</Empty>;
  if (!data) return <Awaited error={error} what="the diff" />;
  const looked = files.filter((file) => seen.has(file.print)).length;
  const [added, removed] = [files.reduce((n, f) => n + f.added, 0), files.reduce((n, f) => n + f.removed, 0)];
  return (
    <div className={`diff${wrapped ? " wrapped" : ""}`} data-diff>
      <div className="diffbar">
        <span hidden={files.length === 0}>
          {count(files.length, "file")} <span className="plus">+{added}</span> <span className="minus">−{removed}</span> · {looked}/{files.length}{" "}
          seen
        </span>
        <span className="dim">
          {short(data.from)} → {short(data.to)}
        </span>
        <span className="push" />
        <span className="switch" role="group" aria-label="How the diff is shown">
          <button type="button" className="button small" aria-pressed={!beside} onClick={() => view(false)}>
            Inline
          </button>
          <button type="button" className="button small wideonly" aria-pressed={beside} onClick={() => view(true)}>
            Side by side
          </button>
          <button type="button" className="button small" aria-pressed={wrapped} onClick={() => wrap.set(!wrapped)}>
            Wrap
          </button>
        </span>
      </div>
      {files.length === 0 ? <Empty>{none}</Empty> : null}
      {/* A file that became a link stands here twice: taken away, and added as what it is now. */}
      {files.map((file) => (
        <FileView
          key={`${file.path} ${file.what}`}
          file={file}
          beside={beside}
          seen={seen.has(file.print)}
          onSeen={(on) => mark(file.print, on)}
          notes={notes}
          guarded={guarded.includes(file.path)}
        />
      ))}
      {data.cut ? (
        <p className="warn">
          There is more than is shown here: git diff {short(data.from)} {short(data.to)}
        </p>
      ) : null}
    </div>
  );
}
