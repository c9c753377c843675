//! The places in which a file conflicts, as text for whoever decides: what was there, and what each side made of it.

use super::hunks::{Piece, pieces};

/// One place, and the line at which it begins on trunk.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    pub line: usize,
    pub base: Vec<u8>,
    pub ours: Vec<u8>,
    pub theirs: Vec<u8>,
}

/// Of a file with marks of the style `diff3`. None: these are not the marks of one conflict after the other.
pub fn places(merged: &[u8]) -> Option<Vec<Place>> {
    let (mut line, mut places) = (1, Vec::new());
    for piece in pieces(merged)? {
        match piece {
            Piece::Merged(lines) => line += lines.len(),
            Piece::Conflict(hunk) => {
                let length = hunk.ours.len();
                places.push(Place {
                    line,
                    base: hunk.base.concat(),
                    ours: hunk.ours.concat(),
                    theirs: hunk.theirs.concat(),
                });
                line += length;
            }
        }
    }
    Some(places)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_has_its_line_on_trunk_and_all_three_sides() {
        let one = "<<<<<<< 1\no\no\n||||||| 2\nb\n=======\nt\n>>>>>>> 3\n";
        let place = |line| Place { line, base: b"b\n".into(), ours: b"o\no\n".into(), theirs: b"t\n".into() };
        let found = places(format!("a\n{one}z\n{one}").as_bytes());
        assert_eq!(found, Some(vec![place(2), place(5)]));
        assert_eq!(places(b"a\n"), None);
    }
}
