//! The repository that a half typed command is about, found by looking at files alone: whoever presses Tab waits,
//! and git is not started for it.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};

use swarm_engine::paths::Paths;

/// The places of the swarm that `-C DIR` names, else of the one we are in.
pub fn of_command_line(words: impl Iterator<Item = OsString>) -> Option<Paths> {
    let dir = named(words).unwrap_or_else(|| PathBuf::from("."));
    let dir = dir.canonicalize().ok()?;
    dir.ancestors().find_map(places)
}

/// What `-C` says among the words typed so far; the last one counts, as it does for the command itself.
fn named(words: impl Iterator<Item = OsString>) -> Option<PathBuf> {
    let mut found = None;
    let mut words = words.peekable();
    while let Some(word) = words.next() {
        let Some(word) = word.to_str() else { continue };
        if matches!(word, "-C" | "--repo") {
            found = words.peek().map(PathBuf::from).or(found);
        } else if let Some(dir) = word.strip_prefix("--repo=").or_else(|| word.strip_prefix("-C")) {
            found = Some(PathBuf::from(dir));
        }
    }
    found.filter(|dir| !dir.as_os_str().is_empty())
}

/// `.git` is a folder in the main checkout and a file in every worktree, which leads there.
fn places(dir: &Path) -> Option<Paths> {
    let git = dir.join(".git");
    if git.is_dir() {
        return Some(Paths::new(dir, &git));
    }
    let text = fs::read_to_string(&git).ok()?;
    let own = dir.join(text.strip_prefix("gitdir:")?.trim());
    let common = match fs::read_to_string(own.join("commondir")) {
        Ok(common) => own.join(common.trim()),
        Err(_) => own,
    };
    let common = common.canonicalize().ok()?;
    // A git folder that lies elsewhere belongs to the checkout that names it.
    let main = if common.file_name().is_some_and(|name| name == ".git") { common.parent()? } else { dir };
    Some(Paths::new(main, &common))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_folder_named_before_the_cursor_counts() {
        for (line, expected) in [
            ("swarm task show", None),
            ("swarm -C a task", Some("a")),
            ("swarm --repo=a -C b task", Some("b")),
            ("swarm -Ca task", Some("a")),
            ("swarm -C", None),
        ] {
            let words = line.split(' ').map(OsString::from);
            assert_eq!(named(words), expected.map(PathBuf::from), "{line}");
        }
    }
}
