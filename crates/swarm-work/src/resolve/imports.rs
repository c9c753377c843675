//! Imports that both sides added or removed in one place: all that are wanted, each once.

mod names;

use std::collections::BTreeSet;

use super::hunks::{Hunk, Lines, content};
use names::names;

/// How a line begins that imports something and nothing else, by kind of file; and whether it has to end with `;`.
const BEGINNINGS: &[(&[&str], &[&str], bool)] = &[
    (
        &["rs"],
        &["use ", "pub use ", "pub(crate) use ", "mod ", "pub mod ", "pub(crate) mod ", "extern crate "],
        true,
    ),
    (&["py", "pyi"], &["import ", "from "], false),
    (
        &["js", "jsx", "mjs", "cjs", "ts", "tsx", "mts", "cts", "vue", "svelte"],
        &["import ", "export * from ", "export {", "export type {", "const "],
        false,
    ),
    (&["c", "h", "cc", "cpp", "cxx", "hpp", "hh", "m", "mm"], &["#include ", "#import "], false),
    (&["java", "proto", "dart"], &["import "], true),
    (&["kt", "kts", "scala", "groovy", "swift", "hs", "elm"], &["import "], false),
    (&["rb"], &["require ", "require_relative "], false),
    (&["php", "pl", "pm"], &["use ", "require ", "require_once ", "include_once "], true),
    (&["cs"], &["using ", "global using "], true),
    (&["css", "scss", "less"], &["@import ", "@use ", "@forward "], true),
    (&["ex", "exs"], &["alias ", "import ", "require "], false),
    (&["go"], &["import "], false),
];

/// Whether the line imports something, is complete, and does nothing else.
pub fn is_import(ext: &str, line: &[u8]) -> bool {
    let Ok(line) = std::str::from_utf8(content(line)) else { return false };
    let line = line.trim();
    let count = |sign: char| line.matches(sign).count();
    let complete = count('{') == count('}') && count('(') == count(')') && !line.ends_with(['\\', ',']);
    let Some((_, beginnings, ends)) = BEGINNINGS.iter().find(|(exts, ..)| exts.contains(&ext)) else {
        return false;
    };
    let begins =
        beginnings.iter().any(|begin| line.starts_with(begin)) || (ext == "go" && is_go_package(line));
    let one = !ends || (line.ends_with(';') && count(';') == 1);
    begins && complete && one && says_from_where(ext, line)
}

/// `"os"` or `log "example.com/log"`, as they stand in a block of imports.
fn is_go_package(line: &str) -> bool {
    let Some((name, path)) = line.split_once('"') else { return false };
    let named = name.trim_end().chars().all(|c| c.is_alphanumeric() || c == '_' || c == '.');
    named && path.strip_suffix('"').is_some_and(|path| !path.is_empty() && !path.contains('"'))
}

/// Lines that begin like an import and may be something else.
fn says_from_where(ext: &str, line: &str) -> bool {
    match ext {
        // It has to come first, wherever the others are.
        "py" | "pyi" => {
            !line.contains("__future__") && (!line.starts_with("from ") || line.contains(" import "))
        }
        "js" | "jsx" | "mjs" | "cjs" | "ts" | "tsx" | "mts" | "cts" | "vue" | "svelte" => {
            let quoted = line.trim_end_matches(';').ends_with(['"', '\'']);
            let required = line.contains(" = require(") && line.trim_end_matches(';').ends_with(')');
            let only_for_effect = line.starts_with("import '") || line.starts_with("import \"");
            match line.starts_with("const ") {
                true => required,
                false => quoted && (only_for_effect || line.contains(" from ")),
            }
        }
        "cs" => !line.contains('(') && !line.contains("using var"),
        "go" => line.contains('"'),
        _ => true,
    }
}

/// The lines to take. `before` and `after`: the imports around the conflict, which show whether the block is sorted.
/// None: not by this rule.
pub fn union<'a>(ext: &str, before: &[&[u8]], hunk: &Hunk<'a>, after: &[&[u8]]) -> Option<Lines<'a>> {
    let sides = [&hunk.ours, &hunk.base, &hunk.theirs];
    if !sides.iter().all(|side| side.iter().all(|line| is_import(ext, line))) {
        return None;
    }
    let [ours, base, theirs] = sides.map(|side| set(side));
    // A side that did both has changed an import, and what the other one did may be about that very line.
    let one_thing = |side: &BTreeSet<&[u8]>| side.is_superset(&base) || side.is_subset(&base);
    if !one_thing(&ours) || !one_thing(&theirs) || clash(ext, &ours, &base, &theirs) {
        return None;
    }
    let gone = |line: &[u8]| base.contains(line) && !(ours.contains(line) && theirs.contains(line));
    let mut seen = BTreeSet::new();
    let all = hunk.ours.iter().chain(&hunk.theirs).copied();
    let mut taken: Lines<'a> =
        all.filter(|line| !gone(content(line)) && seen.insert(content(line))).collect();
    for key in [as_it_is, without_case] {
        let sorted = |side: &Lines<'_>| {
            let block = before.iter().chain(side).chain(after).map(key);
            block.is_sorted()
        };
        if sorted(&hunk.ours) && sorted(&hunk.theirs) {
            taken.sort_by_key(key);
            break;
        }
    }
    Some(taken)
}

