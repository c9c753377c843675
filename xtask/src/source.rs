//! Rust source as the checks see it: without comments, with or without the text of strings,
//! and without its tests.
//!
//! A full parser would need a large dependency to answer "is this word used". Blanking what is not
//! code, byte for byte, keeps line numbers right and is enough.

/// What is blanked out.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Keep {
    /// Code with the text of its strings.
    Strings,
    /// Code alone.
    CodeOnly,
}

/// True for a file that holds tests, samples or what they share, and nothing that ships.
pub fn is_test_file(path: &str) -> bool {
    let (folders, name) = path.rsplit_once('/').unwrap_or(("", path));
    let in_test_folder =
        folders.split('/').any(|folder| matches!(folder, "tests" | "benches" | "golden" | "snapshots"));
    in_test_folder || name == "tests.rs" || name.ends_with("_tests.rs") || name.ends_with("_test.rs")
}

/// The part of a file that ships: everything above its `#[cfg(test)] mod …`.
///
/// Tests stand last in our files, so what follows the first test module is tests too.
pub fn shipped(text: &str) -> &str {
    let mut offset = 0;
    let mut lines = text.split_inclusive('\n').peekable();
    while let Some(line) = lines.next() {
        let next_opens_a_module =
            lines.peek().is_some_and(|next| next.starts_with("mod ") && next.contains('{'));
        if line.trim_end() == "#[cfg(test)]" && next_opens_a_module {
            return &text[..offset];
        }
        offset += line.len();
    }
    text
}

/// The same text with everything that is not to be kept replaced by spaces; line ends stay.
pub fn blanked(text: &str, keep: Keep) -> String {
    let bytes = text.as_bytes();
    let mut out = bytes.to_vec();
    let mut at = 0;
    while at < bytes.len() {
        let (end, is_string) = match token_end(bytes, at) {
            Some(found) => found,
            None => {
                at += 1;
                continue;
            }
        };
        if !is_string || keep == Keep::CodeOnly {
            blank(&mut out[at..end]);
        }
        at = end;
    }
    String::from_utf8_lossy(&out).into_owned()
}

fn blank(bytes: &mut [u8]) {
    for byte in bytes.iter_mut().filter(|byte| **byte != b'\n') {
        *byte = b' ';
    }
}

/// Where the comment, string or character that starts here ends, and whether it is a string.
fn token_end(bytes: &[u8], at: usize) -> Option<(usize, bool)> {
    let rest = &bytes[at..];
    if rest.starts_with(b"//") {
        return Some((at + find(rest, b"\n").unwrap_or(rest.len()), false));
    }
    if rest.starts_with(b"/*") {
        return Some((at + block_comment_length(rest), false));
    }
    if rest[0] == b'"' {
        return Some((at + quoted_length(rest), true));
    }
    if rest[0] == b'r' && !preceded_by_word(bytes, at) {
        return raw_string_length(rest).map(|length| (at + length, true));
    }
    if rest[0] == b'\'' {
        return character_length(rest).map(|length| (at + length, true));
    }
    None
}

fn find(bytes: &[u8], needle: &[u8]) -> Option<usize> {
    bytes.windows(needle.len()).position(|window| window == needle)
}

fn preceded_by_word(bytes: &[u8], at: usize) -> bool {
    // `br"…"` is a raw string too; any other letter before the `r` makes it part of a name.
    at > 0 && bytes[at - 1] != b'b' && (bytes[at - 1].is_ascii_alphanumeric() || bytes[at - 1] == b'_')
}

fn block_comment_length(rest: &[u8]) -> usize {
    let mut depth = 0;
    let mut at = 0;
    while at < rest.len() {
        if rest[at..].starts_with(b"/*") {
            depth += 1;
            at += 2;
        } else if rest[at..].starts_with(b"*/") {
            depth -= 1;
            at += 2;
            if depth == 0 {
                return at;
            }
        } else {
            at += 1;
        }
    }
    rest.len()
}

fn quoted_length(rest: &[u8]) -> usize {
    let mut at = 1;
    while at < rest.len() {
        match rest[at] {
            b'\\' => at += 2,
            b'"' => return at + 1,
            _ => at += 1,
        }
    }
    rest.len()
}

