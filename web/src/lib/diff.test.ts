import { describe, expect, it } from "vitest";
import { kindWords, modeWords, parsePatch, unquoted, whyFolded } from "./patch";
import { sideBySide, wordDiff } from "./words";

const PATCH = `diff --git a/src/a.rs b/src/a.rs
index 1111111..2222222 100644
--- a/src/a.rs
+++ b/src/a.rs
@@ -40,4 +40,5 @@ mod x {
 keep
-fn index() {
+fn index(book: &Book) {
+    more();
 end
\\ No newline at end of file
diff --git a/old name.txt b/new name.txt
similarity index 100%
rename from old name.txt
rename to new name.txt
diff --git a/Cargo.lock b/Cargo.lock
deleted file mode 100644
index 86d4c2d..0000000
--- a/Cargo.lock
+++ /dev/null
@@ -1 +0,0 @@
--- not a header
diff --git a/p.png b/p.png
new file mode 100644
index 0000000..86d4c2d
Binary files /dev/null and b/p.png differ
`;

describe("a patch", () => {
  it("shows marks that turn the order of what is read around", () => {
    const [file] = parsePatch("diff --git a/a b/a\n--- a/a\n+++ b/a\n@@ -1 +1 @@ f\u202e\n-x\n+y\u2066z\n");
    expect([file?.hunks[0]?.head, file?.hunks[0]?.lines[1]?.text]).toEqual(["@@ -1 +1 @@ f\\u202e", "y\\u2066z"]);
  });
  const files = parsePatch(PATCH);
  it("is read as files with counts", () => {
    expect(files.map(({ path, what, added, removed }) => [path, what, added, removed])).toEqual([
      ["src/a.rs", "changed", 2, 1],
      ["new name.txt", "renamed", 0, 0],
      ["Cargo.lock", "deleted", 0, 1],
      ["p.png", "added", 0, 0],
    ]);
    expect(files[1]?.was).toBe("old name.txt");
    expect(files[2]?.hunks[0]?.lines[0]?.text).toBe("-- not a header");
  });
  it("numbers lines on both sides", () => {
    expect(files[0]?.hunks[0]?.lines.map(({ kind, old, now }) => [kind, old, now])).toEqual([
      [" ", 40, 40],
      ["-", 41, null],
      ["+", null, 41],
      ["+", null, 42],
      [" ", 42, 43],
    ]);
  });
  it("folds what nobody reads by itself", () => {
    expect(files.map(whyFolded)).toEqual([null, null, "generated", "binary"]);
    const many = parsePatch(`diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -0,0 +1,501 @@\n${"+l\n".repeat(501)}`);
    expect(whyFolded(many[0] as never)).toBe("501 changed lines");
  });
  it("makes a changed file unseen, and only that", () => {
    const other = parsePatch(PATCH.replace("more();", "less();").replace("2222222", "3333333"));
    expect(other[0]?.print).not.toBe(files[0]?.print);
    expect(other.slice(1).map(({ print }) => print)).toEqual(files.slice(1).map(({ print }) => print));
  });
  it("keeps markup as the text that it is", () => {
    const [file] = parsePatch('diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -0,0 +1 @@\n+<img src=x onerror="alert(1)">\n');
    expect(file?.hunks[0]?.lines[0]?.text).toBe('<img src=x onerror="alert(1)">');
  });
  it("says what is no ordinary file, and which modes were changed", () => {
    const link = parsePatch(`diff --git a/docs b/docs
new file mode 120000
index 0000000..1111111
--- /dev/null
+++ b/docs
@@ -0,0 +1 @@
+/etc
\\ No newline at end of file
diff --git a/docs/a.md b/docs/a.md
deleted file mode 100644
index 1111111..0000000
--- a/docs/a.md
+++ /dev/null
@@ -1 +0,0 @@
-a
diff --git a/run.sh b/run.sh
old mode 100644
new mode 100755
diff --git a/vendor b/vendor
new file mode 160000
index 0000000..2222222
--- /dev/null
+++ b/vendor
@@ -0,0 +1 @@
+Subproject commit 2222222
`);
    expect(link.map(kindWords)).toEqual([
      "symbolic link to /etc, in place of a folder",
      "",
      "plain file (100644) → executable (100755)",
      "submodule",
    ]);
    expect(modeWords(link[2] as never)).toBe("Mode 100644 → 100755: executable (100755) now, before plain file (100644).");
    expect(files.map(kindWords)).toEqual(["", "", "", ""]);
    expect(modeWords(files[1] as never)).toBe("Only its name changed.");
  });
  it("has names that git quoted", () => {
    expect(unquoted('"caf\\303\\251 \\"x\\".md"')).toBe('café "x".md');
  });
});

describe("words", () => {
  it("marks only what differs", () => {
    const found = wordDiff("fn index() {", "fn index(book: &Book) {");
    expect(found?.before.filter(({ marked }) => marked)).toEqual([]);
    expect(found?.after.filter(({ marked }) => marked).map(({ text }) => text)).toEqual(["book: &Book"]);
  });
  it("marks nothing where nearly all differs, or a line is too long", () => {
    expect(wordDiff("alpha beta gamma", "one two three")).toBeNull();
    expect(wordDiff("a ".repeat(500), "b ".repeat(500))).toBeNull();
  });
  it("puts removed lines beside those that took their place", () => {
    const lines = parsePatch(PATCH)[0]?.hunks[0]?.lines ?? [];
    expect(sideBySide(lines).map(({ left, right }) => [left?.text ?? "", right?.text ?? ""])).toEqual([
      ["keep", "keep"],
      ["fn index() {", "fn index(book: &Book) {"],
      ["", "    more();"],
      ["end", "end"],
    ]);
  });
});
