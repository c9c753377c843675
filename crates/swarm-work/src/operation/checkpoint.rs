//! A checkpoint in git: trunk, the tips of all task branches and, in a full one, what is not committed in the
//! worktrees, each as a commit. All of it lies under refs that one transaction sets, so git's clean-up never
//! takes any of it; nothing that anybody works in is touched.
//!
//! Asked again under the same name it makes the refs say what is so now: whoever recorded the first answer
//! does not ask again.

use std::collections::{BTreeMap, BTreeSet};

use swarm_protocol::ids::{Oid, TaskId};
use swarm_protocol::operation::Saved;
use tokio::task::JoinSet;

use super::uncommitted::uncommitted_commit;
use crate::remove::keep_commit;
use crate::worktree::{MarkerState, WorktreeMarker, all_markers, records_at};
use swarm_git::{Git, GitError, RefChange, RefOutcome};

/// Worktrees that are read at the same time: more would only make the disk seek.
const READING_MAX: usize = 4;

/// Refs that somebody else changes at the same time are read again so often.
const TRIES_MAX: u32 = 3;

/// What is to be saved.
#[derive(Debug, Clone, Copy)]
pub struct Checkpointing<'a> {
    pub name: &'a str,
    /// Short name.
    pub trunk: &'a str,
    /// Tasks whose agent may be writing now.
    pub moving: &'a BTreeSet<TaskId>,
    /// A tag on trunk too, for people.
    pub tag: bool,
}

pub(super) fn prefix_of(name: &str) -> String {
    format!("refs/swarm/checkpoints/{name}/")
}

fn tag_of(name: &str) -> String {
    format!("refs/tags/swarm-checkpoint-{name}")
}

/// Whether a checkpoint can have this name; why not, for people.
pub fn check_name(name: &str) -> Result<(), String> {
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-');
    let no = |why: &str| Err(format!("{name:?} is not a name for a checkpoint: {why}"));
    if name.is_empty() || name.len() > 100 {
        return no("it must have 1 to 100 characters");
    }
    if !name.chars().all(plain) {
        return no("only letters, digits, '.', '_' and '-' are allowed");
    }
    if name.starts_with(['.', '-']) || name.ends_with('.') || name.ends_with(".lock") || name.contains("..") {
        return no("git refuses it in the name of a ref");
    }
    Ok(())
}

/// A full checkpoint: refs of trunk, tips and everything that is not committed, durable when this returns.
pub async fn save(git: &Git, asked: &Checkpointing<'_>) -> Result<Saved, GitError> {
    let mut tries = 1;
    loop {
        let saved = put(git, asked).await?;
        match whole(git, &saved).await {
            // A clean-up that had begun before the refs were there has taken what they name. The files still have it.
            Err(GitError::Pruned { .. }) if tries < TRIES_MAX => tries += 1,
            other => {
                other?;
                git.make_durable().await?;
                return Ok(saved);
            }
        }
    }
}

/// An error unless everything is there that is not committed.
async fn whole(git: &Git, saved: &Saved) -> Result<(), GitError> {
    for (task, commit) in &saved.dirty {
        let besides = saved.tips.get(task).or(saved.trunk.as_ref()).unwrap_or(commit);
        git.is_complete(commit, besides).await?;
    }
    Ok(())
}

async fn put(git: &Git, asked: &Checkpointing<'_>) -> Result<Saved, GitError> {
    let (mut saved, present) = read_refs(git, asked.trunk, &prefix_of(asked.name)).await?;
    let worktrees = all_markers(git).into_iter().filter(|marker| marker.state == MarkerState::Ready);
    let mut waiting: Vec<WorktreeMarker> = worktrees.filter(|marker| marker.path.is_dir()).collect();
    let mut reading = JoinSet::new();
    loop {
        while reading.len() < READING_MAX
            && let Some(marker) = waiting.pop()
        {
            let tip = saved.tips.get(&marker.task).unwrap_or(&marker.base).clone();
            let git = git.clone();
            reading.spawn(async move {
                let WorktreeMarker { task, path, .. } = &marker;
                let records = records_at(&git, path, Some(&marker));
                let found = uncommitted_commit(&git, task, path, &records, &tip).await?;
                Ok::<_, GitError>((marker.task, found))
            });
        }
        let Some(done) = reading.join_next().await else { break };
        let (task, commit) =
            done.unwrap_or_else(|died| Err(GitError::io("read", &git.common_dir)(died.into())))?;
        if let Some(commit) = commit {
            if asked.moving.contains(&task) {
                saved.moving.insert(task.clone());
            }
            saved.dirty.insert(task, commit);
        }
    }
    put_refs(git, asked, &saved, present).await?;
    Ok(saved)
}

/// A light one: trunk and tips; one question, one transaction. It stands in the way of a merge, so it does not wait for
/// the disk: what it names hangs on branches that are there, and the merge behind it syncs both.
pub async fn mark(git: &Git, asked: &Checkpointing<'_>) -> Result<Saved, GitError> {
    let (saved, present) = read_refs(git, asked.trunk, &prefix_of(asked.name)).await?;
    put_refs(git, asked, &saved, present).await?;
    Ok(saved)
}

