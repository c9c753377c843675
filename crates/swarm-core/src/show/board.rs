//! Everything on the main screen of a front end, of one state.

use swarm_protocol::board::{BoardAgent, BoardRow, BoardView, CheckpointRow, Group, PauseView};
use swarm_protocol::ids::TaskId;
use swarm_protocol::review::Reviewer;
use swarm_protocol::time::Timestamp;
use swarm_protocol::view::AgentView;

use super::task::{row, stage_words};
use crate::reviewer::reviewer;
use crate::stage::{MergeStep, Stage};
use crate::state::schedule::PRIORITY_DEFAULT;
use crate::state::{State, Task};

/// Operations that a screen lists; all of them are in `swarm op log`.
const OPERATIONS_SHOWN: usize = 50;

/// What agents say of themselves, and what branches conflict, is added by whoever knows it.
pub fn board(state: &State, now: Timestamp) -> BoardView {
    let status = super::status(state, now);
    let agents = status.agents.iter().map(|agent| board_agent(state, agent)).collect();
    let pauses = state.paused.iter().map(|(reason, pause)| PauseView {
        reason: *reason,
        since: pause.since,
        why: pause.why.clone(),
        ended_by: reason.ended_by(),
    });
    BoardView {
        now,
        rows: state.tasks_in_order().map(|task| board_row(state, task)).collect(),
        agents,
        pauses: pauses.collect(),
        attention: super::ways::attention_with_ways(state, now),
        checkpoints: checkpoints(state),
        operations: super::operations::newest(state, OPERATIONS_SHOWN),
        reviews: super::reviews(state),
        status,
    }
}

fn board_agent(state: &State, agent: &AgentView) -> BoardAgent {
    let run = state.runs.get(&agent.run);
    let task = state.task(&agent.task);
    let own = run.and_then(|run| run.profile.clone());
    let profile = own.or_else(|| task.map(|task| state.preferred_profile(task).to_owned()));
    BoardAgent {
        agent: agent.clone(),
        iterations_max: state.policy.max_iterations,
        attempt: run.map_or(0, |run| run.attempt),
        profile: profile.unwrap_or_default(),
        branch: agent.task.branch(),
        news: None,
    }
}

fn board_row(state: &State, task: &Task) -> BoardRow {
    let (group, word, detail) = standing(state, task);
    let open = |id: &&TaskId| state.task(id).is_some_and(|task| !task.stage.is_closed());
    BoardRow {
        row: row(state, task),
        group,
        word: word.into(),
        detail,
        tags: task.spec.tags.clone(),
        priority: task.spec.priority.unwrap_or(PRIORITY_DEFAULT),
        unblocks: state.index.dependents(&task.spec.id).filter(open).count() as u64,
        commit: task.stage.proof().map(|proof| proof.commit.clone()),
        waits_for_start: group == Group::Ready && state.needs_start(task),
        conflicts_with: vec![],
    }
}

/// Group, word, and what the word leaves open.
#[allow(clippy::too_many_lines, reason = "one arm per stage")]
fn standing(state: &State, task: &Task) -> (Group, &'static str, String) {
    let none = String::new();
    match &task.stage {
        Stage::Pending { not_before, .. } => pending(state, task, *not_before),
        Stage::Preparing { .. } => (Group::Works, "preparing", "its worktree".into()),
        Stage::Active { .. } => (Group::Works, "working", none),
        Stage::Restarting { not_before, .. } => {
            (Group::Works, "crashed", format!("restarts {}", not_before.clock(state.at)))
        }
        Stage::Checking { .. } => (Group::Works, "checking", none),
        Stage::Review { run, .. } => {
            let rounds = format!("round {} of {}", task.review_rounds + 1, state.policy.review_rounds);
            match reviewer(state, task) == Reviewer::Human && run.is_none() {
                true => (Group::NeedsYou, "review", format!("yours, {rounds}")),
                false => (Group::InReview, "review", rounds),
            }
        }
        Stage::Approved { waits: Some(waits), .. } => {
            (Group::NeedsYou, "merging", format!("waits for your checkout: {}", waits.why))
        }
        Stage::Approved { .. } => (Group::Merges, "approved", "waits for its turn".into()),
        Stage::Merging { step, .. } => (Group::Merges, "merging", merge_step(step).into()),
        Stage::Done { proof: Some(proof) } if proof.accepted.is_none() => {
            (Group::Done, "done", format!("{} on {}", proof.commit.short(), proof.trunk))
        }
        Stage::Done { .. } => (Group::Done, "done", "without a proof on trunk".into()),
        Stage::Gone { why, .. } => (Group::NeedsYou, "gone", why.clone()),
        Stage::Blocked { why, .. } if crate::react::asks(task) => (Group::NeedsYou, "asks you", why.clone()),
        Stage::Blocked { why, .. } => (Group::NeedsYou, "blocked", why.clone()),
        Stage::Failed { why, .. } => (Group::NeedsYou, "failed", why.clone()),
        Stage::Timeout { why, .. } => (Group::NeedsYou, "timeout", why.clone()),
        Stage::Split { .. } => (Group::Waits, "split", stage_words(state, task)),
        Stage::Deferred => (Group::Aside, "deferred", none),
        Stage::Cancelled => (Group::Aside, "cancelled", none),
    }
}

fn pending(state: &State, task: &Task, not_before: Timestamp) -> (Group, &'static str, String) {
    let unmet: Vec<&str> = state.unmet(task).iter().map(|id| id.as_str()).collect();
    if let Some(why) = &task.withheld {
        return (Group::NeedsYou, "stopped", why.clone());
    }
    if !unmet.is_empty() {
        return (Group::Waits, "waits", format!("for {}", unmet.join(", ")));
    }
    if not_before > state.at {
        return (Group::Waits, "waits", format!("retry at {}", not_before.clock(state.at)));
    }
    if state.profile_for(task).is_none() {
        return (Group::Waits, "waits", "for quota".into());
    }
    // Until a person lets it start nothing else keeps it.
    let may_start = !state.needs_start(task);
    if let Some(files) = may_start.then(|| super::reservations::files_of(state, &task.spec.id)).flatten() {
        return (Group::Waits, "waits", files.strip_prefix("waits ").unwrap_or(&files).to_owned());
    }
    let waiting = state.index.dependents(&task.spec.id).count();
    let detail = if waiting == 0 { String::new() } else { format!("unblocks {waiting}") };
    (Group::Ready, "ready", detail)
}

fn merge_step(step: &MergeStep) -> &'static str {
    match step {
        MergeStep::Building => "building",
        MergeStep::Verifying { .. } => "verifying",
        MergeStep::Publishing { .. } => "publishing",
        MergeStep::Suspect { .. } | MergeStep::Trial { .. } => "red, verifying trunk alone",
    }
}

fn checkpoints(state: &State) -> Vec<CheckpointRow> {
    let row = |view: swarm_protocol::oplog::CheckpointView| {
        let commits = |id: &TaskId| Some(state.task(id)?.stage.proof()?.own().len() as u64);
        let checkpoint = view.checkpoint;
        CheckpointRow {
            name: checkpoint.name,
            at: checkpoint.at,
            seq: checkpoint.seq,
            auto: checkpoint.auto,
            trigger: checkpoint.trigger,
            trunk: checkpoint.trunk,
            tasks_since: view.merged_since.len() as u64,
            commits_since: view.merged_since.iter().filter_map(commits).sum(),
        }
    };
    super::checkpoints(state).into_iter().map(row).collect()
}
