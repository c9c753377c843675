//! The names that a line of imports brings in, as far as two lines could bring in the same.

use std::collections::BTreeSet;

/// Words of the languages, and names that mean nobody's name.
const NO_NAMES: [&str; 16] = [
    "import", "export", "type", "typeof", "const", "as", "default", "from", "self", "super", "crate", "_",
    "use", "pub", "mod", "static",
];

/// Rather too many than too few: who is in doubt asks a person.
pub(super) fn names(ext: &str, line: &str) -> BTreeSet<String> {
    let line = line.trim().trim_end_matches(';');
    let part = match ext {
        "rs" | "java" | "kt" | "kts" | "scala" | "groovy" | "cs" | "php" | "ex" | "exs" | "swift" => {
            of_path(line)
        }
        "py" | "pyi" => match line.split_once(" import ") {
            Some((_, names)) => names,
            // `import a.b` and `import a.c` go together.
            None => line.split_once(" as ").map_or("", |(_, name)| name),
        },
        "c" | "h" | "cc" | "cpp" | "cxx" | "hpp" | "hh" | "m" | "mm" | "rb" | "css" | "scss" | "less"
        | "proto" => "",
        "go" => line.split('"').next().unwrap_or_default(),
        _ => line
            .split_once(" from ")
            .or_else(|| line.split_once(" = require("))
            .map_or("", |(names, _)| names),
    };
    let words = part.split(|c: char| !c.is_alphanumeric() && c != '_' && c != '$');
    words.filter(|word| !word.is_empty() && !NO_NAMES.contains(word)).map(str::to_owned).collect()
}

/// What stands in braces, behind `as` or `=`, or last.
fn of_path(line: &str) -> &str {
    if let Some((_, list)) = line.split_once('{') {
        return list;
    }
    if let Some((_, name)) = line.rsplit_once(" as ") {
        return name;
    }
    if let Some((name, _)) = line.split_once(" = ") {
        return name.rsplit(' ').next().unwrap_or(name);
    }
    line.rsplit(['.', ':', '\\', ' ']).next().unwrap_or(line)
}

#[cfg(test)]
mod tests {
    use super::names;

    fn check(ext: &str, line: &str, expected: &str) {
        let found: Vec<String> = names(ext, line).into_iter().collect();
        assert_eq!(found.join(" "), expected, "{ext}: {line}");
    }

    #[test]
    fn the_names_of_a_line() {
        check("rs", "use a::b::{C, d::E as F};", "C E F d");
        check("rs", "use a::b::C;", "C");
        check("rs", "use a::b as c;", "c");
        check("rs", "pub mod one;", "one");
        check("java", "import a.b.C;", "C");
        check("cs", "using X = A.B;", "X");
        check("py", "from a import b as c, d", "b c d");
        check("py", "import a.b", "");
        check("py", "import numpy as np", "np");
        check("ts", "import React, { useState } from 'react';", "React useState");
        check("ts", "export * from './a';", "");
        check("js", "const { a, b } = require('x');", "a b");
        check("go", "log \"x/log\"", "log");
        check("h", "#include <a.h>", "");
    }
}
