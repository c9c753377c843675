// Git's patch as files, hunks and lines.
import { shown } from "./shown";

export interface PatchLine {
  kind: " " | "+" | "-";
  old: number | null;
  now: number | null;
  text: string;
}

export interface Hunk {
  head: string;
  lines: PatchLine[];
}

export interface PatchFile {
  path: string;
  /** Where it was before, if elsewhere. */
  was: string | null;
  what: "added" | "deleted" | "renamed" | "changed" | "mode";
  binary: boolean;
  /** Git's mode of it before and after, where the patch tells: `100644`, `100755`, `120000`, `160000`. */
  modes: { was: string | null; is: string | null };
  /** It stands where a folder was. */
  overFolder: boolean;
  hunks: Hunk[];
  added: number;
  removed: number;
  /** The same as long as what is changed is the same: "seen" is bound to it. */
  print: string;
}

/** FNV-1a, twice: enough to see that a file's changes are others than those somebody looked at. */
export function fingerprint(text: string): string {
  let [a, b] = [0x811c9dc5, 0x01000193];
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    a = Math.imul(a ^ code, 0x01000193);
    b = Math.imul(b ^ (code + i), 0x85ebca6b);
  }
  return `${(a >>> 0).toString(16)}${(b >>> 0).toString(16)}-${text.length.toString(36)}`;
}

/** Git quotes names with unusual bytes as C does. */
export function unquoted(name: string): string {
  if (!name.startsWith('"')) return name;
  const bytes: number[] = [];
  const inner = name.slice(1, name.endsWith('"') ? -1 : undefined);
  const plain: Record<string, number> = { n: 10, t: 9, r: 13, a: 7, b: 8, f: 12, v: 11, '"': 34, "\\": 92 };
  const utf8 = new TextEncoder();
  for (let i = 0; i < inner.length; i++) {
    if (inner[i] !== "\\") {
      bytes.push(...utf8.encode(inner[i]));
      continue;
    }
    const octal = /^[0-7]{3}/.exec(inner.slice(i + 1));
    if (octal) bytes.push(parseInt(octal[0], 8));
    else bytes.push(plain[inner[i + 1] ?? ""] ?? 63);
    i += octal ? 3 : 1;
  }
  return new TextDecoder().decode(new Uint8Array(bytes));
}

