//! Places in sentences for the ledger.

use std::path::Path;

/// The text without the place of the repository: an absolute one would be wrong on every other machine.
pub fn without_root(text: &str, root: &Path) -> String {
    let root = root.display().to_string();
    if root.is_empty() {
        return text.into();
    }
    text.replace(&format!(" -C {root} "), " ").replace(&format!("{root}/"), "").replace(&root, ".")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_is_told_from_the_root_on() {
        let told = without_root("git -C /a/b status failed: '/a/b/.git/x' in /a/b", Path::new("/a/b"));
        assert_eq!(told, "git status failed: '.git/x' in .");
        assert_eq!(without_root("no answer", Path::new("")), "no answer", "a probe has no worktree");
    }
}
