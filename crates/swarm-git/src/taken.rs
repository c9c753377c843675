//! Commits whose whole change is not on trunk any more, although nothing that reverts them is: several taken back in one
//! commit, a merge that left them out, files that were deleted.
//!
//! Seen by content: every file that the commit changed is again what it was at some time before it, under whatever name
//! it has now. Where a commit of the swarm made it so, that is a later task's work and no loss. Who made it so is whoever
//! took the change out, not whoever came to the file last: one of several that were taken out together may have been
//! merged again since.

use std::collections::{BTreeMap, BTreeSet};

use swarm_protocol::ids::Oid;

use super::call::{Git, GitError};
use super::changes::Changed;
use super::refs::parse_oid;
use super::renames::Renames;

/// Commits of trunk that are looked through for what files were before.
const LINE_MAX: usize = 2_000;

#[derive(Debug, Default)]
pub struct Taken {
    /// Who did it, where git names one.
    by: BTreeMap<Oid, Option<Oid>>,
    /// Taken out by later work of ours, before anybody else did anything.
    given_up: BTreeSet<Oid>,
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
        let all: Vec<Candidate> = changes
            .iter()
            .filter_map(|(oid, changed)| Candidate::of(oid, changed, renames))
            .filter(|one| one.files.iter().all(|(file, name)| now.get(name) != file.new.as_ref()))
            .collect();
        let history = History::of(git, tip, &all).await?;
        for Candidate { oid, files } in &all {
            let before: Vec<_> = files.iter().map(|(file, _)| history.before(oid, file)).collect();
            if !files.iter().zip(&before).all(|((_, name), before)| before.contains(&now.get(name))) {
                continue;
            }
            let given_up = |((file, name), before): (&(&Changed, Vec<u8>), &BTreeSet<Option<&Oid>>)| {
                history.given_up_by_us(oid, &[&file.path, name], before, made)
            };
            if files.iter().zip(&before).all(given_up) {
                taken.given_up.insert((*oid).clone());
                continue;
            }
            for ((file, name), before) in files.iter().zip(&before) {
                let (by, step) = match history.taken_out(&[&file.path, name], before) {
                    Some((by, step)) => (Some(by.clone()), (&*step.path, &step.old, &step.new)),
                    // Not on trunk's own line.
                    None => {
                        let last = git.last_change(tip, name).await?.filter(|last| last != *oid);
                        (last, (&*file.path, &file.new, &file.old))
                    }
                };
                let by_us = by.as_ref().is_some_and(|by| made.contains(by));
                if !by_us && !is_of_ours(&changes, made, oid, step) {
                    taken.by.insert((*oid).clone(), by);
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

    /// Whether our own later work took its change out: what others did to its files since is no loss of this commit.
    pub fn is_given_up(&self, oid: &Oid) -> bool {
        self.given_up.contains(oid)
    }
}

/// A commit none of whose files is as it left them.
struct Candidate<'a> {
    oid: &'a Oid,
    /// With the names that they have now.
    files: Vec<(&'a Changed, Vec<u8>)>,
}

impl<'a> Candidate<'a> {
    fn of(oid: &'a Oid, changed: &'a [Changed], renames: &Renames) -> Option<Self> {
        // A name that the commit itself gave or took away is not one that somebody else chose for its work.
        let name = |file: &Changed| {
            let now = renames.name_now(&file.path, oid);
            let its_own = now != file.path && changed.iter().any(|own| own.path == now);
            if its_own { file.path.clone() } else { now }
        };
        let whole = !changed.is_empty() && changed.iter().all(|file| file.old != file.new);
        whole.then(|| Self { oid, files: changed.iter().map(|file| (file, name(file))).collect() })
    }
}

/// What became of the files of candidates along trunk's own line, oldest first.
#[derive(Default)]
struct History {
    line: Vec<(Oid, Vec<Changed>)>,
}

impl History {
    async fn of(git: &Git, tip: &Oid, candidates: &[Candidate<'_>]) -> Result<Self, GitError> {
        let files = candidates.iter().flat_map(|one| &one.files);
        let paths: BTreeSet<&[u8]> = files.flat_map(|(file, name)| [&*file.path, &**name]).collect();
        if paths.is_empty() {
            return Ok(Self::default());
        }
        // Along the line of trunk: of what a task brought by a merge, the merge is what the proof names.
        let count = format!("--max-count={LINE_MAX}");
        let told = git.call(["rev-list", "--first-parent", &count, tip.as_str()]).long_list().ok().await?;
        let all = told.split(|b| *b == b'\n').filter(|line| !line.is_empty());
        let line: Vec<Oid> = all.map(|oid| parse_oid("rev-list", oid)).collect::<Result<_, _>>()?;
        let mut changes = git.changes_in(&line, &paths).await?;
        let mut touched = |oid: Oid| changes.remove(&oid).map(|changed| (oid, changed));
        Ok(Self { line: line.into_iter().rev().filter_map(&mut touched).collect() })
    }

    /// What the file was before the commit, right then and at any earlier time.
    fn before<'a>(&'a self, oid: &Oid, file: &'a Changed) -> BTreeSet<Option<&'a Oid>> {
        let mut before = BTreeSet::from([file.old.as_ref()]);
        if let Some(at) = self.line.iter().position(|(other, _)| other == oid) {
            let steps = self.line[..at].iter().flat_map(|(_, changed)| changed);
            for step in steps.filter(|step| step.path == file.path) {
                before.extend([step.old.as_ref(), step.new.as_ref()]);
            }
        }
        before.remove(&file.new.as_ref());
        before
    }

    /// Whether work of ours that came after the commit took its change out, before anybody else did, and never brought it
    /// back: what others have done to the file since is not a loss of this commit.
    fn given_up_by_us(
        &self,
        oid: &Oid,
        names: &[&[u8]],
        before: &BTreeSet<Option<&Oid>>,
        made: &BTreeSet<Oid>,
    ) -> bool {
        let Some(at) = self.line.iter().position(|(other, _)| other == oid) else { return false };
        let later = self.line[at + 1..].iter();
        let steps = later.flat_map(|(by, changed)| changed.iter().map(move |step| (by, step)));
        let mut steps = steps.filter(|(_, step)| names.contains(&&*step.path));
        let first = steps.by_ref().find(|(_, step)| before.contains(&step.new.as_ref()));
        let ours = first.is_some_and(|(by, _)| made.contains(by));
        ours && !steps.any(|(by, step)| made.contains(by) && !before.contains(&step.new.as_ref()))
    }

    /// The commit that made the file, under one of these names, what it was before, where nothing since has made it
    /// anything else.
    fn taken_out(&self, names: &[&[u8]], before: &BTreeSet<Option<&Oid>>) -> Option<(&Oid, &Changed)> {
        let mut taken = None;
        for (oid, changed) in &self.line {
            let steps: Vec<&Changed> = changed.iter().filter(|step| names.contains(&&*step.path)).collect();
            if !steps.iter().all(|step| before.contains(&step.new.as_ref())) {
                taken = None;
                continue;
            }
            // One that finds it so has not done it.
            let was_there = |step: &&&Changed| !before.contains(&step.old.as_ref());
            if taken.is_none() {
                taken = steps.iter().find(was_there).map(|step| (oid, *step));
            }
        }
        taken
    }
}

/// Whether another commit of ours made the same of the file: somebody may have rewritten that commit since, and the
/// content is still its work.
fn is_of_ours(
    changes: &BTreeMap<Oid, Vec<Changed>>,
    made: &BTreeSet<Oid>,
    oid: &Oid,
    (path, old, new): (&[u8], &Option<Oid>, &Option<Oid>),
) -> bool {
    let others = changes.iter().filter(|(other, _)| *other != oid && made.contains(*other));
    let mut files = others.flat_map(|(_, changed)| changed);
    files.any(|other| other.path == path && other.old == *old && other.new == *new)
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
