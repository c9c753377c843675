//! A tree made of another one and a few changes, without an index.
//!
//! An index of many files costs more to read and write than everything that is changed in it, and it would have
//! to be led back afterwards. `fast-import` opens only the folders on the way to a changed path.

use std::path::Path;

use swarm_protocol::ids::Oid;

use super::call::{Git, GitError};
use super::entry::Change;
use super::objects::quote_into;
use super::refs::parse_oid;
use super::shown::EMPTY_TREE;
use swarm_process::Input;

/// A branch that exists only in the head of `fast-import`: it is forgotten before the end, so no ref is written.
const NOWHERE: &str = "refs/swarm/nowhere";

impl Git {
    /// The tree of the commit with the new sides of these changes in it. Their blobs must be there.
    pub async fn tree_with(&self, commit: &Oid, changes: &[Change]) -> Result<Oid, GitError> {
        if changes.is_empty() {
            return self.tree_of(commit).await;
        }
        // Like every object it becomes durable with the sync of the file system that all of ours wait for.
        let call = self.call(["fast-import", "--quiet", "--done"]).global("-c");
        let call = call.global("core.fsync=reference,-pack,-pack-metadata");
        // The names are those of trees. Where it passes over their case it puts one file in the place of another.
        let call = call.global("-c").global("core.ignoreCase=false");
        let said = call.stdin(Input::Bytes(script(commit, changes))).ok().await?;
        let empty = EMPTY_TREE[usize::from(commit.as_str().len() > 40)];
        // `040000 tree <oid>` and a tab, or `missing` where nothing is left.
        match said.strip_prefix(b"040000 tree ") {
            Some(rest) => parse_oid("fast-import", rest.split(|b| *b == b'\t').next().unwrap_or_default()),
            None if said.starts_with(b"missing") => parse_oid("fast-import", empty.as_bytes()),
            None => Err(GitError::Unreadable {
                command: "fast-import".into(),
                what: String::from_utf8_lossy(&said).chars().take(200).collect(),
            }),
        }
    }
}

fn script(commit: &Oid, changes: &[Change]) -> Vec<u8> {
    let start = format!("commit {NOWHERE}\ncommitter swarm <swarm> 0 +0000\ndata 0\nfrom {commit}\n");
    let mut script = start.into_bytes();
    let mut line = |words: String, path: &Path| {
        script.extend(words.bytes());
        quote_into(&mut script, path);
    };
    // First what goes: a file may become a folder, and a folder a file.
    for change in changes.iter().filter(|change| change.new.is_none()) {
        line("D ".into(), &change.path);
    }
    for Change { path, new, .. } in changes {
        if let Some(new) = new {
            line(format!("M {:06o} {} ", new.mode, new.oid), path);
        }
    }
    script.extend(format!("ls \"\"\nreset {NOWHERE}\n\ndone\n").bytes());
    script
}
