//! A file that git left with marks of the style `diff3`, taken apart.

/// Lines with their ends.
pub type Lines<'a> = Vec<&'a [u8]>;

/// What both sides did in one place, and what was there before.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Hunk<'a> {
    pub ours: Lines<'a>,
    pub base: Lines<'a>,
    pub theirs: Lines<'a>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Piece<'a> {
    /// Merged by git.
    Merged(Lines<'a>),
    Conflict(Hunk<'a>),
}

/// As many signs as a mark has.
const MARK: usize = 7;

pub fn lines(text: &[u8]) -> Lines<'_> {
    text.split_inclusive(|b| *b == b'\n').collect()
}

/// A line without its end.
pub fn content(line: &[u8]) -> &[u8] {
    let line = line.strip_suffix(b"\n").unwrap_or(line);
    line.strip_suffix(b"\r").unwrap_or(line)
}

fn is_mark(line: &[u8], sign: u8) -> bool {
    let line = content(line);
    line.len() >= MARK && line[..MARK].iter().all(|b| *b == sign) && line.get(MARK).is_none_or(|b| *b == b' ')
}

/// Whether marks in the merged file could be told from what this side has. A file without an end of line at its end
/// cannot be put together again either: the marks hide it.
pub fn is_readable(side: &[u8]) -> bool {
    let ends_well = side.is_empty() || side.ends_with(b"\n");
    ends_well && !side.contains(&0) && !lines(side).iter().any(|line| begins_like_a_mark(line))
}

fn begins_like_a_mark(line: &[u8]) -> bool {
    let Some(sign) = line.first().filter(|sign| b"<|=>".contains(sign)) else { return false };
    line.len() >= MARK && line[..MARK].iter().all(|b| b == sign)
}

/// The pieces in their order. None: these are not the marks of one conflict after the other.
pub fn pieces(merged: &[u8]) -> Option<Vec<Piece<'_>>> {
    enum At {
        Outside,
        Ours,
        Base,
        Theirs,
    }
    let mut pieces = Vec::new();
    let (mut plain, mut hunk, mut at) = (Lines::new(), Hunk::default(), At::Outside);
    for line in lines(merged) {
        match at {
            At::Outside if is_mark(line, b'<') => {
                pieces.push(Piece::Merged(std::mem::take(&mut plain)));
                at = At::Ours;
            }
            At::Ours if is_mark(line, b'|') => at = At::Base,
            At::Base if is_mark(line, b'=') => at = At::Theirs,
            At::Theirs if is_mark(line, b'>') => {
                pieces.push(Piece::Conflict(std::mem::take(&mut hunk)));
                at = At::Outside;
            }
            _ if begins_like_a_mark(line) => return None,
            At::Outside => plain.push(line),
            At::Ours => hunk.ours.push(line),
            At::Base => hunk.base.push(line),
            At::Theirs => hunk.theirs.push(line),
        }
    }
    pieces.push(Piece::Merged(plain));
    let whole = matches!(at, At::Outside) && pieces.len() > 1;
    whole.then_some(pieces)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_conflict_is_taken_apart_and_anything_else_is_left() {
        let merged = b"a\n<<<<<<< 1\no\n||||||| 2\nb\n=======\nt\nu\n>>>>>>> 3\nz\n";
        let hunk = Hunk { ours: vec![b"o\n"], base: vec![b"b\n"], theirs: vec![b"t\n", b"u\n"] };
        assert_eq!(
            pieces(merged),
            Some(vec![Piece::Merged(vec![b"a\n"]), Piece::Conflict(hunk), Piece::Merged(vec![b"z\n"])])
        );
        for broken in [
            &b"a\nb\n"[..],
            b"<<<<<<< 1\na\n",
            b"<<<<<<< 1\na\n=======\nb\n>>>>>>> 2\n",
            b"<<<<<<< 1\n<<<<<<< 1\n||||||| b\n=======\n>>>>>>> 2\n",
        ] {
            assert_eq!(pieces(broken), None, "{}", String::from_utf8_lossy(broken));
        }
    }

    #[test]
    fn a_side_that_hides_marks_or_its_own_end_is_not_readable() {
        assert!(is_readable(b"a\nb\n") && is_readable(b""));
        for side in [&b"a\n=======\n"[..], b"no end", b"\0\n", b">>>>>>> x\n"] {
            assert!(!is_readable(side), "{}", String::from_utf8_lossy(side));
        }
    }
}
