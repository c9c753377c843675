//! Tasks: the list and the single one.

use swarm_protocol::ids::{Oid, RunId, TaskId};
use swarm_protocol::plan::BlockKind;
use swarm_protocol::review::Reviewer;
use swarm_protocol::time::Timestamp;
use swarm_protocol::view::{AuditView, TaskRow, TaskView};

use crate::reviewer::reviewer;
use crate::stage::{MergeStep, Stage};
use crate::state::schedule::PRIORITY_DEFAULT;
use crate::state::{Audit, State, Task};

/// All tasks in the order of the plan.
pub fn rows(state: &State) -> Vec<TaskRow> {
    state.tasks_in_order().map(|task| row(state, task)).collect()
}

pub fn row(state: &State, task: &Task) -> TaskRow {
    let run = task.stage.run().and_then(|run| state.runs.get(run));
    TaskRow {
        id: task.spec.id.clone(),
        phase: task.phase,
        title: task.spec.title.clone(),
        status: task.stage.status(),
        stage: stage_words(state, task),
        depends: task.spec.depends.clone(),
        attempts: task.attempts,
        restarts: task.restarts,
        agent: run.and_then(|r| r.agent.clone()),
    }
}

/// Tasks that were done and whose work is not on trunk any more, and why.
pub fn gone(state: &State) -> Vec<(TaskId, String)> {
    let gone = |task: &Task| match &task.stage {
        Stage::Gone { why, .. } => Some((task.spec.id.clone(), why.clone())),
        _ => None,
    };
    state.tasks_in_order().filter_map(gone).collect()
}

/// Where the task stands, in words that say what it waits for.
pub(super) fn stage_words(state: &State, task: &Task) -> String {
    match &task.stage {
        Stage::Pending { not_before, .. } => pending_words(state, task, *not_before),
        Stage::Preparing { .. } => "preparing its worktree".into(),
        Stage::Active { iteration, .. } => format!("working, iteration {iteration}"),
        Stage::Restarting { agent, .. } if !state.paused.is_empty() => {
            format!("crashed; {agent} restarts after the pause")
        }
        Stage::Restarting { agent, not_before, .. } => {
            format!("crashed; {agent} restarts at {}", not_before.clock(state.at))
        }
        Stage::Checking { .. } => "checking".into(),
        Stage::Review { run, not_before, .. } => review_words(state, task, run.as_ref(), *not_before),
        Stage::Approved { waits: Some(waits), .. } => {
            format!("merging: waits for your checkout: {}", waits.why)
        }
        Stage::Approved { .. } => {
            let awaited: Vec<&str> = crate::ready::not_on_trunk(state, task).map(TaskId::as_str).collect();
            let held = task.held_by.iter().any(|number| state.reservations.contains_key(number));
            match (awaited.is_empty(), &task.put_off) {
                (true, Some(why)) if held => format!("approved, not merged yet: {why}"),
                (true, _) => "approved, waits for its turn to merge".into(),
                (false, _) => format!("approved, is merged when {} is on trunk", awaited.join(", ")),
            }
        }
        Stage::Merging { step, .. } => match step {
            MergeStep::Building => "merging: building".into(),
            MergeStep::Verifying { .. } => "merging: verifying the merged tree".into(),
            MergeStep::Publishing { .. } => "merging: publishing".into(),
            MergeStep::Suspect { .. } | MergeStep::Trial { .. } => {
                "merging: red, verifying trunk alone".into()
            }
        },
        Stage::Done { proof: Some(proof) } => match &proof.accepted {
            Some(reason) => format!("accepted as it is: {reason}"),
            None if proof.commits.is_empty() && proof.found.is_empty() => {
                format!("nothing to change; {} at {}", proof.trunk, proof.commit.short())
            }
            None => format!("on {} at {}", proof.trunk, proof.commit.short()),
        },
        Stage::Gone { why, .. } => format!("gone from trunk: {why}"),
        Stage::Done { proof: None } => "done elsewhere".into(),
        Stage::Blocked { block, why, .. } => format!("blocked ({}): {why}", block.word()),
        Stage::Failed { why, .. } => format!("failed: {why}"),
        Stage::Timeout { why, .. } => format!("timeout: {why}"),
        Stage::Split { parts, .. } => split_words(state, parts),
        Stage::Deferred => "deferred".into(),
        Stage::Cancelled => "cancelled".into(),
    }
}

