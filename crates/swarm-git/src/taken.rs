//! Commits whose whole change is not on trunk any more, although nothing that reverts them is: several taken back in one
//! commit, a merge that left them out, files that were deleted.
//!
//! Seen by content: every file that the commit changed is again what it was before it, under whatever name it has now.
//! Where a commit of the swarm made it so, that is a later task's work and no loss.

use std::collections::{BTreeMap, BTreeSet};

use swarm_protocol::ids::Oid;

use super::call::{Git, GitError};
use super::changes::Changed;
use super::refs::parse_oid;
use super::renames::Renames;

#[derive(Debug, Default)]
pub struct Taken {
    /// Who did it, where git names one.
    by: BTreeMap<Oid, Option<Oid>>,
}

impl Taken {
    /// Looks at what became of `ours` at `tip`, also of those that somebody has rewritten. `made`: those that the swarm itself has made, and not
    /// somebody who rewrote one of them. `line`: what came since, ours among it.
    pub async fn out_of(
        git: &Git,
        tip: &Oid,
        (ours, made): (&[Oid], &BTreeSet<Oid>),
        line: &[Oid],
        renames: &Renames,
    ) -> Result<Self, GitError> {
        let mut taken = Self::default();
        if line.iter().all(|oid| made.contains(oid)) {
            return Ok(taken); // nobody else has changed anything
        }
        let now = git.files_at(tip).await?;
        let changes = git.changes_of(ours).await?;
        for (oid, changed) in &changes {
            // A name that the commit itself gave or took away is not one that somebody else chose for its work.
            let name = |file: &Changed| {
                let now = renames.name_now(&file.path, oid);
                let its_own = now != file.path && changed.iter().any(|own| own.path == now);
                if its_own { file.path.clone() } else { now }
            };
            let back = |file: &Changed| file.old != file.new && now.get(&name(file)) == file.old.as_ref();
            if changed.is_empty() || !changed.iter().all(back) {
                continue;
            }
            for file in changed {
                let last = git.last_change(tip, &name(file)).await?.filter(|last| last != oid);
                let by_us = last.as_ref().is_some_and(|last| made.contains(last));
                if !by_us && !left_so(&changes, made, oid, file) {
                    taken.by.insert(oid.clone(), last);
                    break;
                }
            }
        }
        Ok(taken)
    }

    /// Whether the change of this commit is gone, and who took it out.
    pub fn by(&self, oid: &Oid) -> Option<Option<&Oid>> {
        self.by.get(oid).map(Option::as_ref)
    }
}

/// Whether another commit of ours made the file what it was before this one: somebody may have rewritten that commit
/// since, and the content is still its work.
fn left_so(changes: &BTreeMap<Oid, Vec<Changed>>, made: &BTreeSet<Oid>, oid: &Oid, file: &Changed) -> bool {
    let others = changes.iter().filter(|(other, _)| *other != oid && made.contains(*other));
    let mut files = others.flat_map(|(_, changed)| changed);
    files.any(|other| other.path == file.path && other.old == file.new && other.new == file.old)
}

impl Git {
    /// Every file of a commit.
    async fn files_at(&self, commit: &Oid) -> Result<BTreeMap<Vec<u8>, Oid>, GitError> {
        let told =
            self.call(["ls-tree", "-r", "-z", "--full-tree", commit.as_str()]).long_list().ok().await?;
        let mut files = BTreeMap::new();
        for entry in told.split(|b| *b == 0).filter(|entry| !entry.is_empty()) {
            let Some(tab) = entry.iter().position(|b| *b == b'\t') else { continue };
            let Some(oid) = entry[..tab].split(|b| *b == b' ').nth(2) else { continue };
            files.insert(entry[tab + 1..].to_vec(), parse_oid("ls-tree", oid)?);
        }
        Ok(files)
    }

    /// The newest commit of trunk's own line that changed the file.
    async fn last_change(&self, tip: &Oid, path: &[u8]) -> Result<Option<Oid>, GitError> {
        use std::os::unix::ffi::OsStrExt;
        // Along the line of trunk: of what a task brought by a merge, the merge is what the proof names.
        let call = self.call(["rev-list", "--first-parent", "-n", "1", tip.as_str(), "--"]);
        let told = call.global("--literal-pathspecs").arg(std::ffi::OsStr::from_bytes(path)).ok().await?;
        let told = told.trim_ascii();
        if told.is_empty() { Ok(None) } else { parse_oid("rev-list", told).map(Some) }
    }
}
