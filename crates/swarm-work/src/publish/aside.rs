//! A person's local changes put on a ref, so that the trunk can move under the checkout: only where the person
//! has said so, only the paths that are in the way, and only after they have been read back.
//!
//! What is saved has the shape of git's own stash (a commit of the files, whose second parent is a commit of
//! the index), so `git stash apply REF` brings it back.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use swarm_protocol::ids::Oid;

use super::follow::Blocks;
use super::hold::{self, Hold, Taken};
use super::look::{Look, OnDisk, look};
use super::preview::STRANGERS_MAX;
use super::settle::{self, Repair, repair};
use super::{Intent, WaitReason, Waits};
use crate::rescue::RESCUE_FILE_MAX_BYTES;
use crate::worktree::checkouts_of_people;
use swarm_git::{
    Change, Entry, Git, GitError, NewCommit, PrivateIndex, RefChange, RefOutcome, is_refused_name,
};
use swarm_process::Input;

/// Taking one thing out of the way may show another (a link that stood for a folder).
const ROUNDS_MAX: usize = 5;

/// Where the person's changes go.
#[derive(Debug, Clone, Copy)]
pub struct Saving<'a> {
    /// Full name; of several checkouts the later ones get `-2`, `-3` behind it.
    pub ref_name: &'a str,
    /// Date of the commits, seconds since 1970.
    pub at_secs: i64,
}

/// What became of the person's changes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Aside {
    /// Nothing is in the way any more. The refs that hold what was, by checkout; none when nothing was.
    Clear { saved: Vec<(PathBuf, String)> },
    /// Something is in the way that cannot be put on a ref. What was saved before stays saved.
    Cannot(Waits),
}

/// Puts what is in the way of `intent` on refs and takes it out of the checkouts. Safe to ask again after death at
/// any point: what an earlier call has saved is kept and added to.
pub async fn set_aside(git: &Git, intent: &Intent, saving: &Saving<'_>) -> Result<Aside, GitError> {
    let _one_at_a_time = git.publishing().await;
    if let Some(waits) = settle::settle_all(git).await? {
        return Ok(Aside::Cannot(waits));
    }
    let branch = format!("refs/heads/{}", intent.trunk);
    let changes = git.changes(&intent.old, &intent.new).await?;
    let showing = checkouts_of_people(git).into_iter().filter(|checkout| checkout.occupies(&branch));
    let mut saved = Vec::new();
    for (n, checkout) in showing.enumerate() {
        let path = checkout.path.clone();
        let waits = |reason| Ok(Aside::Cannot(Waits { checkout: path.clone(), reason }));
        if let Some(waits) = Waits::of(&checkout) {
            return Ok(Aside::Cannot(waits));
        }
        let mut hold = match hold::take(git, checkout, intent).await? {
            Taken::Held(hold) => hold,
            Taken::Busy(reason) => return waits(reason),
        };
        let name = if n == 0 { saving.ref_name.to_owned() } else { format!("{}-{}", saving.ref_name, n + 1) };
        let one = One { git, intent, name: &name, at_secs: saving.at_secs, changes: &changes };
        let cleared = one.clear(&mut hold).await;
        hold.release()?;
        if let Err(reason) = cleared? {
            return waits(reason);
        }
        if git.ref_value(&name).await?.is_some() {
            saved.push((path, name));
        }
    }
    Ok(Aside::Clear { saved })
}

/// One checkout under its hold.
struct One<'a> {
    git: &'a Git,
    intent: &'a Intent,
    name: &'a str,
    at_secs: i64,
    changes: &'a [Change],
}

