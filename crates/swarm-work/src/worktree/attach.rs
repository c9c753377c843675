//! A worktree that is there: whatever an agent did to git's record of it is put right, nothing is lost.

use std::path::Path;

use swarm_protocol::ids::{Oid, TaskId};

use super::integrity::{self, Flaw, is_commit, is_whole};
use super::marker::note_if_other;
use super::{Files, Prepared, WorktreeMarker, marker_path, rotten};
use crate::remove::move_to_trash;
use crate::rescue;
use swarm_git::tips::{self, Tip};
use swarm_git::{Checkout, Git, GitError, Head, PrivateIndex, RefChange, write_marker};

pub(super) async fn attach(
    git: &Git,
    task: &TaskId,
    record: &Path,
    mut marker: WorktreeMarker,
    files: Files,
) -> Result<Prepared, GitError> {
    let branch = task.branch();
    let full = format!("refs/heads/{branch}");
    let flaws = integrity::inside(git, task, record, &marker, files).await?;
    let head_says = git.head_in(record);
    let head = match &head_says {
        Head::Detached(oid) => Some(oid.clone()),
        Head::Branch(name) if *name != full => git.ref_value(name).await?,
        _ => None,
    };
    let tip = tip_of(git, &full, &marker, head.as_ref()).await?;
    let tip = readable(git, &full, &marker, tip, &flaws).await?;
    if files == Files::Unknown && flaws.iter().any(Flaw::is_disorder) {
        keep_files(git, &marker, &tip).await?;
    }
    // An agent that left its branch may have commits that only its HEAD holds.
    if let Some(head) = head.filter(|head| *head != tip)
        && git.resolve(head.as_str()).await?.is_some()
        && !git.is_ancestor(&head, &tip).await?
    {
        let name = format!("refs/swarm/rescue/{task}/{}", head.short());
        git.update_refs(&[RefChange::create(name, &head)], "swarm: commits off the branch").await?;
    }
    // A repository that stands where the pointer was may hold commits: aside with it, not away.
    git.put_right(record, &marker.path, &full, |found| move_to_trash(git, task.as_str(), found).map(drop))?;
    // A git of the last attempt that was killed has left its locks; the next one would stumble over them.
    for lock in
        [record.join("index.lock"), record.join("HEAD.lock"), git.common_dir.join(format!("{full}.lock"))]
    {
        git.clear_if_abandoned(&lock).await;
    }
    // Back on its branch, so that the next commit lands there: files that differ from it show as changed. A rebase
    // that was under way goes on detached, as git does it.
    let astray = match &head_says {
        Head::Branch(name) => *name != full,
        Head::Detached(_) => !is_mid_way(record, &marker.path),
        Head::Unreadable => false,
    };
    if astray {
        // The log of HEAD will not tell of this step: without a note the branch would look moved by somebody else.
        if let (Tip::Own { tip }, Some(last)) =
            (tips::look(git, record, task).await?, tips::own_tip(git, record, task))
        {
            tips::note_ours(git, task, Some(record), &last, &tip)?;
        }
        git.point_head(record, &full)?;
    }
    let index = record.join("index");
    if flaws.contains(&Flaw::BrokenIndex) {
        // What was only staged may be in it yet: aside, not away.
        move_to_trash(git, task.as_str(), &index)?;
    }
    if astray || !index.is_file() {
        give_index(git, task, record, &marker.path, &tip).await?;
    }
    if marker.record.is_none() {
        marker.record = record.file_name().and_then(|name| name.to_str()).map(str::to_owned);
    }
    note_if_other(git, &marker)?;
    Ok(Prepared { flaws, ..prepared(marker, branch, tip, record) })
}

fn is_mid_way(record: &Path, path: &Path) -> bool {
    let checkout = Checkout {
        path: path.to_owned(),
        git_dir: record.to_owned(),
        is_main: false,
        head: Head::Unreadable,
    };
    checkout.mid_way().is_some()
}

/// The folder is there with what was worked in it, git's record is gone.
pub(super) async fn register_again(
    git: &Git,
    task: &TaskId,
    mut marker: WorktreeMarker,
    files: Files,
) -> Result<Prepared, GitError> {
    let branch = task.branch();
    let full = format!("refs/heads/{branch}");
    let mut flaws = vec![Flaw::Forgotten];
    flaws.extend(integrity::of_branch(git, task, &marker).await?);
    let tip = tip_of(git, &full, &marker, None).await?;
    let tip = readable(git, &full, &marker, tip, &flaws).await?;
    if files == Files::Unknown {
        keep_files(git, &marker, &tip).await?;
    }
    let dot_git = marker.path.join(".git");
    if std::fs::symlink_metadata(&dot_git).is_ok_and(|meta| meta.is_dir()) {
        move_to_trash(git, task.as_str(), &dot_git)?;
    }
    let name = git.register(task.as_str(), &marker.path, &Head::Branch(full), &tip)?;
    let record = git.record_dir(&name);
    marker.record = Some(name);
    write_marker(&marker_path(git, task), &marker)?;
    give_index(git, task, &record, &marker.path, &tip).await?;
    Ok(Prepared { flaws, ..prepared(marker, branch, tip, &record) })
}