fn pending_words(state: &State, task: &Task, not_before: Timestamp) -> String {
    let unmet = state.unmet(task);
    let group = state.quota_group(state.preferred_profile(task));
    if let Some(why) = &task.withheld {
        format!("{why}: waits for swarm task start {}", task.spec.id)
    } else if !unmet.is_empty() {
        let names: Vec<&str> = unmet.iter().map(|id| id.as_str()).collect();
        format!("waits for {}", names.join(", "))
    } else if let Some(whose) = work_not_back(state, task) {
        format!("waits until the work of {whose} can be put back: swarm attention")
    } else if not_before > state.at {
        retry_words(state, task, not_before)
    } else if state.profile_for(task).is_none() {
        quota_words(state, &group)
    } else if state.needs_start(task) {
        format!("ready: waits for swarm task start {}", task.spec.id)
    } else {
        super::reservations::files_of(state, &task.spec.id).unwrap_or_else(|| "ready".into())
    }
}

/// Itself or the whole that it is a part of.
fn work_not_back<'a>(state: &'a State, task: &'a Task) -> Option<&'a TaskId> {
    let mut ids = std::iter::once(&task.spec.id).chain(&task.parent);
    ids.find(|id| state.task(id).is_some_and(|task| task.not_back().is_some()))
}

fn review_words(state: &State, task: &Task, run: Option<&RunId>, not_before: Timestamp) -> String {
    let by = reviewer(state, task);
    let Some(run) = run else {
        return match by {
            _ if not_before > state.at => format!("its review is retried at {}", not_before.clock(state.at)),
            Reviewer::Human => format!("waits for your review: swarm review show {}", task.spec.id),
            _ => "waits for its review".into(),
        };
    };
    let round = task.review_rounds + 1;
    if by == Reviewer::Council {
        let (heard, all) = (task.seats().count(), state.policy.council.members.len());
        return format!("in review by the council, round {round}: {heard} of {all} heard");
    }
    match state.runs.get(run).and_then(|run| run.profile.as_ref()) {
        Some(profile) => format!("in review by {profile}, round {round}"),
        None => format!("in review, round {round}"),
    }
}

/// Why work that was approved waits for another verdict.
pub(super) fn void_words(task: &Task, void: &Oid) -> String {
    let how = if task.void_by_rule { "rules resolved its conflicts" } else { "its branch was changed" };
    format!("{how} after {} had been approved", void.short())
}

fn split_words(state: &State, parts: &[TaskId]) -> String {
    if let Some(part) = crate::react::stuck_part(state, parts) {
        let how = state.task(part).map_or("gone", |t| t.stage.status().word());
        return format!("blocked (children): its part {part} is {how}");
    }
    let done = |id: &&TaskId| state.task(id).is_some_and(|t| matches!(t.stage, Stage::Done { .. }));
    let open: Vec<&str> = parts.iter().filter(|id| !done(id)).map(TaskId::as_str).collect();
    match open.is_empty() {
        true => "split: its parts are done, waits for its turn to be verified".into(),
        false => format!("split: waits for {}", open.join(", ")),
    }
}

fn quota_words(state: &State, group: &str) -> String {
    let closed = state.quotas.get(group).and_then(|gate| gate.closed.as_ref());
    match closed {
        Some(closed) if closed.held => {
            format!("waits for {}, which a person holds", closed.cause.what(group))
        }
        Some(closed) => {
            let what = closed.cause.what(group);
            match closed.resets_at {
                Some(at) => format!("waits for {what} until {}", at.clock(state.at)),
                None => format!("waits for {what}; next probe at {}", closed.next_probe.clock(state.at)),
            }
        }
        // Another group holds everything up.
        None => "waits for quota".into(),
    }
}

fn retry_words(state: &State, task: &Task, at: Timestamp) -> String {
    let at = at.clock(state.at);
    match &task.failure {
        Some(failure) => format!("{}; retry at {at}", failure.class.describe()),
        None => format!("retry at {at}"),
    }
}

