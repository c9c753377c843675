//! What the work of a task changes: from where to where, and as text.
//! Reads only, needs no lock: asked beside a coordinator that works, or where there is none.

use swarm_core::{State, show};
use swarm_git::revert::{Carried, Carry, pick};
use swarm_git::{DiffKind, Git, GitError, Merged};
use swarm_protocol::api::ApiError;
use swarm_protocol::diff::{DiffAsk, DiffView, RoundView};
use swarm_protocol::ids::{Oid, TaskId};
use swarm_protocol::patch::{files, hunks};
use swarm_protocol::view::WorkView;

/// Bytes of a patch that a screen is given; `swarm task diff` has all of it.
const PATCH_MAX: usize = 2 << 20;

/// Names of files, and lines of one of them, that it is given.
const FILES_MAX: usize = 1000;
const LINES_MAX: usize = 5000;

/// Where the work of the task begins and ends as it is now; none: there is no work yet.
pub async fn stretch(
    git: &Git,
    trunk: &str,
    state: &State,
    id: &TaskId,
) -> Result<Option<(Oid, Oid)>, GitError> {
    let own = async |base: Oid, tip: Oid| Ok(Some((git.own_work_begins(trunk, &base, &tip).await?, tip)));
    match show::work(state, id) {
        None => Ok(None),
        Some(WorkView::OnTrunk { commits }) => {
            // As they were merged; what somebody made of them since may hold other work as well.
            let there = git.missing_commits(&commits).await?.is_empty();
            let proof = state.task(id).and_then(|task| task.stage.proof()).filter(|_| !there);
            merged(git, proof.map_or(&commits, |proof| &proof.commits)).await
        }
        Some(WorkView::Submitted { base, tip }) => own(base, tip).await,
        Some(WorkView::OnBranch { base, branch }) => {
            match git.ref_value(&format!("refs/heads/{branch}")).await? {
                Some(tip) => own(base, tip).await,
                None => Ok(None),
            }
        }
    }
}

/// From before the first of these commits to what they make of that alone: others may have come between them.
async fn merged(git: &Git, commits: &[Oid]) -> Result<Option<(Oid, Oid)>, GitError> {
    let (Some(first), Some(last)) = (commits.first(), commits.last()) else { return Ok(None) };
    let Some(from) = git.parent_of(first).await? else { return Ok(None) };
    let mut alone = true;
    for pair in commits.windows(2) {
        alone &= git.parent_of(&pair[1]).await?.as_ref() == Some(&pair[0]);
    }
    let carry = Carry { onto: from.clone(), commits: commits.to_vec(), at_secs: 0, because: None };
    let to = match alone {
        true => last.clone(),
        false => match pick(git, &carry).await? {
            Carried::Built { result, .. } => result,
            Carried::Nothing | Carried::Conflict { .. } => last.clone(),
        },
    };
    Ok(Some((from, to)))
}

/// Which of its commits are meant; as it is now, and all of it, where none is named.
#[derive(Debug, Clone, Default)]
pub struct Part {
    /// As it was submitted with this commit.
    pub to: Option<Oid>,
    /// Only what is another than in this submission.
    pub since: Option<Oid>,
    /// Only this file, with its lines.
    pub file: Option<String>,
}

/// From where to where it goes.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub struct Stretch {
    /// A commit; a tree where trunk was merged between two submissions.
    pub from: Oid,
    pub to: Oid,
    /// What came from trunk in between is in it, too.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub mixed: bool,
}

/// The commits behind the numbers of submissions.
pub fn part(ask: &DiffAsk, rounds: &[RoundView]) -> Result<Part, ApiError> {
    let commit = |wanted: Option<usize>| {
        let Some(wanted) = wanted else { return Ok(None) };
        let found = rounds.iter().find(|round| round.round == wanted).map(|round| round.commit.clone());
        let none = || {
            let task = &ask.task;
            let message = format!("Task {task} has no submission number {wanted}");
            ApiError::new("not_found", message, format!("swarm review show {task}"))
        };
        found.map(Some).ok_or_else(none)
    };
    Ok(Part { to: commit(ask.round)?, since: commit(ask.since)?, file: ask.file.clone() })
}