impl One<'_> {
    async fn clear(&self, hold: &mut Hold) -> Result<Result<(), WaitReason>, GitError> {
        let mut last = Vec::new();
        for _ in 0..ROUNDS_MAX {
            hold.copy_index()?;
            let looks = look(self.git, &hold.checkout, &hold.next_index, self.changes).await?;
            let reasons = Blocks::of(&hold.checkout.path, &looks, self.changes, STRANGERS_MAX).reasons();
            if let Some(whole) = reasons.iter().find(|one| matches!(one, WaitReason::Repository { .. })) {
                return Ok(Err(whole.clone()));
            }
            let mut paths: Vec<PathBuf> = reasons.iter().flat_map(|reason| reason.paths()).cloned().collect();
            if paths.is_empty() {
                return Ok(Ok(()));
            }
            paths.sort();
            paths.dedup();
            if let Some(why) = cannot_be_saved(&hold.checkout.path, &paths, &looks) {
                return Ok(Err(why));
            }
            self.save(hold, &paths, &looks).await?;
            self.take_away(hold, &paths).await?;
            last = reasons;
        }
        let reason = last.into_iter().next();
        Ok(Err(reason.unwrap_or(WaitReason::Refused { said: "the checkout does not hold still".into() })))
    }

    /// The files and the staged entries of these paths, on top of what was saved before.
    async fn save(&self, hold: &Hold, paths: &[PathBuf], looks: &[Look<'_>]) -> Result<(), GitError> {
        let git = self.git;
        let before = git.ref_value(self.name).await?;
        let (files_base, staged_base) = match &before {
            Some(before) => (before.clone(), second_parent(git, before).await?),
            None => (self.intent.old.clone(), self.intent.old.clone()),
        };
        let staged = self.tree_of_index(paths, looks, &staged_base).await?;
        let files = self.tree_of_files(hold, paths, &files_base).await?;
        let make = |tree: Oid, parents: Vec<Oid>, what: &'static str| async move {
            let message = format!("swarm: {what} of your checkout, put aside\n");
            let commit = NewCommit {
                tree: &tree,
                parents: &parents,
                author: None,
                encoding: None,
                message: message.as_bytes(),
                at_secs: self.at_secs,
            };
            git.make_commit(commit).await
        };
        // What an earlier call saved stays reachable whatever this one has seen: below the commit of the index,
        // because a third parent of the other would mean untracked files to git's stash.
        let below = std::iter::once(self.intent.old.clone()).chain(before.clone()).collect();
        let index = make(staged, below, "the index").await?;
        let commit = make(files.clone(), vec![self.intent.old.clone(), index], "local changes").await?;
        let change = RefChange { name: self.name.to_owned(), old: before, new: Some(commit) };
        if let RefOutcome::Lost { name, .. } =
            git.update_refs(&[change], "swarm: local changes put aside").await?
        {
            let what = format!("{name} was changed meanwhile");
            return Err(GitError::Unreadable { command: "update-ref".into(), what });
        }
        git.make_durable().await?;
        // As close to taking them away as can be: are they still what was saved?
        if self.tree_of_files(hold, paths, &files_base).await? != files {
            return Err(GitError::io("put aside", &hold.checkout.path)(std::io::Error::other(
                "files change while they are being saved",
            )));
        }
        Ok(())
    }

    async fn tree_of_files(&self, hold: &Hold, paths: &[PathBuf], base: &Oid) -> Result<Oid, GitError> {
        let index = PrivateIndex::take(self.git, ".aside").await?;
        let call = |args: &[&str]| index.call(self.git, &hold.checkout.path, args);
        call(&["read-tree", "--reset", base.as_str()]).ok().await?;
        let mut names = Vec::new();
        for path in paths {
            names.extend_from_slice(path.as_os_str().as_encoded_bytes());
            names.push(0);
        }
        let update = call(&["update-index", "--add", "--remove", "--replace", "-z", "--stdin"]);
        update.stdin(Input::Bytes(names)).ok().await?;
        self.written(call(&["write-tree"])).await
    }

    async fn tree_of_index(
        &self,
        paths: &[PathBuf],
        looks: &[Look<'_>],
        base: &Oid,
    ) -> Result<Oid, GitError> {
        let index = PrivateIndex::take(self.git, ".aside").await?;
        let call = |args: &[&str]| index.call(self.git, &self.git.main_checkout, args);
        call(&["read-tree", "--reset", base.as_str()]).ok().await?;
        let mut script = Vec::new();
        let wanted: BTreeSet<&PathBuf> = paths.iter().collect();
        for seen in looks.iter().filter(|seen| wanted.contains(&seen.change.path)) {
            let entry = seen.indexed.as_ref().map(|found| &found.entry);
            script.extend(index_line(&seen.change.path, entry, base));
        }
        let update = call(&["update-index", "-z", "--index-info"]);
        update.stdin(Input::Bytes(script)).ok().await?;
        self.written(call(&["write-tree"])).await
    }

    async fn written(&self, write_tree: swarm_git::GitCall) -> Result<Oid, GitError> {
        let tree = write_tree.line().await?;
        let unreadable = |what: String| GitError::Unreadable { command: "write-tree".into(), what };
        Oid::new(&tree).map_err(|error| unreadable(error.to_string()))
    }

    /// The paths as the commit has them that is checked out.
    async fn take_away(&self, hold: &mut Hold, paths: &[PathBuf]) -> Result<(), GitError> {
        hold.begin_writing()?;
        let old: BTreeMap<&Path, &Option<Entry>> =
            self.changes.iter().map(|change| (&*change.path, &change.old)).collect();
        // What has no side in the change is not tracked, or a link where a folder was.
        let repairs: Vec<Repair> = paths
            .iter()
            .map(|path| Repair { path, target: old.get(&**path).and_then(|entry| (*entry).clone()) })
            .collect();
        repair(self.git, hold, &repairs).await?;
        hold.install_index()
    }
}