/// Everything about one task.
pub fn task(state: &State, id: &TaskId) -> Option<TaskView> {
    let task = state.task(id)?;
    let stuck = match &task.stage {
        Stage::Split { parts, .. } => crate::react::stuck_part(state, parts),
        _ => None,
    };
    let (block, why) = match &task.stage {
        Stage::Split { .. } if stuck.is_some() => (Some(BlockKind::Children), Some(stage_words(state, task))),
        Stage::Blocked { block, why, .. } => (Some(*block), Some(why.clone())),
        Stage::Failed { why, .. } | Stage::Timeout { why, .. } | Stage::Gone { why, .. } => {
            (None, Some(why.clone()))
        }
        Stage::Approved { waits: Some(waits), .. } => (None, Some(format!("{}; {}", waits.why, waits.hint))),
        _ => (None, task.last_failure.clone()),
    };
    let proof = match &task.stage {
        Stage::Done { proof } => proof.clone(),
        Stage::Gone { proof, .. } => Some(proof.clone()),
        _ => None,
    };
    let not_before = match &task.stage {
        Stage::Pending { not_before, .. } if *not_before > state.at => Some(*not_before),
        Stage::Restarting { not_before, .. } => Some(*not_before),
        _ => None,
    };
    let wanted = crate::reservations::wanted(state, task);
    Some(TaskView {
        row: row(state, task),
        description: task.spec.description.clone(),
        acceptance: task.spec.acceptance.clone(),
        files: task.spec.files.clone(),
        tags: task.spec.tags.clone(),
        size: task.spec.size,
        priority: task.spec.priority.unwrap_or(PRIORITY_DEFAULT),
        unblocks: state.dependents(id),
        block,
        why,
        not_before,
        retries: task.retries,
        transient_retries: task.transient_retries,
        review_rounds: task.review_rounds,
        reviewer: reviewer(state, task),
        started: task.started,
        usage: task.usage,
        failure: task.failure.clone(),
        profile: state.preferred_profile(task).into(),
        crashes: task.crashes,
        nudge: task.nudge.as_ref().map(|nudge| nudge.why.clone()),
        messages: super::recovery::messages(task),
        parts: task.parts.clone(),
        parent: task.parent.clone(),
        budget: super::recovery::budget(task.spent.since(task.spent_before), state.policy.task_budget),
        merge_rounds: task.merge_rounds,
        branch: id.branch(),
        conflicts_with: vec![],
        reserve: wanted.files.to_vec(),
        share: wanted.shared.to_vec(),
        resolved: task.resolved.clone(),
        waived: task.waived.iter().copied().collect(),
        proof,
        commands: crate::react::commands(state, id, task),
        audit: task.audit.iter().map(audited).collect(),
    })
}

/// The words of the state stay as every version wrote them, so that a ledger replays to the same state; their grammar is
/// mended here.
fn audited(line: &Audit) -> AuditView {
    let details = match line.details.strip_prefix("1 commits") {
        Some(rest) if line.event == "merge_built" => format!("1 commit{rest}"),
        _ => line.details.clone(),
    };
    AuditView { at: line.at, event: line.event.clone(), details }
}

/// Tasks that are done without a proof on trunk: a person accepted them as they are, or they came with the plan.
pub fn done_unproven(state: &State) -> Vec<String> {
    let unproven = state.tasks_in_order().filter(|task| match &task.stage {
        Stage::Done { proof } => proof.as_ref().is_none_or(|proof| proof.accepted.is_some()),
        _ => false,
    });
    unproven.map(|task| task.spec.id.to_string()).collect()
}

/// Tasks whose proof speaks of another branch than the present trunk: `1.1 on main`.
pub fn done_elsewhere(state: &State) -> Vec<String> {
    let elsewhere = state.tasks_in_order().filter_map(|task| match &task.stage {
        Stage::Done { proof: Some(proof) }
            if proof.accepted.is_none() && state.trunk.as_ref() != Some(&proof.trunk) =>
        {
            Some(format!("{} on {}", task.spec.id, proof.trunk))
        }
        _ => None,
    });
    elsewhere.collect()
}
