//! Trees and blobs: comparing, merging, hashing, listing an index. No checkout is touched.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use swarm_protocol::ids::Oid;

use super::call::{Git, GitCall, GitError, failed};
use super::entry::{ALL_LINKS, Change, Entry, path_of};
use super::refs::parse_oid;
use swarm_process::Input;

/// An entry of an index with what matters about it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Indexed {
    pub entry: Entry,
    pub stage: u8,
    /// Left out of the checkout on purpose (sparse checkout).
    pub skipped: bool,
    /// A person told git not to look whether the file has changed.
    pub hidden: bool,
}

/// A three-way merge of trees.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Merged {
    Clean { tree: Oid },
    Conflict { paths: Vec<PathBuf> },
}

impl Git {
    /// Paths that differ between two commits (or trees), with both sides. Renames are a deletion and an addition.
    pub async fn changes(&self, old: &Oid, new: &Oid) -> Result<Vec<Change>, GitError> {
        if let Some(known) = self.shared.known_changes.of(old, new) {
            return Ok(known);
        }
        let args = [
            "diff-tree",
            "-r",
            "-z",
            "--no-renames",
            "--no-ext-diff",
            "--no-textconv",
            ALL_LINKS,
            "--raw",
            "--no-abbrev",
        ];
        let output = self.call(args).args([old.as_str(), new.as_str(), "--"]).long_list().ok().await?;
        let changes = parse_raw_diff(&output)
            .ok_or_else(|| GitError::Unreadable { command: "diff-tree".into(), what: "raw diff".into() })?;
        self.shared.known_changes.keep(old, new, &changes);
        Ok(changes)
    }

    /// Only the names.
    pub async fn changed_paths(&self, old: &Oid, new: &Oid) -> Result<Vec<PathBuf>, GitError> {
        Ok(self.changes(old, new).await?.into_iter().map(|change| change.path).collect())
    }

    /// Merges `theirs` into `ours`, both seen as changes of `base`; all three are commits.
    /// Attributes (`merge=union` and the like) are those of `ours`.
    pub async fn merge_commits(&self, base: &Oid, ours: &Oid, theirs: &Oid) -> Result<Merged, GitError> {
        let args = ["merge-tree", "--write-tree", "-z", "--name-only", "--no-messages"];
        let call = self.merge_call(&args, base, ours, theirs).await?;
        let ended = call.long_list().any().await?;
        let mut fields = ended.stdout.split(|b| *b == 0).filter(|field| !field.is_empty());
        let tree = fields.next().unwrap_or_default();
        match ended.status.code() {
            Some(0) => Ok(Merged::Clean { tree: parse_oid("merge-tree", tree)? }),
            Some(1) => {
                let mut paths: Vec<PathBuf> = fields.map(path_of).collect();
                paths.sort();
                paths.dedup();
                Ok(Merged::Conflict { paths })
            }
            _ => Err(failed("merge-tree".into(), &ended)),
        }
    }

    /// The merge as a call that is still to be made.
    pub(super) async fn merge_call(
        &self,
        args: &[&str],
        base: &Oid,
        ours: &Oid,
        theirs: &Oid,
    ) -> Result<GitCall, GitError> {
        let mut call = self.call(args);
        if self.version >= (2, 43, 0) {
            call = call.global(format!("--attr-source={ours}"));
        }
        if self.version >= (2, 40, 0) {
            return Ok(call.arg(format!("--merge-base={base}")).args([ours.as_str(), theirs.as_str()]));
        }
        let [ours, theirs] = self.as_sisters(base, ours, theirs).await?;
        Ok(call.args([ours.as_str(), theirs.as_str()]))
    }

    /// Before git 2.40 the base of a merge could not be named. Two commits made for the purpose,
    /// with the same trees and one common parent, have exactly the wanted base.
    async fn as_sisters(&self, base: &Oid, ours: &Oid, theirs: &Oid) -> Result<[Oid; 2], GitError> {
        let make = |tree: Oid, parents: Vec<Oid>| async move {
            let commit = super::commits::NewCommit {
                tree: &tree,
                parents: &parents,
                author: None,
                encoding: None,
                message: b"merge base\n",
                at_secs: 0,
            };
            self.make_commit(commit).await
        };
        let root = make(self.tree_of(base).await?, vec![]).await?;
        let ours = make(self.tree_of(ours).await?, vec![root.clone()]).await?;
        let theirs = make(self.tree_of(theirs).await?, vec![root]).await?;
        Ok([ours, theirs])
    }

