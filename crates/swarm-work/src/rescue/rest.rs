//! What an agent has left uncommitted at the end of its work, committed for it.

use std::path::{Path, PathBuf};

use swarm_protocol::ids::{Oid, TaskId};

use super::{now_secs, snapshot};
use crate::worktree::{marker_of, records_at};
use swarm_git::{Git, GitError, NewCommit, OwnRepository, PrivateIndex, RefChange, RefOutcome, tips};

/// What `commit_rest` did.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Rest {
    /// Everything was committed already.
    Clean,
    Committed(Oid),
    /// The branch is not at `tip` any more: nothing was changed.
    Moved {
        now: Option<Oid>,
    },
    /// A merge or the like is half done: what lies there is no work yet, and may hold marks of conflicts. Nothing was changed.
    UnderWay {
        what: &'static str,
    },
    /// This file is larger than what is committed for an agent, cannot be read, or has a name that git refuses: nothing was
    /// changed.
    LeftOut {
        path: PathBuf,
    },
}

/// Of a subject, as people and tools show it.
const SUBJECT_CHARS_MAX: usize = 72;

/// What the commit for the agent says: most agents commit nothing themselves, so that it is what stands on trunk.
pub fn message_of_rest(task: &TaskId, title: &str) -> String {
    let words: Vec<String> =
        title.split_whitespace().map(|word| word.chars().filter(|c| !c.is_control()).collect()).collect();
    let title = words.join(" ");
    let subject = match title.chars().count() {
        0 => format!("rest of the work on {task}"),
        1..=SUBJECT_CHARS_MAX => title,
        _ => title.chars().take(SUBJECT_CHARS_MAX - 1).chain(['\u{2026}']).collect(),
    };
    format!("{subject}\n\nThe agent left this uncommitted; swarm committed it.\n")
}

/// Commits whatever is left (tracked and untracked, not ignored) onto the task's branch, which must be
/// at `tip`. No process of the attempt may live any more. Afterwards `git status` there is clean.
pub async fn commit_rest(
    git: &Git,
    worktree: &Path,
    task: &TaskId,
    tip: &Oid,
    message: &str,
    max_bytes: u64,
) -> Result<Rest, GitError> {
    let full = format!("refs/heads/{}", task.branch());
    if let Some(what) = under_way(git, worktree, task)? {
        return Ok(Rest::UnderWay { what });
    }
    let shot = snapshot(git, worktree, task, tip, Some(max_bytes)).await?;
    if let Some(path) = shot.left_out.first() {
        return Ok(Rest::LeftOut { path: path.clone() });
    }
    let mut head = tip.clone();
    if shot.differs {
        let commit = NewCommit {
            tree: &shot.tree,
            parents: std::slice::from_ref(tip),
            author: None,
            encoding: None,
            message: message.as_bytes(),
            at_secs: now_secs(),
        };
        head = git.make_commit(commit).await?;
        let records = records_at(git, worktree, marker_of(git, task, worktree)?.as_ref());
        tips::note_ours(git, task, records.first().map(AsRef::as_ref), tip, &head)?;
        let change = RefChange::modify(&full, tip, &head);
        if let RefOutcome::Lost { now, .. } = git.update_refs(&[change], "swarm: the rest committed").await? {
            // We may have done it before and died before saying so; only the date would differ.
            match now {
                Some(now) if is_this_work(git, &now, tip, &shot.tree).await? => head = now,
                now => return Ok(Rest::Moved { now }),
            }
        }
    }
    hand_over_index(git, worktree, task).await?;
    git.make_durable().await?;
    Ok(if shot.differs { Rest::Committed(head) } else { Rest::Clean })
}

/// What git is in the middle of there.
fn under_way(git: &Git, worktree: &Path, task: &TaskId) -> Result<Option<&'static str>, GitError> {
    const SIGNS: [(&str, &str); 5] = [
        ("MERGE_HEAD", "merge"),
        ("rebase-merge", "rebase"),
        ("rebase-apply", "rebase"),
        ("CHERRY_PICK_HEAD", "cherry-pick"),
        ("REVERT_HEAD", "revert"),
    ];
    let records = records_at(git, worktree, marker_of(git, task, worktree)?.as_ref());
    let there = |(name, _): &&(&str, &str)| records.iter().any(|record| record.join(name).exists());
    let in_its_own = || OwnRepository::of(worktree, task).under_way();
    Ok(SIGNS.iter().find(there).map(|(_, what)| *what).or_else(in_its_own))
}

async fn is_this_work(git: &Git, commit: &Oid, parent: &Oid, tree: &Oid) -> Result<bool, GitError> {
    let parts = git.commit_parts(commit).await?;
    Ok(parts.tree == *tree && parts.parents == [parent.clone()])
}

/// Gives the worktree our index as its own.
async fn hand_over_index(git: &Git, worktree: &Path, task: &TaskId) -> Result<(), GitError> {
    let marker = marker_of(git, task, worktree)?;
    let records = records_at(git, worktree, marker.as_ref());
    let [record] = &records[..] else { return Ok(()) };
    let index = PrivateIndex::take(git, task.as_str()).await?;
    git.install_index(record, &index, worktree).await
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_commit_for_an_agent_is_called_as_its_task() {
        let task = TaskId::new("1.2").expect("an id");
        let subject =
            |title: &str| message_of_rest(&task, title).lines().next().unwrap_or_default().to_owned();
        assert_eq!(subject("Say  goodbye\nto \u{7}all"), "Say goodbye to all");
        assert_eq!(subject(" \n"), "rest of the work on 1.2");
        let long = subject(&"long ".repeat(40));
        assert!(long.chars().count() == 72 && long.ends_with('\u{2026}'), "{long}");
    }
}
