//! What changed between two commits, as text for people and reviewers.

use std::collections::BTreeSet;
use std::path::PathBuf;

use swarm_protocol::ids::Oid;

use super::call::{Git, GitCall, GitError};
use super::entry::{ALL_LINKS, path_of};

/// How it is told.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DiffKind {
    Patch,
    /// The files, and how many lines of each.
    Stat,
    /// All files with their whole names, one line each: what became of it (added, deleted, renamed, mode, binary, submodule).
    Files,
}

/// Told by git alone, the same for everybody.
pub(super) const PLAIN: [&str; 7] = [
    "diff",
    "--no-ext-diff",
    "--no-textconv",
    "--no-color",
    "--find-renames",
    ALL_LINKS,
    "--submodule=short",
];

/// Of a merge of more git puts a warning into its answer, in front of the next name.
const OF_TWO_AT_MOST: [&str; 2] = ["--max-parents=2", "--diff-merges=remerge"];

impl Git {
    /// Told by git alone: no program that the repository's attributes or configuration name is run on content that an
    /// agent wrote, and nobody's preferences change what it looks like.
    pub async fn diff_text(&self, from: &Oid, to: &Oid, kind: DiffKind) -> Result<Vec<u8>, GitError> {
        let how: &[&str] = match kind {
            DiffKind::Patch => &["--patch", "--src-prefix=a/", "--dst-prefix=b/"],
            DiffKind::Stat => &["--stat=100", "--summary"],
            DiffKind::Files => return self.changed_files_text(from, to).await,
        };
        self.call(PLAIN).args(how).args([from.as_str(), to.as_str(), "--"]).long_list().ok().await
    }

    /// What each commit of `from..to` changes, as patches: also what a later one takes away again, which comes to trunk's
    /// history all the same. Of a merge what it has beside what its parents bring, such as the way in which a conflict ended;
    /// of one of more than two all that it has beside the first.
    pub async fn patches(&self, from: &Oid, to: &Oid) -> Result<Vec<u8>, GitError> {
        let (how, mut told) = (["--patch", "--src-prefix=a/", "--dst-prefix=b/"], Vec::new());
        for commits in [OF_TWO_AT_MOST, ["--min-parents=3", "--diff-merges=first-parent"]] {
            let call = self.each_of(from, to, commits).args(PLAIN.iter().skip(1)).args(how).arg("--");
            told.extend(call.long_list().ok().await?);
        }
        Ok(told)
    }

    /// The files that any of them changes.
    pub async fn touched_paths(&self, from: &Oid, to: &Oid) -> Result<BTreeSet<PathBuf>, GitError> {
        let (how, mut paths) = (["--name-only", "-z", "--no-renames", ALL_LINKS, "--"], BTreeSet::new());
        for commits in [OF_TWO_AT_MOST, ["--min-parents=3", "--diff-merges=combined"]] {
            let told = self.each_of(from, to, commits).args(how).long_list().ok().await?;
            paths.extend(told.split(|byte| *byte == 0).filter(|name| !name.is_empty()).map(path_of));
        }
        Ok(paths)
    }

    fn each_of(&self, from: &Oid, to: &Oid, commits: [&str; 2]) -> GitCall {
        let range = format!("{from}..{to}");
        self.call(["log", "--format=", "--root"]).args(commits).arg(range)
    }

    /// Where what the task itself changes begins: what came from trunk into its branch meanwhile is not its work.
    pub async fn own_work_begins(&self, trunk: &str, base: &Oid, tip: &Oid) -> Result<Oid, GitError> {
        let Some(trunk) = self.ref_value(&format!("refs/heads/{trunk}")).await? else {
            return Ok(base.clone());
        };
        Ok(match self.merge_base(&trunk, tip).await? {
            Some(shared) if self.is_ancestor(base, &shared).await? => shared,
            _ => base.clone(),
        })
    }

    /// Where the work of a commit began; none for the first of all.
    pub async fn parent_of(&self, commit: &Oid) -> Result<Option<Oid>, GitError> {
        self.resolve(&format!("{commit}^1")).await
    }
}