fn raw_string_length(rest: &[u8]) -> Option<usize> {
    let hashes = rest[1..].iter().take_while(|byte| **byte == b'#').count();
    if rest.get(1 + hashes) != Some(&b'"') {
        return None;
    }
    let mut closing = vec![b'"'];
    closing.resize(1 + hashes, b'#');
    let start = 2 + hashes;
    Some(find(&rest[start..], &closing).map_or(rest.len(), |length| start + length + closing.len()))
}

/// A character such as `'"'` or `'\n'`; a lifetime has no closing quote and is left alone.
fn character_length(rest: &[u8]) -> Option<usize> {
    if rest.get(1) == Some(&b'\\') {
        return find(&rest[3.min(rest.len())..], b"'").map(|length| 3 + length + 1);
    }
    let width = std::str::from_utf8(&rest[1..rest.len().min(5)])
        .map_or_else(|error| error.valid_up_to(), str::len)
        .min(4);
    let text = std::str::from_utf8(&rest[1..1 + width]).ok()?;
    let end = 1 + text.chars().next()?.len_utf8();
    (rest.get(end) == Some(&b'\'')).then_some(end + 1)
}

/// Lines (numbered from 1) on which `word` stands as a word of its own.
pub fn lines_with_word(text: &str, word: &str) -> Vec<usize> {
    text.lines().enumerate().filter(|(_, line)| has_word(line, word)).map(|(index, _)| index + 1).collect()
}

fn has_word(line: &str, word: &str) -> bool {
    let is_part_of_a_name = |c: char| c.is_alphanumeric() || c == '_';
    line.match_indices(word).any(|(at, _)| {
        let open = !line[..at].ends_with(is_part_of_a_name) || !word.starts_with(is_part_of_a_name);
        let closed =
            !line[at + word.len()..].starts_with(is_part_of_a_name) || !word.ends_with(is_part_of_a_name);
        open && closed
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What is left, with runs of blanks drawn together; no byte may move.
    fn check(source: &str, keep: Keep, expected: &str) {
        let left = blanked(source, keep);
        assert_eq!(left.split_whitespace().collect::<Vec<_>>().join(" "), expected, "of {source:?}");
        assert_eq!(left.len(), source.len());
        assert_eq!(left.lines().count(), source.lines().count());
    }

    #[test]
    fn comments_are_blanked_and_line_ends_stay() {
        check("a // b\nc", Keep::Strings, "a c");
        check("a /* b /* c\n */ d */ e", Keep::Strings, "a e");
    }

    #[test]
    fn strings_are_kept_or_blanked_as_asked() {
        check(r#"f("x // y", 'c')"#, Keep::Strings, r#"f("x // y", 'c')"#);
        check(r#"f("x \" y", z)"#, Keep::CodeOnly, "f( , z)");
        check("r#\"a\"b\"# c", Keep::CodeOnly, "c");
        check("for x in y", Keep::CodeOnly, "for x in y");
    }

    #[test]
    fn a_quote_in_a_character_opens_no_string_and_a_lifetime_is_no_character() {
        check("('\"', HashMap)", Keep::CodeOnly, "( , HashMap)");
        check("fn f<'a>(x: &'a str) // '", Keep::CodeOnly, "fn f<'a>(x: &'a str)");
        check("'\\'' + 'ü' + x", Keep::CodeOnly, "+ + x");
    }

    #[test]
    fn tests_do_not_ship() {
        assert_eq!(shipped("a\n#[cfg(test)]\nmod tests {\n}\n"), "a\n");
        assert_eq!(shipped("a\n#[cfg(test)]\nmod tests;\nb\n"), "a\n#[cfg(test)]\nmod tests;\nb\n");
        assert!(is_test_file("crates/swarm-core/tests/model.rs"));
        assert!(is_test_file("crates/swarm-core/src/react/tests.rs"));
        assert!(!is_test_file("crates/swarm-core/src/react/attests.rs"));
    }

    #[test]
    fn a_word_is_found_only_whole() {
        assert_eq!(lines_with_word("HashMapping\nuse HashMap;\n", "HashMap"), [2]);
        assert_eq!(lines_with_word("operand::x\nrand::x", "rand::"), [2]);
        assert_eq!(lines_with_word("Timestamp::now()", "::now("), [1]);
    }
}
