//! What commits change, compared by content: the same change under another name, or taken back.
//!
//! Git's patch ids leave line numbers out, so a change is known again after a rebase. The id of a change read backwards is
//! the id of its revert. Only commits that touch the same files are read.

use std::collections::{BTreeMap, BTreeSet};

use swarm_protocol::ids::Oid;

use super::call::{Git, GitError, LIST_BYTES_MAX};
use super::changes::{Changed, lines};
use super::entry::ALL_LINKS;
use super::refs::parse_oid;
use super::renames::Renames;
use swarm_process::{Input, ProcessError};

/// Commits whose changes are read in one call: their text passes through our memory.
const AT_ONCE: usize = 64;

/// Changes of some commits (`ours`), and of others on trunk that touch the same files.
#[derive(Debug, Default)]
pub struct Patches {
    forth: BTreeMap<Oid, String>,
    back: BTreeMap<Oid, String>,
    author: BTreeMap<Oid, Vec<u8>>,
    paths: BTreeMap<Oid, BTreeSet<Vec<u8>>>,
    /// The same, with the names that trunk gave them since.
    later_paths: BTreeMap<Oid, BTreeSet<Vec<u8>>>,
    subject: BTreeMap<Oid, Vec<u8>>,
    changes: BTreeMap<Oid, Vec<Changed>>,
    /// Commits that the message of a commit says it reverts.
    reverts: BTreeMap<Oid, BTreeSet<Oid>>,
    /// The others, oldest first.
    others: Vec<Oid>,
    /// Where each commit of trunk stands, the oldest first.
    order: BTreeMap<Oid, usize>,
}

impl Patches {
    /// `line`: the commits of trunk that are looked through, oldest first.
    pub async fn of(git: &Git, ours: &[Oid], line: &[Oid], renames: &Renames) -> Result<Self, GitError> {
        let order = line.iter().enumerate().map(|(at, oid)| (oid.clone(), at)).collect();
        let mut patches = Self { order, ..Self::default() };
        let others: Vec<Oid> = line.iter().filter(|oid| !ours.contains(oid)).cloned().collect();
        if ours.is_empty() || others.is_empty() {
            return Ok(patches);
        }
        let mut mine = git.paths_of(ours).await?;
        let mut theirs = git.paths_of(&others).await?;
        let later = |paths: &BTreeSet<Vec<u8>>| renames.and_later(paths);
        let touched: BTreeSet<Vec<u8>> = mine.values().flat_map(later).collect();
        let near =
            |oid: &&Oid| theirs.get(*oid).is_some_and(|paths| paths.iter().any(|p| touched.contains(p)));
        patches.others = others.iter().filter(near).cloned().collect();
        if patches.others.is_empty() {
            return Ok(patches);
        }
        let met_paths: BTreeSet<&Vec<u8>> =
            patches.others.iter().filter_map(|oid| theirs.get(oid)).flatten().collect();
        let met = |oid: &&Oid| {
            mine.get(*oid).is_some_and(|paths| later(paths).iter().any(|path| met_paths.contains(path)))
        };
        let ours: Vec<Oid> = ours.iter().filter(met).cloned().collect();
        patches.forth = git.patch_ids(&ours, false, LIST_BYTES_MAX).await?;
        patches.back = git.patch_ids(&ours, true, LIST_BYTES_MAX).await?;
        patches.forth.extend(git.patch_ids(&patches.others, false, LIST_BYTES_MAX).await?);
        for oid in ours.iter().chain(&patches.others) {
            let parts = git.commit_parts(oid).await?;
            patches.author.insert(oid.clone(), signature(&parts.author));
            patches.reverts.insert(oid.clone(), reverted(&parts.message));
            patches.subject.insert(oid.clone(), subject(&parts.message));
            // A commit may be named twice.
            if let Some(paths) = mine.remove(oid).or_else(|| theirs.remove(oid)) {
                patches.later_paths.insert(oid.clone(), later(&paths));
                patches.paths.insert(oid.clone(), paths);
            }
        }
        patches.changes = git.changes_of(&[&ours[..], &patches.others].concat()).await?;
        patches.read_reverted(git).await?;
        Ok(patches)
    }

