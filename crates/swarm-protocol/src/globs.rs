//! Whether two patterns for files can mean the same file.
//!
//! `*` and `?` stay within one name, `**` goes over folders, and what may be a folder means everything below it: a name
//! without a dot or a star, or with a slash behind it. What is written in brackets or braces may be anything: two patterns
//! that are too hard to compare are taken to meet.

/// Characters of a pattern that are compared; what is longer is taken to meet everything.
const LENGTH_MAX: usize = 512;

/// Whether some path is meant by both.
pub fn meet(a: &str, b: &str) -> bool {
    if a.len() > LENGTH_MAX || b.len() > LENGTH_MAX {
        return true;
    }
    paths_meet(&names(a), &names(b))
}

/// Whether this path is meant by the pattern: every character of the path stands for itself.
pub fn means(pattern: &str, path: &str) -> bool {
    if pattern.len() > LENGTH_MAX {
        return true;
    }
    let path: Vec<&str> = path.split('/').collect();
    let is_name = |name: &&str, literal: &&str| {
        let (wild, plain): (Vec<char>, Vec<char>) = (name.chars().collect(), literal.chars().collect());
        is_unclear(name) || meet_by(&wild, &plain, |c| *c == '*', |_| false, |x, y| x == y || *x == '?')
    };
    meet_by(&names(pattern), &path, |name| *name == "**", |_| false, is_name)
}

/// The names of the path, with everything below it where it may be a folder.
fn names(pattern: &str) -> Vec<&str> {
    let mut names: Vec<&str> = pattern.split('/').filter(|name| !name.is_empty() && *name != ".").collect();
    let is_file = names.last().is_some_and(|last| last.contains(['.', '*'])) && !pattern.ends_with('/');
    if !is_file {
        names.push("**");
    }
    names
}

fn paths_meet(a: &[&str], b: &[&str]) -> bool {
    let any = |name: &&str| *name == "**";
    meet_by(a, b, any, any, |x, y| names_meet(x, y))
}

fn names_meet(a: &str, b: &str) -> bool {
    if is_unclear(a) || is_unclear(b) {
        return true;
    }
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
    let any = |c: &char| *c == '*';
    meet_by(&a, &b, any, any, |x, y| x == y || *x == '?' || *y == '?')
}

/// Too hard to compare: it may be anything.
fn is_unclear(name: &str) -> bool {
    name.contains(['[', '{', '\\'])
}

/// Whether two rows can mean the same, where some members of the first (`any_a`) and of the second (`any_b`) stand for any
/// number of the other's. The table says of every pair of rests whether they do, from the ends on.
fn meet_by<T>(
    a: &[T],
    b: &[T],
    any_a: impl Fn(&T) -> bool,
    any_b: impl Fn(&T) -> bool,
    same: impl Fn(&T, &T) -> bool,
) -> bool {
    let mut below = vec![false; b.len() + 1];
    for i in (0..=a.len()).rev() {
        let mut row = vec![false; b.len() + 1];
        for j in (0..=b.len()).rev() {
            row[j] = match (a.get(i), b.get(j)) {
                (None, None) => true,
                // It stands for nothing, or for one more of the other's.
                (Some(x), y) if any_a(x) => below[j] || (y.is_some() && row[j + 1]),
                (x, Some(y)) if any_b(y) => row[j + 1] || (x.is_some() && below[j]),
                (Some(x), Some(y)) => below[j + 1] && same(x, y),
                _ => false,
            };
        }
        below = row;
    }
    below[0]
}

#[cfg(test)]
mod tests {
    use super::{means, meet};

    #[test]
    fn patterns_meet_where_a_path_is_meant_by_both() {
        for (a, b, wanted) in [
            ("src/a.rs", "src/a.rs", true),
            ("src/a.rs", "src/b.rs", false),
            ("src/*.rs", "src/b.rs", true),
            ("src/*.rs", "src/deep/b.rs", false),
            ("src/**", "src/deep/b.rs", true),
            ("**/b.rs", "src/deep/b.rs", true),
            ("**/b.rs", "src/deep/c.rs", false),
            ("src", "src/deep/b.rs", true),
            ("src/", "lib/", false),
            ("./src/a.rs", "src//a.rs", true),
            ("a*c", "*b*", true),
            ("a*c", "b*", false),
            ("a?c", "abc", true),
            ("a?c", "abbc", false),
            ("*.rs", "*.md", false),
            ("src/**/x", "src/y/**", true),
            ("**", "anything/at/all", true),
            ("src/[ab].rs", "src/c.rs", true),
            ("{a,b}/c", "d/e", false),
            ("", "anything", true),
        ] {
            assert_eq!(meet(a, b), wanted, "{a} and {b}");
            assert_eq!(meet(b, a), wanted, "{b} and {a}");
        }
    }

    #[test]
    fn a_path_is_meant_letter_by_letter() {
        for (pattern, path, wanted) in [
            ("app/**", "app/[id]/page.tsx", true),
            ("app/settings/*.tsx", "app/[id]/page.tsx", false),
            ("app/*/page.tsx", "app/[id]/page.tsx", true),
            ("src/*.rs", "src/a*b.rs", true),
            ("src/a.rs", "src/*.rs", false),
            ("src", "src/deep/b.rs", true),
            ("src", "srcs/b.rs", false),
            ("Makefile", "Makefile", true),
            ("**/*.md", "README.md", true),
            ("docs/?.md", "docs/ab.md", false),
            ("[abc].rs", "z.rs", true),
        ] {
            assert_eq!(means(pattern, path), wanted, "{pattern} and {path}");
            assert!(!wanted || meet(pattern, path), "whatever is meant also meets: {pattern} and {path}");
        }
    }

    #[test]
    fn a_pattern_of_many_stars_is_compared_in_bounded_time() {
        let stars = "*a".repeat(200);
        assert!(meet(&stars, &"a".repeat(400)));
        let folders = "**/".repeat(150);
        assert!(meet(&format!("{folders}x"), "a/b/c/x"));
        assert!(meet(&"x".repeat(10_000), "y"));
    }
}
