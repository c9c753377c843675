//! A patch of git as files, hunks and lines, with the words marked that differ. Text in, text out.

#[cfg(feature = "schema")]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A file that is changed, without its lines.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct ChangedFile {
    pub path: String,
    /// Where it was before, if elsewhere.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub was: Option<String>,
    /// Lines that came, and lines that went.
    pub added: u64,
    pub removed: u64,
    /// It has no lines.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub binary: bool,
}

/// Lines that stand together.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct Hunk {
    /// `@@ -8,2 +8,2 @@ fn main`
    pub head: String,
    pub lines: Vec<HunkLine>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Side {
    /// It goes away.
    Old,
    /// It comes.
    New,
    /// It stays.
    Both,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct HunkLine {
    pub side: Side,
    /// Its number before, and after.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub old: Option<u32>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub new: Option<u32>,
    pub text: String,
    /// Characters from and up to which it differs from the line that stands for it; none where the two have next to nothing in
    /// common, or are too long to be compared.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mark: Option<(usize, usize)>,
}

/// One file of a patch, with its part of the text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FilePatch<'a> {
    pub file: ChangedFile,
    pub text: &'a str,
}

/// The files of a patch in its order. No line of a file begins like the head of one.
pub fn files(patch: &str) -> Vec<FilePatch<'_>> {
    const HEAD: &str = "diff --git ";
    let starts: Vec<usize> =
        patch.match_indices(HEAD).map(|(at, _)| at).filter(|at| is_line_start(patch, *at)).collect();
    let ends = starts.iter().skip(1).copied().chain([patch.len()]);
    let text = |(from, to): (&usize, usize)| &patch[*from..to];
    starts.iter().zip(ends).map(text).map(|text| FilePatch { file: file(text), text }).collect()
}

fn is_line_start(text: &str, at: usize) -> bool {
    at == 0 || text[..at].ends_with('\n')
}

fn file(text: &str) -> ChangedFile {
    let mut file = ChangedFile::default();
    let (mut before, mut after) = (None, None);
    let mut lines = text.lines();
    let first = lines.next().unwrap_or_default();
    let mut inside = false;
    for line in lines {
        match line.as_bytes().first() {
            _ if line.starts_with("@@") => inside = true,
            Some(b'+') if inside => file.added += 1,
            Some(b'-') if inside => file.removed += 1,
            _ if inside => {}
            _ => {
                let named = |head: &str| line.strip_prefix(head).map(plain_name);
                file.was = named("rename from ").or_else(|| named("copy from ")).or(file.was.take());
                after = named("rename to ").or_else(|| named("copy to ")).or(after);
                before = named("--- ").map(|name| without_side(&name)).or(before);
                after = named("+++ ").map(|name| without_side(&name)).or(after);
                file.binary |= line.starts_with("Binary files ") || line == "GIT binary patch";
            }
        }
    }
    let is_there = |name: &String| name != "/dev/null";
    let named = after.filter(is_there).or_else(|| before.filter(is_there));
    file.path = named.unwrap_or_else(|| head_name(first));
    file
}

fn without_side(name: &str) -> String {
    name.strip_prefix("a/").or_else(|| name.strip_prefix("b/")).unwrap_or(name).to_owned()
}

/// The name in `diff --git a/X b/X`, for files that have no lines.
fn head_name(head: &str) -> String {
    let rest = head.strip_prefix("diff --git ").unwrap_or(head);
    if rest.starts_with('"') {
        let second = rest.rfind(" \"").map_or(rest, |at| &rest[at + 1..]);
        return without_side(&plain_name(second));
    }
    // Both halves are the same but for their first letter, whatever blanks the name has.
    let half = rest.len().saturating_sub(1) / 2;
    without_side(rest.get(half + 1..).unwrap_or(rest))
}