fn prepared(marker: WorktreeMarker, branch: String, tip: Oid, record: &Path) -> Prepared {
    let WorktreeMarker { path, base, .. } = marker;
    Prepared {
        path,
        branch,
        base,
        tip,
        reattached: true,
        recycled: false,
        record: record.to_owned(),
        flaws: Vec::new(),
    }
}

/// The tip of the branch. One that was deleted under the worktree is made again at its last known commit.
async fn tip_of(git: &Git, full: &str, marker: &WorktreeMarker, head: Option<&Oid>) -> Result<Oid, GitError> {
    if let Some(tip) = git.ref_value(full).await? {
        return Ok(tip);
    }
    let logged = marker
        .record
        .as_ref()
        .and_then(|name| swarm_git::tips::own_tip(git, &git.record_dir(name), &marker.task));
    let mut tip = marker.base.clone();
    for candidate in head.cloned().into_iter().chain(logged) {
        // What an agent's files say may be no commit at all.
        if git.resolve(candidate.as_str()).await?.is_some() {
            tip = candidate;
            break;
        }
    }
    // A power cut may have left a file without a commit in it: git neither reads nor replaces that.
    let loose = git.common_dir.join(full);
    if loose.is_file() && git.oid_in(&loose).is_none() {
        move_to_trash(git, marker.task.as_str(), &loose)?;
    }
    git.update_refs(&[RefChange::create(full, &tip)], "swarm: branch of a task restored").await?;
    Ok(tip)
}

/// The tip, or where that cannot be read the newest commit of the task that can. The files of the worktree stay:
/// what the lost commits held shows as changed.
async fn readable(
    git: &Git,
    full: &str,
    marker: &WorktreeMarker,
    tip: Oid,
    flaws: &[Flaw],
) -> Result<Oid, GitError> {
    if !flaws.iter().any(|flaw| matches!(flaw, Flaw::TipUnreadable { .. })) {
        return Ok(tip);
    }
    rotten::put_aside(git, marker, &tip).await?;
    let record = marker.record.as_ref().map(|name| git.record_dir(name));
    let logged = record.as_deref().map(tips::logged).unwrap_or_default();
    let good = newest_whole(git, marker).await?;
    if let Some(last) = logged.last() {
        tips::note_ours(git, &marker.task, record.as_deref(), last, &good)?;
    }
    git.update_refs(&[RefChange::modify(full, &tip, &good)], "swarm: the last commits cannot be read")
        .await?;
    Ok(good)
}

/// The newest commit of the task that can be read with everything in it; at worst the one that it began at.
pub(crate) async fn newest_whole(git: &Git, marker: &WorktreeMarker) -> Result<Oid, GitError> {
    let record = marker.record.as_ref().map(|name| git.record_dir(name));
    let logged = record.as_deref().map(tips::logged).unwrap_or_default();
    for commit in logged.into_iter().rev().chain(saved(git, marker).await?) {
        if is_commit(git, &commit).await? && is_whole(git, &marker.base, &commit).await? {
            return Ok(commit);
        }
    }
    Ok(marker.base.clone())
}

/// The commits that saved work of earlier attempts stands on, and that work itself.
async fn saved(git: &Git, marker: &WorktreeMarker) -> Result<Vec<Oid>, GitError> {
    let refs = git.refs_under(&format!("refs/swarm/wip/{}", marker.task)).await?;
    let mut found = Vec::new();
    for (_, commit) in refs.into_iter().rev() {
        if let Ok(parts) = git.commit_parts(&commit).await {
            found.extend(parts.parents.into_iter().next());
        }
    }
    Ok(found)
}

/// Before anything is put right: what is not committed, under a ref of its own.
async fn keep_files(git: &Git, marker: &WorktreeMarker, tip: &Oid) -> Result<(), GitError> {
    let now = jiff::Timestamp::now().strftime("%Y%m%d-%H%M%S");
    let name = format!("refs/swarm/rescue/{}/files-{now}", marker.task);
    rescue::save_as(git, &marker.path, &marker.task, &name, tip).await.map(drop)
}

/// An index that shows the tip; files that differ from it show as changed.
async fn give_index(git: &Git, task: &TaskId, record: &Path, path: &Path, tip: &Oid) -> Result<(), GitError> {
    let index = PrivateIndex::take(git, task.as_str()).await?;
    index.show(git, path, tip).await?;
    git.install_index(record, &index, path).await
}
