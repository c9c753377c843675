//! Reading is allowed everywhere but in a few hidden folders. The kernel's rules only ever allow, and
//! they allow whole trees: so instead of the root, everything beside the way to a hidden folder is allowed.
//!
//! The price: what is made directly in a folder on that way after the start (in the home folder, at
//! the top of the main checkout) cannot be read by a program that already runs, and such a folder is not
//! listed, unless the spec or a view of its own says so.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// A folder on the way with more entries than this is allowed whole, hidden folder included: every
/// entry costs a rule, and rules cost time at every opening of a file.
const ENTRIES_MAX: usize = 4096;

/// The names of a hidden place: where it is, every link by which it is found, and where it is not there the first name that
/// is missing. Whatever comes to be at one of them later is hidden, too.
pub fn names_of(place: &Path) -> Vec<PathBuf> {
    let mut names: Vec<PathBuf> = place.canonicalize().into_iter().collect();
    for part in place.ancestors() {
        let (Some(Ok(parent)), Some(name)) = (part.parent().map(Path::canonicalize), part.file_name()) else {
            continue;
        };
        let named = parent.join(name);
        if std::fs::symlink_metadata(&named).map_or(true, |meta| meta.is_symlink()) {
            names.push(named);
        }
    }
    names
}

/// The folders above these places, by all their names.
pub fn on_the_way(places: &[PathBuf]) -> BTreeSet<PathBuf> {
    let names: Vec<PathBuf> = places.iter().flat_map(|place| names_of(place)).collect();
    names.iter().flat_map(|name| name.ancestors().skip(1)).map(Path::to_owned).collect()
}

/// The trees to be allowed, and those hidden folders that lie in one of them all the same.
pub fn readable_trees(hidden: &[PathBuf]) -> (Vec<PathBuf>, Vec<PathBuf>) {
    let hidden: BTreeSet<PathBuf> = hidden.iter().flat_map(|path| names_of(path)).collect();
    let on_the_way: BTreeSet<&Path> = hidden.iter().flat_map(|path| path.ancestors().skip(1)).collect();
    if on_the_way.is_empty() {
        return (vec!["/".into()], hidden.into_iter().collect());
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
fn beside_the_way(dir: &Path, hidden: &BTreeSet<PathBuf>) -> Option<Vec<PathBuf>> {
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
    fn a_hidden_place_is_held_by_its_name_until_it_is_there_and_by_the_links_to_it() {
        let dir = tempfile::tempdir().expect("a folder");
        let root = dir.path().canonicalize().expect("a path");
        std::fs::create_dir_all(root.join("elsewhere/config/tool")).expect("made");
        std::os::unix::fs::symlink(root.join("elsewhere/config"), root.join("config")).expect("linked");
        std::os::unix::fs::symlink(root.join("nowhere"), root.join("broken")).expect("linked");
        let names = |below: &str| names_of(&root.join(below));
        assert_eq!(names("elsewhere/config/tool"), [root.join("elsewhere/config/tool")]);
        assert_eq!(names("aws/credentials"), [root.join("aws")]);
        assert_eq!(names("broken"), [root.join("broken")]);
        assert_eq!(names("config/tool"), [root.join("elsewhere/config/tool"), root.join("config")]);
        assert_eq!(names("config/gh/key"), [root.join("elsewhere/config/gh"), root.join("config")]);
        let way = on_the_way(&[root.join("config/gh/key")]);
        assert!(way.contains(&root) && way.contains(&root.join("elsewhere/config")));
        // What is made there after the start lies in no tree that is allowed.
        let (trees, in_sight) = readable_trees(&[root.join("config/gh/key"), root.join("aws/credentials")]);
        assert_eq!(in_sight, [] as [PathBuf; 0]);
        let seen = |below: &str| trees.iter().any(|tree| root.join(below).starts_with(tree));
        assert!(seen("elsewhere/config/tool/settings"));
        assert!(!seen("aws/credentials") && !seen("elsewhere/config/gh/key") && !seen("config"));
    }

    #[test]
    fn without_a_hidden_folder_the_root_is_allowed() {
        assert_eq!(readable_trees(&[]), (vec!["/".into()], vec![]));
    }
}