fn set<'a>(side: &Lines<'a>) -> BTreeSet<&'a [u8]> {
    side.iter().map(|line| content(line)).collect()
}

fn as_it_is(line: &&[u8]) -> Vec<u8> {
    content(line).to_vec()
}

fn without_case(line: &&[u8]) -> Vec<u8> {
    content(line).to_ascii_lowercase()
}

/// Whether both sides brought in the same name, in different ways.
fn clash(ext: &str, ours: &BTreeSet<&[u8]>, base: &BTreeSet<&[u8]>, theirs: &BTreeSet<&[u8]>) -> bool {
    let brought = |side: &BTreeSet<&[u8]>, other: &BTreeSet<&[u8]>| -> BTreeSet<String> {
        let new = side.iter().filter(|line| !base.contains(*line) && !other.contains(*line));
        new.flat_map(|line| names(ext, &String::from_utf8_lossy(line))).collect()
    };
    !brought(ours, theirs).is_disjoint(&brought(theirs, ours))
}

#[cfg(test)]
mod tests {
    use super::super::hunks::lines;
    use super::*;

    fn check(ext: &str, base: &str, ours: &str, theirs: &str, expected: Option<&str>) {
        let [b, o, t] = [base, ours, theirs].map(|text| lines(text.as_bytes()));
        let taken = union(ext, &[], &Hunk { ours: o, base: b, theirs: t }, &[]);
        let taken = taken.map(|lines| String::from_utf8(lines.concat()).expect("text"));
        assert_eq!(taken.as_deref(), expected, "{ext}: {base:?} {ours:?} {theirs:?}");
    }

    #[test]
    fn what_both_added_is_there_once_and_sorted_as_the_block_was() {
        check("rs", "", "use b::B;\n", "use a::A;\n", Some("use a::A;\nuse b::B;\n"));
        check(
            "rs",
            "",
            "use a::A;\nuse c::C;\n",
            "use a::A;\nuse b::B;\n",
            Some("use a::A;\nuse b::B;\nuse c::C;\n"),
        );
        check("rs", "", "use c::C;\nuse a::A;\n", "use b::B;\n", Some("use c::C;\nuse a::A;\nuse b::B;\n"));
        check("py", "import os\n", "import os\nimport re\n", "", Some("import re\n"));
        check("py", "", "from a import x\n", "from b import y\n", Some("from a import x\nfrom b import y\n"));
        check(
            "ts",
            "",
            "import { b } from './b';\n",
            "import a from \"./a\";\n",
            Some("import a from \"./a\";\nimport { b } from './b';\n"),
        );
        check(
            "js",
            "",
            "const b = require('b');\n",
            "const a = require('a');\n",
            Some("const a = require('a');\nconst b = require('b');\n"),
        );
        check("h", "", "#include <b.h>\n", "#include <a.h>\n", Some("#include <a.h>\n#include <b.h>\n"));
        check("go", "", "\t\"os\"\n", "\t\"fmt\"\n", Some("\t\"fmt\"\n\t\"os\"\n"));
        check("rs", "", "pub mod b;\n", "pub mod a;\n", Some("pub mod a;\npub mod b;\n"));
    }

    #[test]
    fn the_imports_around_it_say_whether_it_is_sorted() {
        let (ours, theirs) = (lines(b"use x::B;\n"), lines(b"use x::A;\n"));
        let hunk = Hunk { ours, base: vec![], theirs };
        let taken = union("rs", &[b"use z::Z;\n"], &hunk, &[]).expect("imports");
        assert_eq!(taken.concat(), b"use x::B;\nuse x::A;\n");
        let taken = union("rs", &[b"use a::Z;\n"], &hunk, &[b"use y::Y;\n"]).expect("imports");
        assert_eq!(taken.concat(), b"use x::A;\nuse x::B;\n");
    }

    #[test]
    fn what_is_more_than_a_line_more_or_less_is_left_to_others() {
        // Changed, not added.
        check("rs", "use a::{b};\n", "use a::{b, c};\n", "use a::{b, d};\n", None);
        // The same name from two places.
        check("rs", "", "use a::Thing;\n", "use b::Thing;\n", None);
        check("ts", "", "import x from './a';\n", "import { x } from './b';\n", None);
        check("py", "", "from a import x\n", "from b import x\n", None);
        // Not complete, or not only an import.
        check("ts", "", "import {\n", "import a from 'a';\n", None);
        check("py", "", "from a import (\n", "import b\n", None);
        check("py", "", "from __future__ import annotations\n", "import b\n", None);
        check("js", "", "const a = 1;\n", "const b = require('b');\n", None);
        check("rs", "", "use a::A;\n\n", "use b::B;\n", None);
        check("cs", "", "using (var x = y)\n", "using System;\n", None);
        check("txt", "", "use a;\n", "use b;\n", None);
    }
}
