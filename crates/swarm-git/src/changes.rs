//! What commits change, file by file.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;

use swarm_process::Input;
use swarm_protocol::ids::Oid;

use super::call::{Git, GitError};
use super::entry::ALL_LINKS;
use super::refs::parse_oid;

/// Files that are named to git.
const PATHS_MAX: usize = 200;

/// A file that a commit changed: what it was before, what it was after. None: it was not there.
#[derive(Debug)]
pub(super) struct Changed {
    pub path: Vec<u8>,
    pub old: Option<Oid>,
    pub new: Option<Oid>,
}

pub(super) fn lines(commits: &[Oid]) -> Input {
    Input::Bytes(commits.iter().flat_map(|oid| format!("{oid}\n").into_bytes()).collect())
}

impl Git {
    /// What each commit changed against its first parent.
    pub(super) async fn changes_of(&self, commits: &[Oid]) -> Result<BTreeMap<Oid, Vec<Changed>>, GitError> {
        self.changes_in(commits, &BTreeSet::new()).await
    }

    /// The same of some files; of all where none is named.
    pub(super) async fn changes_in(
        &self,
        commits: &[Oid],
        paths: &BTreeSet<&[u8]>,
    ) -> Result<BTreeMap<Oid, Vec<Changed>>, GitError> {
        let mut found: BTreeMap<Oid, Vec<Changed>> = BTreeMap::new();
        for some in commits.chunks(1_000) {
            let args = ["diff-tree", "--stdin", "-r", "--root", "--no-renames", "--raw", "--no-abbrev", "-z"];
            let call = self.call(args).args([ALL_LINKS, "--diff-merges=first-parent"]);
            let mut call = call.global("--literal-pathspecs");
            // More would not fit into a command line; then all are read, which is slower.
            if paths.len() <= PATHS_MAX {
                call = call.arg("--").args(paths.iter().map(|path| OsStr::from_bytes(path)));
            }
            let told = call.stdin(lines(some)).long_list().ok().await?;
            let mut words = told.split(|b| *b == 0).filter(|word| !word.is_empty());
            let mut at: Option<Oid> = None;
            while let Some(word) = words.next() {
                let word = word.strip_prefix(b"\n").unwrap_or(word);
                let Some(raw) = word.strip_prefix(b":") else {
                    at = Some(parse_oid("diff-tree", word)?);
                    continue;
                };
                let (Some(path), Some(oid)) = (words.next(), &at) else { break };
                let blob = |n: usize| {
                    let word = raw.split(|b| *b == b' ').nth(n).unwrap_or_default();
                    let named = word.iter().any(|b| *b != b'0');
                    named.then(|| parse_oid("diff-tree", word)).transpose()
                };
                if !paths.is_empty() && !paths.contains(path) {
                    continue;
                }
                let changed = Changed { path: path.to_vec(), old: blob(2)?, new: blob(3)? };
                found.entry(oid.clone()).or_default().push(changed);
            }
        }
        Ok(found)
    }
}
