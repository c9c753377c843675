//! Which side of a conflict did more than move white space.

use super::hunks::{Hunk, Lines, content};

/// Kinds of files where the layout of a line means nothing to whoever reads it. In all others only what stands at the
/// end of lines counts as white space: an indent may be the meaning.
const FREE_LAYOUT: [&str; 34] = [
    "rs", "c", "h", "cc", "cpp", "cxx", "hpp", "hh", "java", "js", "jsx", "mjs", "cjs", "ts", "tsx", "mts",
    "cts", "go", "cs", "kt", "kts", "swift", "scala", "php", "css", "scss", "less", "json", "sql", "dart",
    "zig", "proto", "m", "mm",
];

/// The lines to take where a side changed white space only; none: both changed more.
pub fn other_side<'a>(ext: &str, hunk: &Hunk<'a>) -> Option<Lines<'a>> {
    let free = FREE_LAYOUT.contains(&ext);
    let bare = |lines: &Lines<'a>| bare(lines, free);
    let (ours, base, theirs) = (bare(&hunk.ours), bare(&hunk.base), bare(&hunk.theirs));
    // Lines that one side added or took away altogether are no white space.
    if base.is_empty() && ours != theirs {
        return None;
    }
    match (ours == base, theirs == base) {
        (true, false) => Some(hunk.theirs.clone()),
        (true, true) | (false, true) => Some(hunk.ours.clone()),
        (false, false) => (ours == theirs).then(|| hunk.ours.clone()),
    }
}

/// The lines without what does not count.
fn bare(lines: &Lines<'_>, free: bool) -> Vec<Vec<u8>> {
    let all =
        lines.iter().map(|line| if free { free_line(line) } else { content(line).trim_ascii_end().to_vec() });
    all.filter(|line| !free || !line.is_empty()).collect()
}

/// Without its indent and with one blank for many; within quotes every blank counts.
fn free_line(line: &[u8]) -> Vec<u8> {
    let line = line.trim_ascii();
    if line.iter().any(|b| b"\"'`".contains(b)) {
        return line.to_vec();
    }
    let words = line.split(u8::is_ascii_whitespace).filter(|word| !word.is_empty());
    words.collect::<Vec<_>>().join(&b' ')
}

#[cfg(test)]
mod tests {
    use super::super::hunks::lines;
    use super::*;

    fn check(ext: &str, base: &str, ours: &str, theirs: &str, expected: Option<&str>) {
        let [b, o, t] = [base, ours, theirs].map(|text| lines(text.as_bytes()));
        let taken = other_side(ext, &Hunk { ours: o, base: b, theirs: t });
        let taken = taken.map(|lines| String::from_utf8(lines.concat()).expect("text"));
        assert_eq!(taken.as_deref(), expected, "{ext}: {base:?} {ours:?} {theirs:?}");
    }

    #[test]
    fn the_side_that_changed_more_is_taken() {
        check("rs", "a(b);\n", "    a(b);\n", "a(c);\n", Some("a(c);\n"));
        check("rs", "a(b);\n", "a(c);\n", "  a(b);\n", Some("a(c);\n"));
        check("rs", "a(b);\n", "  a(b);\n", "\ta(b);\n", Some("  a(b);\n"));
        check("rs", "a(b);\n", "a(c);\n", "  a(c);\n", Some("a(c);\n"));
        check("txt", "a\n", "a  \n", "b\n", Some("b\n"));
        check("py", "a\r\n", "a\n", "b\n", Some("b\n"));
    }

    #[test]
    fn what_may_mean_something_is_left_to_others() {
        check("rs", "a(b);\n", "a(c);\n", "a(d);\n", None);
        check("py", "a()\n", "    a()\n", "b()\n", None);
        check("yaml", "a: 1\n", "  a: 1\n", "a: 2\n", None);
        check("rs", "let a = \"x y\";\n", "let a = \"x  y\";\n", "let b = 1;\n", None);
        check("rs", "", "", "a\n", None);
        check("rs", "a\n", "", "b\n", None);
    }
}
