//! The refs below a prefix, read from git's own files: the most frequent question of all.
//!
//! As with a single ref (`ref_files`), whatever is not plain leaves the whole question to git.

use std::collections::BTreeMap;
use std::io::ErrorKind;
use std::path::Path;

use swarm_protocol::ids::Oid;

use super::call::Git;
use super::ref_files::{
    LOOSE_BYTES_MAX, PACKED_BYTES_MAX, Plain, is_plain, lines_of, name_in, oid, read_plain, value_in,
};

/// More files are left to git, which reads them without holding up anybody here.
const LOOSE_REFS_MAX: usize = 1_000;

/// Only git can say.
struct AskGit;

impl Git {
    /// All refs with one of these prefixes (at a slash), by name. None where only git can say.
    pub(super) fn refs_in_files(&self, prefixes: &[&str]) -> Option<Vec<(String, Oid)>> {
        let mut found = BTreeMap::new();
        let all_plain = prefixes.iter().all(|prefix| is_plain(prefix.strip_suffix('/').unwrap_or(prefix)));
        if !all_plain {
            return None;
        }
        // Files before the list: a ref that is being packed is in the list before its file goes.
        for prefix in prefixes {
            let path = self.common_dir.join(prefix);
            loose(&path, prefix.trim_end_matches('/'), prefix.ends_with('/'), &mut found).ok()?;
        }
        match read_plain(&self.common_dir.join("packed-refs"), PACKED_BYTES_MAX) {
            Plain::Nothing => {}
            Plain::Other => return None,
            Plain::Bytes(list) => {
                for line in lines_of(&list) {
                    if prefixes.iter().any(|prefix| is_below(name_in(line), prefix)) {
                        let name = std::str::from_utf8(name_in(line)).ok()?;
                        let value = oid(value_in(line))?;
                        found.entry(name.to_owned()).or_insert(value);
                    }
                }
            }
        }
        Some(found.into_iter().collect())
    }
}

fn is_below(name: &[u8], prefix: &str) -> bool {
    let rest = name.strip_prefix(prefix.as_bytes());
    rest.is_some_and(|rest| rest.is_empty() || rest[0] == b'/' || prefix.ends_with('/'))
}

/// The ref in this file, or those below this folder.
fn loose(path: &Path, name: &str, only_below: bool, found: &mut BTreeMap<String, Oid>) -> Result<(), AskGit> {
    if !is_plain(name) {
        return Err(AskGit);
    }
    let entries = match std::fs::read_dir(path) {
        Ok(entries) => entries,
        Err(error) => match error.kind() {
            ErrorKind::NotFound => return Ok(()),
            ErrorKind::NotADirectory if only_below => return Ok(()),
            ErrorKind::NotADirectory => return one(path, name, found),
            _ => return Err(AskGit),
        },
    };
    for entry in entries {
        if found.len() >= LOOSE_REFS_MAX {
            return Err(AskGit);
        }
        let entry = entry.map_err(|_| AskGit)?;
        let kind = entry.file_type().map_err(|_| AskGit)?;
        let last = entry.file_name().into_string().map_err(|_| AskGit)?;
        // Git passes over them, too: locks, and what somebody keeps beside.
        if last.starts_with('.') || last.ends_with(".lock") {
            continue;
        }
        let name = format!("{name}/{last}");
        match (kind.is_dir(), kind.is_file()) {
            (true, _) => loose(&entry.path(), &name, true, found)?,
            (_, true) if is_plain(&name) => one(&entry.path(), &name, found)?,
            _ => return Err(AskGit),
        }
    }
    Ok(())
}

fn one(path: &Path, name: &str, found: &mut BTreeMap<String, Oid>) -> Result<(), AskGit> {
    match read_plain(path, LOOSE_BYTES_MAX) {
        Plain::Bytes(bytes) => {
            found.insert(name.to_owned(), oid(bytes.trim_ascii()).ok_or(AskGit)?);
            Ok(())
        }
        // Packed or deleted since the folder was read.
        Plain::Nothing => Ok(()),
        Plain::Other => Err(AskGit),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::Command;

    /// What git lists is what is read, and `read` says whether it could be read at all.
    fn check(dir: &Path, read: bool, prefixes: &[&str]) {
        let told = Command::new("git")
            .args(["for-each-ref", "--format=%(objectname) %(refname)"])
            .args(prefixes)
            .current_dir(dir)
            .output()
            .expect("git runs");
        let expected: Vec<(String, String)> = String::from_utf8(told.stdout)
            .expect("text")
            .lines()
            .filter_map(|line| line.split_once(' '))
            .map(|(oid, name)| (name.to_owned(), oid.to_owned()))
            .collect();
        let mut git = Git::of(
            serde_json::from_value(serde_json::json!({
                "common_dir": dir.join(".git"), "main_checkout": dir, "version": [2, 47, 3],
                "identity": { "name": "A", "email": "a@b" },
            }))
            .expect("a repository"),
        );
        git.common_dir = dir.join(".git");
        let found = git.refs_in_files(prefixes);
        assert_eq!(found.is_some(), read, "{prefixes:?}");
        if let Some(found) = found {
            let found: Vec<_> = found.into_iter().map(|(name, oid)| (name, oid.to_string())).collect();
            assert_eq!(found, expected, "{prefixes:?}");
        }
    }

    #[test]
    fn what_is_read_is_what_git_lists() {
        let dir = tempfile::tempdir().expect("a folder");
        let dir = dir.path();
        let git = |args: &str| {
            let ended =
                Command::new("git").args(args.split(' ')).current_dir(dir).output().expect("git runs");
            assert!(ended.status.success(), "git {args}: {}", String::from_utf8_lossy(&ended.stderr));
        };
        git("init -q -b main");
        git("-c user.name=A -c user.email=a@b commit -q --allow-empty -m one");
        for name in ["heads/swarm/1.1", "heads/swarm/1.10", "heads/swarmed", "swarm/wip/a/r1", "tags/v1"] {
            git(&format!("update-ref refs/{name} HEAD"));
        }
        let all = ["refs/heads", "refs/swarm", "refs/tags"];
        let lists: [&[&str]; 6] = [
            &all,
            &["refs/heads/swarm/"],
            &["refs/heads/swarm"],
            &["refs/heads/swarm/1.1"],
            &["refs/no"],
            &[],
        ];
        let every = |read: bool| lists[..5].iter().for_each(|list| check(dir, read, list));
        every(true);
        git("pack-refs --all");
        every(true);
        // Over the packed one a new value, a new ref, one gone, one in the making, and one whose commit is gone.
        git("-c user.name=A -c user.email=a@b commit -q --allow-empty -m two");
        git("update-ref refs/heads/swarm/2.1 HEAD");
        git("update-ref -d refs/heads/swarm/1.10");
        std::fs::write(dir.join(".git/refs/heads/swarm/3.1.lock"), "").expect("a file");
        std::fs::write(dir.join(".git/refs/heads/swarm/4.1"), "a".repeat(40) + "\n").expect("a file");
        every(true);
        check(dir, true, &["refs/heads/main/"]);
        check(dir, false, &["refs/heads/*"]);
        git("symbolic-ref refs/heads/swarm/5.1 refs/heads/main");
        check(dir, false, &["refs/heads"]);
        check(dir, true, &["refs/tags"]);
        std::fs::write(dir.join(".git/refs/tags/torn"), "").expect("a file");
        check(dir, false, &["refs/tags"]);
    }
}