    /// What files would be as blobs, through the person's own clean filters. Symbolic links and what
    /// is not a file are not for this.
    pub async fn hash_files(
        &self,
        work_tree: &Path,
        git_dir: &Path,
        paths: &[&Path],
    ) -> Result<Vec<Oid>, GitError> {
        if paths.is_empty() {
            return Ok(Vec::new());
        }
        let mut names = Vec::new();
        for path in paths {
            quote_into(&mut names, path);
        }
        let call = self.call(["hash-object", "--stdin-paths"]).git_dir(git_dir).work_tree(work_tree);
        let call = call.as_the_person();
        let output = call.stdin(Input::Bytes(names)).long_list().ok().await?;
        output
            .split(|b| *b == b'\n')
            .filter(|line| !line.is_empty())
            .map(|line| parse_oid("hash-object", line))
            .collect()
    }

    pub async fn hash_bytes(&self, bytes: Vec<u8>) -> Result<Oid, GitError> {
        let line = self.call(["hash-object", "--stdin"]).stdin(Input::Bytes(bytes)).line().await?;
        parse_oid("hash-object", line.as_bytes())
    }

    /// The entries of an index for these paths and everything below them.
    pub async fn indexed(
        &self,
        git_dir: &Path,
        work_tree: &Path,
        index: &Path,
        paths: &[&Path],
    ) -> Result<BTreeMap<PathBuf, Indexed>, GitError> {
        let mut found = BTreeMap::new();
        // As arguments, so in handfuls: the kernel bounds their length.
        for some in paths.chunks(200) {
            let call = self.call(["ls-files", "-z", "-s", "-v", "--"]).args(some);
            let call = call.global("--literal-pathspecs").git_dir(git_dir).work_tree(work_tree).index(index);
            let output = call.long_list().ok().await?;
            for record in output.split(|b| *b == 0).filter(|record| !record.is_empty()) {
                let (path, indexed) = parse_indexed(record).ok_or_else(|| GitError::Unreadable {
                    command: "ls-files".into(),
                    what: String::from_utf8_lossy(record).into_owned(),
                })?;
                found.insert(path, indexed);
            }
        }
        Ok(found)
    }
}

/// Writes a path as git's C-style quoted line, so that a newline in a name cannot end it.
pub(super) fn quote_into(out: &mut Vec<u8>, path: &Path) {
    out.push(b'"');
    for byte in path.as_os_str().as_encoded_bytes() {
        match byte {
            b'"' | b'\\' => out.extend([b'\\', *byte]),
            0..0x20 | 0x7f.. => out.extend(format!("\\{byte:03o}").bytes()),
            _ => out.push(*byte),
        }
    }
    out.extend(b"\"\n");
}

/// `:100644 100755 <oid> <oid> M\0path\0` …
pub(super) fn parse_raw_diff(output: &[u8]) -> Option<Vec<Change>> {
    let mut fields = output.split(|b| *b == 0);
    let mut changes = Vec::new();
    while let Some(head) = fields.next().filter(|head| !head.is_empty()) {
        let head = std::str::from_utf8(head.strip_prefix(b":")?).ok()?;
        let words: Vec<&str> = head.split(' ').collect();
        let [old_mode, new_mode, old, new, _status] = words[..] else { return None };
        let path = path_of(fields.next()?);
        changes.push(Change { path, old: entry(old_mode, old)?, new: entry(new_mode, new)? });
    }
    Some(changes)
}

fn entry(mode: &str, oid: &str) -> Option<Option<Entry>> {
    let mode = u32::from_str_radix(mode, 8).ok()?;
    if mode == 0 {
        return Some(None);
    }
    Some(Some(Entry { mode, oid: Oid::new(oid).ok()? }))
}

/// `H 100644 <oid> 0\tpath`
pub(super) fn parse_indexed(record: &[u8]) -> Option<(PathBuf, Indexed)> {
    let tab = record.iter().position(|b| *b == b'\t')?;
    let head = std::str::from_utf8(&record[..tab]).ok()?;
    let words: Vec<&str> = head.split(' ').collect();
    let [tag, mode, oid, stage] = words[..] else { return None };
    let entry = Entry { mode: u32::from_str_radix(mode, 8).ok()?, oid: Oid::new(oid).ok()? };
    let skipped = tag.eq_ignore_ascii_case("s");
    let hidden = skipped || tag.chars().all(|c| c.is_ascii_lowercase());
    Some((path_of(&record[tab + 1..]), Indexed { entry, stage: stage.parse().ok()?, skipped, hidden }))
}
