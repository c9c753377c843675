//! Where the repository of a folder is, seen without starting git: every command of a person begins with this question.
//!
//! Only the plain case is answered: an ordinary checkout of the person's own, with its repository in `.git`. Whatever is
//! anything else (a linked worktree, a submodule, a bare repository, somebody else's, a mount in between) is left to git.

use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use super::ref_files::{Plain, read_plain};

/// A longer configuration is git's business.
const CONFIG_BYTES_MAX: u64 = 64 * 1024;

/// Words that could make a repository another one than it seems.
const LEFT_TO_GIT: [&str; 3] = ["worktree", "extensions", "include"];

/// The common git directory of the checkout that `path` lies in; none where only git can say.
pub(super) fn plain_place(path: &Path) -> Option<PathBuf> {
    let start = std::fs::canonicalize(path).ok()?;
    start.to_str()?;
    let device = std::fs::metadata(&start).ok()?.dev();
    for dir in start.ancestors() {
        let here = std::fs::symlink_metadata(dir).ok()?;
        // Git does not look beyond a mount, and a folder may itself be a repository.
        if here.dev() != device || is_there(&dir.join("HEAD")) && is_there(&dir.join("objects")) {
            return None;
        }
        let git_dir = dir.join(".git");
        match std::fs::symlink_metadata(&git_dir) {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
            Ok(meta) if meta.is_dir() && are_ours([&here, &meta]) => {
                return is_plain(&git_dir).then_some(git_dir);
            }
            _ => return None,
        }
    }
    None
}

fn is_there(path: &Path) -> bool {
    std::fs::symlink_metadata(path).is_ok()
}

/// Git works for nobody in a repository that belongs to another.
fn are_ours(found: [&std::fs::Metadata; 2]) -> bool {
    let us = rustix::process::geteuid().as_raw();
    found.iter().all(|meta| meta.uid() == us)
}

fn is_plain(git_dir: &Path) -> bool {
    let folder = |name: &str| std::fs::symlink_metadata(git_dir.join(name)).is_ok_and(|meta| meta.is_dir());
    let head = match read_plain(&git_dir.join("HEAD"), 1024) {
        Plain::Bytes(bytes) => String::from_utf8(bytes).unwrap_or_default(),
        _ => return false,
    };
    let head = head.trim_end();
    let stands = head.starts_with("ref: refs/") || swarm_protocol::ids::Oid::new(head).is_ok();
    stands
        && folder("objects")
        && folder("refs")
        && !is_there(&git_dir.join("commondir"))
        && is_ordinary(git_dir)
}

/// Whether the configuration says outright that this is an ordinary repository, and nothing that could say otherwise.
fn is_ordinary(git_dir: &Path) -> bool {
    let Plain::Bytes(bytes) = read_plain(&git_dir.join("config"), CONFIG_BYTES_MAX) else { return false };
    let Ok(text) = String::from_utf8(bytes) else { return false };
    let text = text.to_ascii_lowercase();
    let says = |key: &str, value: &str| {
        let mut values =
            text.lines().filter_map(|line| line.split_once('=')).filter(|(k, _)| k.trim() == key);
        values.next().is_some_and(|(_, v)| v.trim() == value) && values.next().is_none()
    };
    says("bare", "false")
        && says("repositoryformatversion", "0")
        && !LEFT_TO_GIT.iter().any(|word| text.contains(word))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_an_ordinary_repository_is_recognised() {
        let dir = tempfile::tempdir().expect("a folder");
        let top = dir.path().canonicalize().expect("a path");
        let git_dir = top.join(".git");
        for folder in ["objects", "refs", "../deep/below"] {
            std::fs::create_dir_all(git_dir.join(folder)).unwrap_or_else(|error| panic!("{folder}: {error}"));
        }
        let head = |text: &str| std::fs::write(git_dir.join("HEAD"), text).expect("HEAD");
        let config = |text: &str| std::fs::write(git_dir.join("config"), text).expect("config");
        let found = |at: &str| plain_place(&top.join(at));
        let plain = "[core]\n\trepositoryformatversion = 0\n\tbare = false\n";
        head("ref: refs/heads/main\n");
        config(plain);
        assert_eq!(found(""), Some(git_dir.clone()));
        assert_eq!(found("deep/below"), Some(git_dir.clone()));
        assert_eq!(found(".git/refs"), None, "inside the repository itself");
        assert_eq!(found("nowhere"), None);
        for more in [
            "[core]\n\tbare = true\n",
            "[core]\n\tworktree = /elsewhere\n",
            "[extensions]\n\trefStorage = reftable\n",
            "[include]\n\tpath = other\n",
            "[core]\n\trepositoryformatversion = 1\n",
        ] {
            config(&format!("{plain}{more}"));
            assert_eq!(found(""), None, "{more}");
        }
        config("[core]\n\tbare = false\n");
        assert_eq!(found(""), None, "of no known format");
        config(plain);
        head("nonsense\n");
        assert_eq!(found(""), None);
        head(&format!("{}\n", "a".repeat(40)));
        assert_eq!(found(""), Some(git_dir.clone()));
        std::fs::write(git_dir.join("commondir"), "../x\n").expect("a file");
        assert_eq!(found(""), None, "a worktree of another repository");
    }
}