/// Where this part of the work begins and ends; none: there is no work yet.
pub async fn stretch_of(
    git: &Git,
    trunk: &str,
    state: &State,
    id: &TaskId,
    part: &Part,
) -> Result<Option<Stretch>, GitError> {
    let Some(now) = stretch(git, trunk, state, id).await? else { return Ok(None) };
    let submitted = async |commit: &Oid| submission(git, trunk, state, id, &now.0, commit).await;
    let (from, to) = match &part.to {
        Some(commit) => submitted(commit).await?,
        None => now.clone(),
    };
    let Some(since) = &part.since else { return Ok(Some(Stretch { from, to, mixed: false })) };
    let before = submitted(since).await?;
    if before.0 == from {
        return Ok(Some(Stretch { from: before.1, to, mixed: false }));
    }
    // What came from trunk in between is put below the earlier submission as well, so that it is no difference.
    Ok(Some(match git.merge_commits(&before.0, &from, &before.1).await? {
        Merged::Clean { tree } => Stretch { from: tree, to, mixed: false },
        Merged::Conflict { .. } => Stretch { from: before.1, to, mixed: true },
    }))
}

/// Where the work began that was submitted with this commit.
async fn submission(
    git: &Git,
    trunk: &str,
    state: &State,
    id: &TaskId,
    begins_now: &Oid,
    commit: &Oid,
) -> Result<(Oid, Oid), GitError> {
    let from = match show::work(state, id) {
        Some(WorkView::Submitted { base, .. } | WorkView::OnBranch { base, .. }) => {
            git.own_work_begins(trunk, &base, commit).await?
        }
        // It stands on trunk under other names.
        _ => git.merge_base(begins_now, commit).await?.unwrap_or_else(|| begins_now.clone()),
    };
    Ok((from, commit.clone()))
}

/// The same as a patch; none: there is no work yet.
pub async fn work_diff(
    git: &Git,
    trunk: &str,
    state: &State,
    id: &TaskId,
    part: &Part,
) -> Result<Option<DiffView>, GitError> {
    let Some(found) = stretch_of(git, trunk, state, id, part).await? else { return Ok(None) };
    let bytes = git.diff_text(&found.from, &found.to, DiffKind::Patch).await?;
    let mut view = DiffView::new(id.clone(), found.from, found.to);
    view.mixed = found.mixed;
    fill(&mut view, &String::from_utf8_lossy(&bytes), part.file.as_deref());
    Ok(Some(view))
}

/// As much of the patch as a screen is given.
fn fill(view: &mut DiffView, patch: &str, file: Option<&str>) {
    let all = files(patch);
    let wanted = |path: &str| file.is_none_or(|file| file == path);
    view.files = all.iter().map(|one| one.file.clone()).take(FILES_MAX).collect();
    view.cut = all.len() > FILES_MAX;
    for one in all.iter().filter(|one| wanted(&one.file.path)) {
        let room = PATCH_MAX - view.patch.len();
        let end = one.text.floor_char_boundary(room);
        view.patch.push_str(&one.text[..end]);
        if end < one.text.len() {
            view.cut = true;
            break;
        }
    }
    if file.is_some() {
        let (lines, more) = hunks(&view.patch, LINES_MAX);
        (view.hunks, view.cut) = (Some(lines), view.cut || more);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_submission_that_is_not_there_is_named_by_its_number() {
        let ask = DiffAsk { round: Some(1), ..DiffAsk::of(TaskId::new("1.1").expect("an id")) };
        let Err(refused) = part(&ask, &[]) else { panic!("nothing was submitted") };
        assert_eq!(refused.message, "Task 1.1 has no submission number 1");
    }

    #[test]
    fn a_screen_is_given_what_fits_and_the_names_of_all_files() {
        let oid = |c: char| Oid::new(c.to_string().repeat(40)).expect("an id");
        let task = TaskId::new("1.1").expect("an id");
        let view = || DiffView::new(task.clone(), oid('a'), oid('b'));
        let file = |name: &str, lines: usize| {
            let body = "+ä\n".repeat(lines);
            format!("diff --git a/{name} b/{name}\n--- a/{name}\n+++ b/{name}\n@@ -0,0 +1,{lines} @@\n{body}")
        };
        let patch = format!("{}{}", file("long", PATCH_MAX / 4), file("short", 2));
        let mut all = view();
        fill(&mut all, &patch, None);
        assert!(all.cut && all.patch.len() <= PATCH_MAX && all.hunks.is_none());
        assert_eq!(all.files.iter().map(|file| file.path.as_str()).collect::<Vec<_>>(), ["long", "short"]);
        let mut one = view();
        fill(&mut one, &patch, Some("short"));
        assert!(!one.cut && one.patch == file("short", 2));
        assert_eq!(one.hunks.map(|hunks| hunks[0].lines.len()), Some(2));
        let mut long = view();
        fill(&mut long, &patch, Some("long"));
        assert!(long.cut && long.hunks.is_some_and(|hunks| hunks[0].lines.len() == LINES_MAX));
    }
}
