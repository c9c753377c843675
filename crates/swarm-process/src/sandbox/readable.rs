//! Reading is allowed everywhere but in a few hidden folders. The kernel's rules only ever allow, and
//! they allow whole trees: so instead of the root, everything beside the way to a hidden folder is allowed.
//!
//! The price: what is made directly in a folder on that way after the start (in the home folder, at
//! the top of the main checkout) cannot be read by a program that already runs, and such a folder is not
//! listed, unless the spec says so.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// A folder on the way with more entries than this is allowed whole, hidden folder included: every
/// entry costs a rule, and rules cost time at every opening of a file.
const ENTRIES_MAX: usize = 4096;

/// The trees to be allowed, and those hidden folders that lie in one of them all the same.
pub fn readable_trees(hidden: &[PathBuf]) -> (Vec<PathBuf>, Vec<PathBuf>) {
    let hidden: Vec<PathBuf> = hidden.iter().filter_map(|path| path.canonicalize().ok()).collect();
    let on_the_way: BTreeSet<&Path> = hidden.iter().flat_map(|path| path.ancestors().skip(1)).collect();
    if on_the_way.is_empty() {
        return (vec!["/".into()], hidden);
    }
    let mut trees = Vec::new();
    // From the top down: a folder that is allowed whole needs no look inside.
    for dir in on_the_way {
        if trees.iter().any(|tree| dir.starts_with(tree)) {
            continue;
        }
        match beside_the_way(dir, &hidden) {
            Some(entries) => trees.extend(entries),
            None => trees.push(dir.to_owned()),
        }
    }
    let in_sight =
        hidden.into_iter().filter(|path| trees.iter().any(|tree| path.starts_with(tree))).collect();
    (trees, in_sight)
}

/// Entries that neither are nor lead to a hidden folder; none when they are too many.
fn beside_the_way(dir: &Path, hidden: &[PathBuf]) -> Option<Vec<PathBuf>> {
    let mut beside = Vec::new();
    // What cannot be listed by us cannot be listed by the program either.
    for entry in std::fs::read_dir(dir).into_iter().flatten().flatten() {
        // The target of a link has a place of its own, and that decides.
        if entry.file_type().is_ok_and(|kind| kind.is_symlink()) {
            continue;
        }
        let path = entry.path();
        if !hidden.iter().any(|hidden| hidden.starts_with(&path)) {
            beside.push(path);
        }
        if beside.len() > ENTRIES_MAX {
            return None;
        }
    }
    Some(beside)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn everything_is_in_sight_but_the_hidden_folder() {
        let dir = tempfile::tempdir().expect("a folder");
        let root = dir.path().canonicalize().expect("a path");
        for name in ["repo/.swarm/run/daemons", "repo/.swarm/worktrees/t1", "repo/.git", "other"] {
            std::fs::create_dir_all(root.join(name)).expect("made");
        }
        std::fs::write(root.join("repo/file"), "").expect("written");
        std::os::unix::fs::symlink("/", root.join("repo/link")).expect("linked");
        let hidden = root.join("repo/.swarm/run");
        let (trees, in_sight) = readable_trees(&[hidden.clone(), root.join("not-there")]);
        assert_eq!(in_sight, [] as [PathBuf; 0]);
        let seen = |path: &Path| trees.iter().any(|tree| path.starts_with(tree));
        for name in ["repo/.swarm/worktrees/t1/x", "repo/.git/config", "repo/file", "other/y"] {
            assert!(seen(&root.join(name)), "{name}");
        }
        assert!(seen(Path::new("/usr/bin/env")) && seen(Path::new("/proc/self")));
        assert!(!seen(&hidden) && !seen(&hidden.join("secret.key")));
    }

    #[test]
    fn without_a_hidden_folder_the_root_is_allowed() {
        assert_eq!(readable_trees(&[]), (vec!["/".into()], vec![]));
    }
}