/// Git quotes names with unusual bytes as C does, and ends names that have blanks with a tab.
fn plain_name(name: &str) -> String {
    let name = name.trim_end_matches('\t');
    let Some(quoted) = name.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')) else {
        return name.to_owned();
    };
    let (mut bytes, mut rest) = (Vec::new(), quoted.bytes());
    while let Some(byte) = rest.next() {
        if byte != b'\\' {
            bytes.push(byte);
            continue;
        }
        match rest.next() {
            Some(high @ b'0'..=b'7') => {
                let digit = |byte: Option<u8>| u32::from(byte.unwrap_or(b'0').saturating_sub(b'0'));
                let value = digit(Some(high)) * 64 + digit(rest.next()) * 8 + digit(rest.next());
                bytes.push(u8::try_from(value).unwrap_or(b'?'));
            }
            Some(b'n') => bytes.push(b'\n'),
            Some(b't') => bytes.push(b'\t'),
            Some(b'r') => bytes.push(b'\r'),
            Some(other) => bytes.push(other),
            None => {}
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

/// Lines of one file, at most so many; true when there are more.
pub fn hunks(text: &str, lines_max: usize) -> (Vec<Hunk>, bool) {
    let mut hunks: Vec<Hunk> = Vec::new();
    let (mut old, mut new, mut count) = (0, 0, 0);
    for line in text.lines() {
        if line.starts_with("@@") {
            (old, new) = starts(line);
            hunks.push(Hunk { head: line.to_owned(), lines: Vec::new() });
            continue;
        }
        let Some(hunk) = hunks.last_mut() else { continue };
        let side = match line.as_bytes().first() {
            Some(b'+') => Side::New,
            Some(b'-') => Side::Old,
            Some(b' ') => Side::Both,
            // `\ No newline at end of file` is about the line before.
            _ => continue,
        };
        if count == lines_max {
            hunks.iter_mut().for_each(mark);
            return (hunks, true);
        }
        count += 1;
        let is = |wanted: Side, at: &mut u32| {
            let there = side == wanted || side == Side::Both;
            let number = there.then_some(*at);
            *at += u32::from(there);
            number
        };
        let (old, new) = (is(Side::Old, &mut old), is(Side::New, &mut new));
        hunk.lines.push(HunkLine { side, old, new, text: line[1..].to_owned(), mark: None });
    }
    hunks.iter_mut().for_each(mark);
    (hunks, false)
}

/// The first line before and after: `@@ -8,2 +9,3 @@`.
fn starts(head: &str) -> (u32, u32) {
    let number = |sign: char| {
        let rest = head.split(sign).nth(1)?;
        rest.split([',', ' ']).next()?.parse().ok()
    };
    (number('-').unwrap_or(1), number('+').unwrap_or(1))
}

/// The first line that goes belongs to the first one that comes after it, and so on.
fn mark(hunk: &mut Hunk) {
    let mut at = 0;
    while at < hunk.lines.len() {
        let run =
            |from: usize, side: Side| hunk.lines[from..].iter().take_while(|line| line.side == side).count();
        let gone = run(at, Side::Old);
        let came = run(at + gone, Side::New);
        for pair in 0..gone.min(came) {
            let (one, other) = (at + pair, at + gone + pair);
            let (old, new) = (hunk.lines[one].text.clone(), hunk.lines[other].text.clone());
            hunk.lines[one].mark = in_characters(&old, changed_part(&old, &new));
            hunk.lines[other].mark = in_characters(&new, changed_part(&new, &old));
        }
        at += (gone + came).max(1);
    }
}

fn in_characters(text: &str, part: Option<(usize, usize)>) -> Option<(usize, usize)> {
    let (from, to) = part?;
    Some((text[..from].chars().count(), text[..to].chars().count()))
}

/// Nobody reads the words of a longer line.
const MARKED_MAX: usize = 4000;

/// What a line and the one that stands for it do not have in common at both ends, in whole words: bytes from and up to.
pub fn changed_part(one: &str, other: &str) -> Option<(usize, usize)> {
    if one.len().max(other.len()) > MARKED_MAX {
        return None;
    }
    let blank_or_end = |text: &str, at: usize| {
        at == 0
            || at == text.len()
            || !text[..at].ends_with(char::is_alphanumeric)
            || !text[at..].starts_with(char::is_alphanumeric)
    };
    let same = |(a, b): &(char, char)| a == b;
    let mut head: usize = one.chars().zip(other.chars()).take_while(same).map(|(c, _)| c.len_utf8()).sum();
    while !(blank_or_end(one, head) && blank_or_end(other, head)) {
        head = one[..head].char_indices().next_back()?.0;
    }
    let (left, right) = (&one[head..], &other[head..]);
    let mut tail: usize =
        left.chars().rev().zip(right.chars().rev()).take_while(same).map(|(c, _)| c.len_utf8()).sum();
    while tail > 0 && !(blank_or_end(one, one.len() - tail) && blank_or_end(other, other.len() - tail)) {
        tail -= one[one.len() - tail..].chars().next()?.len_utf8();
    }
    // Lines with next to nothing in common have no mark: all of it is another text.
    let common = head + tail;
    (common * 3 >= one.trim().len().min(other.trim().len()) && common > 0).then(|| (head, one.len() - tail))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whole_words_that_differ_are_marked_and_other_lines_are_not() {
        let part =
            |one: &str, other: &str| changed_part(one, other).map(|(from, to)| one[from..to].to_owned());
        assert_eq!(part("One for all tasks.", "One for each task."), Some("all tasks".into()));
        assert_eq!(part("let total = count;", "let total = counted;"), Some("count".into()));
        assert_eq!(part("größe = 1", "größe = 2"), Some("1".into()));
        assert_eq!(part("alpha", "omega beta"), None);
        assert_eq!(part(&"x".repeat(5000), &format!("{}y", "x".repeat(5000))), None, "too long");
    }

    const PATCH: &str = "diff --git a/a b.md b/a b.md\nindex 1..2 100644\n--- a/a b.md\t\n+++ b/a b.md\t\n@@ -8,3 +9,3 @@ # Title\n same\n--- one\n-größe = 1\n+++ two\n+größe = 2\n\\ No newline at end of file\ndiff --git a/old.rs b/new.rs\nsimilarity index 100%\nrename from old.rs\nrename to new.rs\ndiff --git \"a/\\303\\244.bin\" \"b/\\303\\244.bin\"\nBinary files \"a/\\303\\244.bin\" and \"b/\\303\\244.bin\" differ\ndiff --git a/gone b/gone\ndeleted file mode 100644\n--- a/gone\n+++ /dev/null\n@@ -1 +0,0 @@\n-x\n";

    #[test]
    fn files_of_a_patch_have_their_names_and_counts_whatever_they_are_called() {
        let found = files(PATCH);
        let told: Vec<(&str, u64, u64, bool)> = found
            .iter()
            .map(|found| (found.file.path.as_str(), found.file.added, found.file.removed, found.file.binary))
            .collect();
        assert_eq!(
            told,
            [("a b.md", 2, 2, false), ("new.rs", 0, 0, false), ("ä.bin", 0, 0, true), ("gone", 0, 1, false)]
        );
        assert_eq!(found[1].file.was.as_deref(), Some("old.rs"));
        assert_eq!(found.iter().map(|found| found.text).collect::<String>(), PATCH);
    }

    #[test]
    fn lines_have_numbers_of_both_sides_and_marks_and_no_more_are_given_than_asked_for() {
        let found = files(PATCH);
        let (found_hunks, cut) = hunks(found[0].text, 100);
        assert!(!cut);
        let lines = &found_hunks[0].lines;
        let numbers: Vec<_> = lines.iter().map(|line| (line.side, line.old, line.new)).collect();
        assert_eq!(numbers[0], (Side::Both, Some(8), Some(9)));
        assert_eq!(numbers[2], (Side::Old, Some(10), None));
        assert_eq!(numbers[4], (Side::New, None, Some(11)));
        // In characters: the ö is one.
        assert_eq!((lines[2].text.as_str(), lines[2].mark), ("größe = 1", Some((8, 9))));
        assert_eq!(lines[1].text, "-- one", "what looks like a head is a line");
        let (few, cut) = hunks(found[0].text, 2);
        assert!(cut && few[0].lines.len() == 2);
    }
}
