//! The shapes that a line of a checklist can have.

use crate::ids::TaskId;

/// An item at the margin.
pub(super) struct Item<'a> {
    pub mark: char,
    pub text: &'a str,
}

/// `- [ ] text`, at the margin.
pub(super) fn item(line: &str) -> Option<Item<'_>> {
    let rest = line.strip_prefix("- [").or_else(|| line.strip_prefix("* ["))?;
    let mut chars = rest.chars();
    let mark = chars.next()?;
    let text = chars.as_str().strip_prefix(']')?;
    (text.is_empty() || text.starts_with([' ', '\t'])).then_some(Item { mark, text: text.trim() })
}

/// The id in front of a title: a first word with a digit in it, or one that ends in a colon.
/// Otherwise the words are all title: "add a login" must not become the task `add`.
pub(super) fn own_id(text: &str) -> Option<(String, &str)> {
    let (word, rest) = text.split_once(char::is_whitespace).unwrap_or((text, ""));
    let (id, marked) = match word.strip_suffix(':') {
        Some(id) => (id, true),
        None => (word, false),
    };
    let named = marked || id.contains(|c: char| c.is_ascii_digit());
    (named && TaskId::new(id).is_ok()).then(|| (id.to_owned(), rest.trim()))
}

/// A title with `(depends: 1.2, 1.3)` behind it: the words before, and the ids.
pub(super) fn depends_at_end(title: &str) -> Option<(&str, Vec<&str>)> {
    let (words, rest) = title.trim_end().strip_suffix(')')?.rsplit_once('(')?;
    let (name, ids) = rest.split_once(':')?;
    let ids: Vec<&str> = ids.split(',').map(str::trim).collect();
    let is_list = name.trim().eq_ignore_ascii_case("depends") && ids.iter().all(|id| TaskId::new(id).is_ok());
    (is_list && !words.trim().is_empty()).then_some((words.trim_end(), ids))
}

/// `---` and its kin: for the eye only.
pub(super) fn is_rule(line: &str) -> bool {
    let line = line.trim_end();
    line.len() >= 3 && ["-", "*", "_"].iter().any(|mark| line.trim_start_matches(mark).is_empty())
}

/// `Phase 1: name`, `Phase 1`, `1: name`; none when the heading is only a name.
pub(super) fn phase_heading(heading: &str) -> Option<(Option<u32>, &str)> {
    let rest = heading.strip_prefix("Phase ").or_else(|| heading.strip_prefix("phase ")).map(str::trim_start);
    let body = rest.unwrap_or(heading);
    let digits = body.bytes().take_while(u8::is_ascii_digit).count();
    let (number, after) = body.split_at(digits);
    let name = after.strip_prefix(':').or(after.is_empty().then_some(""));
    match (rest, name) {
        _ if digits == 0 => None,
        (_, Some(name)) => Some((number.parse().ok().filter(|id| *id > 0), name.trim())),
        (Some(_), None) => Some((
            number.parse().ok().filter(|id| *id > 0),
            after.trim_start_matches([' ', '-', '–', '.']).trim(),
        )),
        (None, None) => None,
    }
}