const bare = (name: string): string => unquoted(name).replace(/^[ab]\//, "");

function readHead(file: PatchFile, line: string): void {
  const mode = /^(?:new file mode|deleted file mode|old mode|new mode) (\d+)$/.exec(line)?.[1] ?? null;
  if (line.startsWith("new file")) [file.what, file.modes.is] = ["added", mode];
  else if (line.startsWith("deleted file")) [file.what, file.modes.was] = ["deleted", mode];
  else if (line.startsWith("new mode")) file.modes.is = mode;
  else if (line.startsWith("rename from ")) [file.what, file.was] = ["renamed", unquoted(line.slice("rename from ".length))];
  else if (line.startsWith("rename to ")) file.path = unquoted(line.slice("rename to ".length));
  else if (line.startsWith("old mode")) [file.what, file.modes.was] = [file.what === "renamed" ? "renamed" : "mode", mode];
  else if (/^index \S+ \d+$/.test(line)) [file.modes.was, file.modes.is] = [line.slice(-6), line.slice(-6)];
  else if (line.startsWith("Binary files") || line.startsWith("GIT binary patch")) file.binary = true;
  else if (line.startsWith("+++ ") && line !== "+++ /dev/null") file.path = bare(line.slice(4));
  else if (line.startsWith("--- ") && line !== "--- /dev/null" && file.what === "deleted") file.path = bare(line.slice(4));
}

/** The name in `diff --git a/X b/X`, for files without hunks. */
function named(line: string): string {
  const rest = line.slice("diff --git ".length);
  const half = (rest.length - 1) / 2;
  return bare(rest.slice(Math.ceil(half)).trim());
}

const unknown = (): Pick<PatchFile, "modes" | "overFolder"> => ({ modes: { was: null, is: null }, overFolder: false });

export function parsePatch(patch: string): PatchFile[] {
  const files: PatchFile[] = [];
  const texts: string[][] = [];
  let [hunk, old, now] = [null as Hunk | null, 0, 0];
  // A last newline ends the last line; it does not begin another one.
  for (const line of patch.replace(/\n$/, "").split("\n")) {
    const file = files.at(-1);
    if (line.startsWith("diff --git ")) {
      files.push({ path: named(line), was: null, what: "changed", binary: false, ...unknown(), hunks: [], added: 0, removed: 0, print: "" });
      texts.push([]);
      hunk = null;
      continue;
    }
    if (!file) continue;
    if (!line.startsWith("index ")) texts.at(-1)?.push(line);
    const head = /^@@ -(\d+)(?:,\d+)? \+(\d+)(?:,\d+)? @@/.exec(line);
    if (head) {
      hunk = { head: shown(line), lines: [] };
      [old, now] = [Number(head[1]), Number(head[2])];
      file.hunks.push(hunk);
      if (file.what === "mode") file.what = "changed";
    } else if (!hunk) {
      readHead(file, line);
    } else if (line.startsWith("+")) {
      hunk.lines.push({ kind: "+", old: null, now: now++, text: shown(line.slice(1)) });
      file.added++;
    } else if (line.startsWith("-")) {
      hunk.lines.push({ kind: "-", old: old++, now: null, text: shown(line.slice(1)) });
      file.removed++;
    } else if (!line.startsWith("\\")) {
      hunk.lines.push({ kind: " ", old: old++, now: now++, text: shown(line.slice(1)) });
    }
  }
  files.forEach((file, n) => (file.print = fingerprint(texts[n]?.join("\n") ?? "")));
  for (const file of files.filter(({ what }) => what === "added")) {
    file.overFolder = files.some(({ what, path, was }) => (what === "deleted" ? path : (was ?? "")).startsWith(`${file.path}/`));
  }
  return files;
}

const MODES: Record<string, string> = { "100644": "plain file", "100755": "executable", "120000": "symbolic link", "160000": "submodule" };

const modeName = (mode: string): string => (MODES[mode] ? `${MODES[mode]} (${mode})` : mode);

/** What a reader would not expect behind the name of a file; nothing: an ordinary file that stays one. */
export function kindWords(file: PatchFile): string {
  const { was, is } = file.modes;
  if (was && is && was !== is) return `${modeName(was)} → ${modeName(is)}`;
  const mode = is ?? was;
  if (!mode || mode === "100644" || (mode === "100755" && was === is)) return file.overFolder ? "in place of a folder" : "";
  const to = mode === "120000" && is ? ` to ${file.hunks[0]?.lines.findLast(({ kind }) => kind === "+")?.text ?? "?"}` : "";
  return `${MODES[mode] ?? `mode ${mode}`}${to}${file.overFolder ? ", in place of a folder" : ""}`;
}

/** What a file without changed lines has changed. */
export function modeWords(file: PatchFile): string {
  const { was, is } = file.modes;
  if (was && is && was !== is) return `Mode ${was} → ${is}: ${modeName(is)} now, before ${modeName(was)}.`;
  return file.what === "renamed" ? "Only its name changed." : file.what === "changed" ? "No line changed." : `An empty file was ${file.what}.`;
}

const GENERATED =
  /(^|\/)(package-lock\.json|npm-shrinkwrap\.json|yarn\.lock|pnpm-lock\.yaml|Cargo\.lock|poetry\.lock|uv\.lock|Gemfile\.lock|composer\.lock|go\.sum|flake\.lock)$|\.min\.(js|css)$|\.map$|\.snap$/;

export const LARGE = 500;

/** Why a file is not opened by itself; none: it is. */
export function whyFolded(file: PatchFile): string | null {
  if (file.binary) return "binary";
  if (GENERATED.test(file.path)) return "generated";
  return file.added + file.removed > LARGE ? `${file.added + file.removed} changed lines` : null;
}