    /// The subjects of commits that were reverted and are older than what was read.
    async fn read_reverted(&mut self, git: &Git) -> Result<(), GitError> {
        let named: BTreeSet<&Oid> = self.reverts.values().flatten().collect();
        let unread = |oid: &&&Oid| !self.subject.contains_key(**oid);
        let unread: Vec<Oid> = named.iter().filter(unread).map(|oid| (*oid).clone()).collect();
        let missing = git.missing_commits(&unread).await?;
        for oid in unread.iter().filter(|oid| !missing.contains(oid)) {
            let parts = git.commit_parts(oid).await?;
            self.subject.insert(oid.clone(), subject(&parts.message));
        }
        Ok(())
    }

    /// The commit that took this one back, if the last word about it was that. What came before it is about another
    /// one with the same change.
    pub fn reverted_by(&self, oid: &Oid) -> Option<Oid> {
        self.reverted_by_after(oid, oid)
    }

    /// The same, of commits that came after this place of trunk.
    pub fn reverted_by_after(&self, oid: &Oid, place: &Oid) -> Option<Oid> {
        let at = self.order.get(place)?;
        let later = self.others.iter().filter(|other| self.order.get(*other) > Some(at));
        self.reverted_in(oid, later)
    }

    fn reverted_in<'a>(&self, oid: &Oid, others: impl Iterator<Item = &'a Oid>) -> Option<Oid> {
        let (forth, back) = (self.forth.get(oid), self.back.get(oid));
        let mut by: Option<Oid> = None;
        for other in others {
            let (id, says) = (self.forth.get(other), self.reverts.get(other));
            let names = |wanted: &Oid| says.is_some_and(|says| says.contains(wanted));
            let names_older = || {
                says.is_some_and(|says| says.iter().any(|older| self.takes_back_instead(other, older, oid)))
            };
            by = match by {
                None if names(oid) || (back.is_some() && id == back) || names_older() => Some(other.clone()),
                Some(revert) if names(&revert) || (forth.is_some() && id == forth) => None,
                unchanged => unchanged,
            };
        }
        by
    }

    /// Whether this revert of an older commit takes back a commit that had brought its work again: in other words, and a
    /// file of it is what it was before.
    fn takes_back_instead(&self, revert: &Oid, older: &Oid, oid: &Oid) -> bool {
        let alike = older != oid
            && self.order.get(older) < self.order.get(oid)
            && self.subject.get(older) == self.subject.get(oid);
        let (Some(done), Some(undone)) = (self.changes.get(oid), self.changes.get(revert)) else {
            return false;
        };
        let is_back = |file: &Changed| {
            undone.iter().any(|back| back.path == file.path && back.old == file.new && back.new == file.old)
        };
        alike && done.iter().any(is_back)
    }

    /// The commits of others that touch the same files, oldest first.
    pub fn others(&self) -> impl DoubleEndedIterator<Item = &Oid> {
        self.others.iter()
    }

    /// Commits of others after this one that touch a file it changed, newest first.
    pub fn later_in_its_files(&self, oid: &Oid) -> Vec<Oid> {
        let (Some(at), Some(files)) = (self.order.get(oid), self.later_paths.get(oid)) else {
            return Vec::new();
        };
        let later = self.others.iter().filter(|other| self.order.get(*other) > Some(at));
        let meets = |other: &&Oid| self.paths.get(*other).is_some_and(|paths| !paths.is_disjoint(files));
        later.filter(meets).rev().cloned().collect()
    }

    /// Another commit on trunk with the same change.
    pub fn twin_of(&self, oid: &Oid) -> Option<Oid> {
        let id = self.forth.get(oid)?;
        self.others.iter().rev().find(|other| self.forth.get(*other) == Some(id)).cloned()
    }

    /// Commits on trunk by the same author at the same moment: what an amend or a rebase leaves of a commit.
    pub fn rewritten_as(&self, oid: &Oid) -> Vec<Oid> {
        let Some(author) = self.author.get(oid) else { return Vec::new() };
        self.others.iter().filter(|other| self.author.get(*other) == Some(author)).cloned().collect()
    }

    /// Whether a rewritten commit still changes every file that the first one changed: somebody edited the work, and did
    /// not leave a part of it out.
    pub fn edits(&self, oid: &Oid, rewritten: &Oid) -> bool {
        let (Some(first), Some(now)) = (self.paths.get(oid), self.paths.get(rewritten)) else { return false };
        !first.is_empty() && first.is_subset(now)
    }
}

