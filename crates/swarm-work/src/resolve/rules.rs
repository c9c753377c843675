//! One file in conflict, decided by rules: every place of it, or none.

use std::collections::BTreeSet;
use std::path::Path;

use swarm_protocol::conflict::Way;

use super::hunks::{Hunk, Lines, Piece, content, pieces};
use super::{imports, whitespace};

/// The whole file, and the rules that decided about it. None: some place of it is not for rules.
pub fn decide(path: &Path, merged: &[u8]) -> Option<(Vec<u8>, BTreeSet<Way>)> {
    let ext = path.extension().and_then(|ext| ext.to_str()).unwrap_or_default().to_ascii_lowercase();
    let pieces = pieces(merged)?;
    let (mut text, mut ways) = (Vec::new(), BTreeSet::new());
    for (n, piece) in pieces.iter().enumerate() {
        match piece {
            Piece::Merged(lines) => text.extend(lines.concat()),
            Piece::Conflict(hunk) => {
                let around = (merged_before(&pieces, n), merged_after(&pieces, n));
                let (lines, way) = decide_place(&ext, around, hunk)?;
                text.extend(lines.concat());
                ways.insert(way);
            }
        }
    }
    Some((text, ways))
}

fn merged_before<'a, 'b>(pieces: &'b [Piece<'a>], n: usize) -> &'b [&'a [u8]] {
    match n.checked_sub(1).map(|n| &pieces[n]) {
        Some(Piece::Merged(lines)) => lines,
        _ => &[],
    }
}

fn merged_after<'a, 'b>(pieces: &'b [Piece<'a>], n: usize) -> &'b [&'a [u8]] {
    match pieces.get(n + 1) {
        Some(Piece::Merged(lines)) => lines,
        _ => &[],
    }
}

fn decide_place<'a>(
    ext: &str,
    (before, after): (&[&[u8]], &[&[u8]]),
    hunk: &Hunk<'a>,
) -> Option<(Lines<'a>, Way)> {
    let import = |line: &&&[u8]| imports::is_import(ext, line);
    let above = before.iter().rev().take_while(import).count();
    let below = after.iter().take_while(import).count();
    let (above, below) = (&before[before.len() - above..], &after[..below]);
    same_lines(hunk)
        .map(|lines| (lines, Way::SameLines))
        .or_else(|| Some((imports::union(ext, above, hunk, below)?, Way::Imports)))
        .or_else(|| Some((whitespace::other_side(ext, hunk)?, Way::Whitespace)))
}

/// Both only added, and one side has all that the other one has, in one piece at its beginning or its end.
fn same_lines<'a>(hunk: &Hunk<'a>) -> Option<Lines<'a>> {
    let (longer, shorter) = match hunk.ours.len() >= hunk.theirs.len() {
        true => (&hunk.ours, &hunk.theirs),
        false => (&hunk.theirs, &hunk.ours),
    };
    // A brace alone is no sign that both meant the same.
    let says_something = shorter.iter().any(|line| content(line).iter().any(u8::is_ascii_alphanumeric));
    let same = longer.starts_with(shorter) || longer.ends_with(shorter);
    (hunk.base.is_empty() && says_something && same).then(|| longer.clone())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn place(ours: &str, base: &str, theirs: &str) -> String {
        format!("<<<<<<< 1\n{ours}||||||| 2\n{base}=======\n{theirs}>>>>>>> 3\n")
    }

    fn check(path: &str, merged: &str, expected: Option<(&str, &[Way])>) {
        let decided = decide(Path::new(path), merged.as_bytes());
        let decided = decided.map(|(text, ways)| {
            (String::from_utf8(text).expect("text"), ways.into_iter().collect::<Vec<_>>())
        });
        let expected = expected.map(|(text, ways)| (text.to_owned(), ways.to_vec()));
        assert_eq!(decided, expected, "{path}\n{merged}");
    }

    #[test]
    fn each_place_is_decided_by_the_first_rule_that_fits() {
        let merged = place("use b::B;\n", "", "use a::A;\n")
            + "\nfn main() {\n"
            + &place("    a(b);\n", "a(b);\n", "a(c);\n")
            + "}\n"
            + &place("fn x() {}\n", "", "fn x() {}\nfn y() {}\n");
        let text = "use a::A;\nuse b::B;\n\nfn main() {\na(c);\n}\nfn x() {}\nfn y() {}\n";
        check("src/a.rs", &merged, Some((text, &[Way::Whitespace, Way::Imports, Way::SameLines])));
    }

    #[test]
    fn one_place_that_is_not_for_rules_leaves_the_whole_file_to_others() {
        let merged = place("use b::B;\n", "", "use a::A;\n") + &place("one\n", "base\n", "two\n");
        check("src/a.rs", &merged, None);
        check("src/a.rs", "no marks\n", None);
        check("a.txt", &place("}\n", "", "}\nfn y() {}\n}\n"), None);
        check("a.txt", &place("one\n", "", "two\n"), None);
    }
}
