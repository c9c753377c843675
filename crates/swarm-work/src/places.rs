//! Places in sentences for the ledger.

use std::path::Path;

/// The text without the place of the repository: an absolute one would be wrong on every other machine.
pub fn without_root(text: &str, root: &Path) -> String {
    let root = root.display().to_string();
    if root.is_empty() {
        return text.into();
    }
    let text = text.replace(&format!(" -C {root} "), " ").replace(&format!("{root}/"), "");
    let mut told = String::with_capacity(text.len());
    let mut rest = text.as_str();
    while let Some(at) = rest.find(&root) {
        let (before, after) = (&rest[..at], &rest[at + root.len()..]);
        // A sibling whose name only begins alike is somewhere else.
        let goes_on = after
            .starts_with(|c: char| c.is_alphanumeric() || matches!(c, '-' | '_' | '.' | '+' | '~'))
            && !after.starts_with(". ")
            && after != ".";
        told.push_str(before);
        told.push_str(if goes_on { &root } else { "." });
        rest = after;
    }
    told + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_is_told_from_the_root_on() {
        let told = without_root("git -C /a/b status failed: '/a/b/.git/x' in /a/b", Path::new("/a/b"));
        assert_eq!(told, "git status failed: '.git/x' in .");
        let beside = "git -C /a/b-main stash push -- x; /a/b2/y";
        assert_eq!(without_root(beside, Path::new("/a/b")), beside, "a sibling is named as it is");
        assert_eq!(without_root("no answer", Path::new("")), "no answer", "a probe has no worktree");
    }
}