fn subject(message: &[u8]) -> Vec<u8> {
    message.split(|b| *b == b'\n').next().unwrap_or_default().to_vec()
}

fn signature(author: &super::Signature) -> Vec<u8> {
    [&author.who[..], b"<", &author.email, b">", author.date.as_bytes()].concat()
}

/// `This reverts commit <oid>`, as git words it.
pub fn reverted(message: &[u8]) -> BTreeSet<Oid> {
    let text = String::from_utf8_lossy(message);
    let named = text.lines().filter_map(|line| line.trim().strip_prefix("This reverts commit "));
    named.filter_map(|rest| Oid::new(rest.trim_end_matches(['.', ',']).split(',').next()?).ok()).collect()
}

impl Git {
    /// The paths that each commit changes, against its first parent. None for one that changes nothing.
    async fn paths_of(&self, commits: &[Oid]) -> Result<BTreeMap<Oid, BTreeSet<Vec<u8>>>, GitError> {
        let mut found: BTreeMap<Oid, BTreeSet<Vec<u8>>> = BTreeMap::new();
        for (oid, changed) in self.changes_of(commits).await? {
            found.insert(oid, changed.into_iter().map(|file| file.path).collect());
        }
        Ok(found)
    }

    /// The patch id of each commit that changes something, read forth or back. One whose text is longer than `text_max` has
    /// none: its content has to say where it is.
    async fn patch_ids(
        &self,
        commits: &[Oid],
        back: bool,
        text_max: usize,
    ) -> Result<BTreeMap<Oid, String>, GitError> {
        let mut found = BTreeMap::new();
        let mut open: Vec<&[Oid]> = commits.chunks(AT_ONCE).collect();
        while let Some(some) = open.pop() {
            // Without prefixes: read backwards they would change places, and with them the id.
            let args =
                ["diff-tree", "--stdin", "-p", "--root", "--no-prefix", "--no-ext-diff", "--no-textconv"];
            let mut call = self.call(args).args([ALL_LINKS, "--diff-merges=first-parent"]);
            if back {
                call = call.arg("-R");
            }
            let text = match call.stdin(lines(some)).output_max(text_max).ok().await {
                // Whole libraries were taken in: fewer of them at once.
                Err(GitError::Process(ProcessError::TooMuchOutput { .. })) => {
                    if some.len() > 1 {
                        let (first, second) = some.split_at(some.len() / 2);
                        open.extend([first, second]);
                    }
                    continue;
                }
                text => text?,
            };
            let ids =
                self.call(["patch-id", self.kind_of_id()]).stdin(Input::Bytes(text)).long_list().ok().await?;
            for line in String::from_utf8_lossy(&ids).lines() {
                if let Some((id, oid)) = line.split_once(' ') {
                    found.insert(parse_oid("patch-id", oid.as_bytes())?, id.to_owned());
                }
            }
        }
        Ok(found)
    }

    /// Blanks count: without them a change of indentation would be its own revert, and every other one of that line.
    fn kind_of_id(&self) -> &'static str {
        if self.version >= (2, 39, 0) { "--verbatim" } else { "--stable" }
    }

    /// The newest commit that all of these have in their history.
    pub async fn common_base<'a>(
        &self,
        commits: impl Iterator<Item = &'a Oid>,
    ) -> Result<Option<Oid>, GitError> {
        let mut base: Option<Oid> = None;
        for some in commits.collect::<Vec<_>>().chunks(500) {
            let mut call = self.call(["merge-base", "--octopus"]);
            call = call.args(base.iter().map(Oid::as_str)).args(some.iter().map(|oid| oid.as_str()));
            let Some(told) = call.if_yes().await? else { return Ok(None) };
            base = Some(parse_oid("merge-base", told.trim_ascii())?);
        }
        Ok(base)
    }
}