/// Takes the refs of a checkpoint away. What only they held may be cleaned away by git afterwards.
pub async fn delete(git: &Git, name: &str) -> Result<(), GitError> {
    let prefix = prefix_of(name);
    let present = git.refs_under(&prefix).await?;
    let tag = tag_of(name);
    let tagged = git.ref_value(&tag).await?;
    let is_trunk = |full: &str| full.strip_prefix(&prefix) == Some("trunk");
    let of_trunk = present.iter().find(|(full, _)| is_trunk(full)).map(|(_, oid)| oid);
    let mut changes: Vec<RefChange> =
        present.iter().map(|(full, oid)| RefChange::delete(full, oid)).collect();
    // A tag that a person has moved is the person's.
    if let Some(oid) = tagged.filter(|oid| Some(oid) == of_trunk) {
        changes.push(RefChange::delete(tag, &oid));
    }
    if !changes.is_empty() {
        git.update_refs(&changes, "swarm: checkpoint deleted").await?;
    }
    git.make_durable().await
}

/// What the refs of a checkpoint hold; none when there are none.
pub async fn load(git: &Git, name: &str) -> Result<Option<Saved>, GitError> {
    let prefix = prefix_of(name);
    let present = git.refs_under(&prefix).await?;
    let mut saved = Saved::default();
    for (full, oid) in &present {
        let task = |text: &str| TaskId::new(text).ok();
        match full.strip_prefix(&prefix).unwrap_or_default().split_once('/') {
            None => saved.trunk = Some(oid.clone()),
            Some(("tips", rest)) => saved.tips.extend(task(rest).map(|task| (task, oid.clone()))),
            Some(("dirty", rest)) => saved.dirty.extend(task(rest).map(|task| (task, oid.clone()))),
            Some(_) => {}
        }
    }
    Ok((!present.is_empty()).then_some(saved))
}

type Refs = Vec<(String, Oid)>;

/// Trunk, the branches of all tasks, and what is there under a prefix, by one question.
async fn read_refs(git: &Git, trunk: &str, prefix: &str) -> Result<(Saved, Refs), GitError> {
    let trunk = format!("refs/heads/{trunk}");
    let (mut saved, mut others) = (Saved::default(), Vec::new());
    for (name, oid) in git.refs_under_all(&[&trunk, "refs/heads/swarm/", prefix]).await? {
        if name == trunk {
            saved.trunk = Some(oid);
        } else if name.starts_with(prefix) {
            others.push((name, oid));
        } else if let Some(task) = name.strip_prefix("refs/heads/swarm/").and_then(|t| TaskId::new(t).ok()) {
            saved.tips.insert(task, oid);
        }
    }
    Ok((saved, others))
}

/// A checkpoint of an earlier plan may have had the name: what only its refs held stays under others.
async fn keep_earlier(git: &Git, prefix: &str, changes: &[RefChange]) -> Result<(), GitError> {
    for change in changes {
        let task = change.name.strip_prefix(prefix).and_then(|rest| rest.split_once('/'));
        let task = task.and_then(|(_, task)| TaskId::new(task).ok());
        if let (Some(task), Some(earlier)) = (task, &change.old) {
            keep_commit(git, "kept", &task, earlier).await?;
        }
    }
    Ok(())
}

/// Makes the refs of the checkpoint say exactly this. `present`: what they say now.
async fn put_refs(
    git: &Git,
    asked: &Checkpointing<'_>,
    saved: &Saved,
    present: Refs,
) -> Result<(), GitError> {
    let prefix = prefix_of(asked.name);
    let mut wanted: BTreeMap<String, &Oid> = BTreeMap::new();
    wanted.extend(saved.trunk.iter().map(|oid| (format!("{prefix}trunk"), oid)));
    wanted.extend(saved.tips.iter().map(|(task, oid)| (format!("{prefix}tips/{task}"), oid)));
    wanted.extend(saved.dirty.iter().map(|(task, oid)| (format!("{prefix}dirty/{task}"), oid)));
    let mut found = present;
    for _ in 0..TRIES_MAX {
        let mut present: BTreeMap<String, Oid> = found.into_iter().collect();
        let tag = tag_of(asked.name);
        let tag_is_free = asked.tag && git.ref_value(&tag).await?.is_none();
        let mut changes = Vec::new();
        for (name, oid) in &wanted {
            let old = present.remove(name);
            if old.as_ref() != Some(*oid) {
                changes.push(RefChange { name: name.clone(), old, new: Some((*oid).clone()) });
            }
        }
        changes.extend(present.iter().map(|(name, oid)| RefChange::delete(name, oid)));
        keep_earlier(git, &prefix, &changes).await?;
        changes.extend(saved.trunk.iter().filter(|_| tag_is_free).map(|oid| RefChange::create(&tag, oid)));
        if changes.is_empty() || git.update_refs(&changes, "swarm: checkpoint").await? == RefOutcome::Changed
        {
            return Ok(());
        }
        found = git.refs_under(&prefix).await?;
    }
    let what = format!("the refs of the checkpoint {} do not hold still", asked.name);
    Err(GitError::Unreadable { command: "update-ref".into(), what })
}