/// One line of `update-index --index-info -z`.
fn index_line(path: &Path, entry: Option<&Entry>, like: &Oid) -> Vec<u8> {
    let mut line = match entry {
        Some(entry) => format!("{:06o} {} 0\t", entry.mode, entry.oid),
        None => format!("0 {} 0\t", "0".repeat(like.as_str().len())),
    }
    .into_bytes();
    line.extend_from_slice(path.as_os_str().as_encoded_bytes());
    line.push(0);
    line
}

async fn second_parent(git: &Git, commit: &Oid) -> Result<Oid, GitError> {
    let parents = git.commit_parts(commit).await?.parents;
    Ok(parents.get(1).unwrap_or(commit).clone())
}

/// What no commit can hold: pipes, sockets, unreadable and huge files, both sides of a conflict.
fn cannot_be_saved(top: &Path, paths: &[PathBuf], looks: &[Look<'_>]) -> Option<WaitReason> {
    let refused = |said: String| Some(WaitReason::Refused { said });
    for path in paths {
        let Ok(meta) = std::fs::symlink_metadata(top.join(path)) else { continue };
        // Git passes over such a path without a word: it would be in no commit, and gone from the disk.
        if is_refused_name(path, meta.is_symlink()) {
            return refused(format!("{} has a name that git keeps for itself", path.display()));
        }
        if meta.is_file() && meta.len() > RESCUE_FILE_MAX_BYTES {
            return refused(format!("{} is too large to be saved", path.display()));
        }
        if !(meta.is_file() || meta.is_symlink() || meta.is_dir()) {
            return refused(format!("{} is neither a file nor a link", path.display()));
        }
    }
    let wanted: BTreeSet<&PathBuf> = paths.iter().collect();
    for seen in looks.iter().filter(|seen| wanted.contains(&seen.change.path)) {
        if seen.indexed.as_ref().is_some_and(|found| found.stage != 0) {
            return refused(format!("{} has a conflict that is not resolved", seen.change.path.display()));
        }
        if seen.disk == OnDisk::Odd {
            return refused(format!("{} cannot be read", seen.change.path.display()));
        }
    }
    None
}