/// Commits that `rev-list` names for these and the further arguments.
pub async fn listed(git: &Git, from: &[Oid], more: &[&str]) -> Result<BTreeSet<Oid>, GitError> {
    Ok(listed_newest_first(git, from, more).await?.into_iter().collect())
}

/// The same in the order of history: no commit before one that builds on it.
pub async fn listed_newest_first(git: &Git, from: &[Oid], more: &[&str]) -> Result<Vec<Oid>, GitError> {
    if from.is_empty() {
        return Ok(Vec::new());
    }
    let call = git.call(["rev-list", "--topo-order", "--stdin"]).args(more);
    let told = call.stdin(lines(from)).long_list().ok().await?;
    told.split(|b| *b == b'\n').filter(|l| !l.is_empty()).map(|line| parse_oid("rev-list", line)).collect()
}

/// The newest `most` commits of a history without some others, oldest first.
pub async fn listed_in_order(git: &Git, tip: &Oid, without: &str, most: usize) -> Result<Vec<Oid>, GitError> {
    let count = format!("--max-count={most}");
    let call = git.call(["rev-list", "--topo-order", &count, tip.as_str(), without]);
    let told = call.long_list().ok().await?;
    let lines = told.split(|b| *b == b'\n').filter(|line| !line.is_empty());
    let mut all: Vec<Oid> = lines.map(|line| parse_oid("rev-list", line)).collect::<Result<_, _>>()?;
    all.reverse();
    Ok(all)
}

/// Those of `among` that have this commit in their history, the newest first.
pub async fn descendants(git: &Git, oid: &Oid, among: &[Oid]) -> Result<Vec<Oid>, GitError> {
    let others: Vec<Oid> = among.iter().filter(|other| *other != oid).cloned().collect();
    if others.is_empty() {
        return Ok(Vec::new());
    }
    let without = format!("^{oid}");
    let call = git.call(["rev-list", "--stdin", "--topo-order", "--ancestry-path", &without]);
    let told = call.stdin(lines(&others)).long_list().ok().await?;
    let all = told.split(|b| *b == b'\n').filter(|line| !line.is_empty());
    let all: Vec<Oid> = all.map(|line| parse_oid("rev-list", line)).collect::<Result<_, _>>()?;
    Ok(all.into_iter().filter(|one| others.contains(one)).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_commit_that_is_too_long_hides_no_other_one() {
        let dir = tempfile::tempdir().expect("a folder");
        let person = ["-c", "user.name=A", "-c", "user.email=a@b"];
        let call = |args: &[&str]| crate::GitCall::by_hand(dir.path()).args(person).args(args);
        call(&["init", "--quiet"]).ok().await.expect("git works");
        let mut made = Vec::new();
        for lines in [10, 2_000, 20, 30] {
            std::fs::write(dir.path().join("a.txt"), "line\n".repeat(lines)).expect("written");
            call(&["add", "a.txt"]).ok().await.expect("git works");
            call(&["commit", "--quiet", "--message=work"]).ok().await.expect("git works");
            let name = call(&["rev-parse", "HEAD"]).line().await.expect("git works");
            made.push(Oid::new(&name).expect("a name"));
        }
        let git = Git::discover(dir.path()).await.expect("fit");
        let all = git.patch_ids(&made, false, LIST_BYTES_MAX).await.expect("git works");
        assert_eq!(all.len(), 4);
        // What takes those lines away again is as long.
        let few = git.patch_ids(&made, false, 4_000).await.expect("git works");
        assert_eq!(few.keys().collect::<BTreeSet<_>>(), BTreeSet::from([&made[0], &made[3]]));
        assert!(few.iter().all(|(oid, id)| all.get(oid) == Some(id)), "{few:?}");
    }
}
