//! Everything that waits for a person, in one list. An entry is there exactly as long as its cause; one that
//! tells of something past, until a person has said that it was seen.

use swarm_protocol::ids::{AgentId, RunId, TaskId};
use swarm_protocol::outcome::PauseReason;
use swarm_protocol::plan::BlockKind;
use swarm_protocol::review::Reviewer;
use swarm_protocol::time::Timestamp;
use swarm_protocol::view::AttentionView;

use super::of_work::{not_back, not_delivered, overstep};
use super::task::void_words;
use crate::operation::Record;
use crate::planted::{self, Bug};
use crate::reviewer::reviewer;
use crate::stage::Stage;
use crate::state::unseen::failure_seen_by;
use crate::state::{State, Task};

/// What an entry is about, for those who act on it rather than read it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum About {
    Loss,
    Proof,
    StuckOperation,
    /// What a program wants.
    Proposal(u64),
    /// Something past, by the name that acknowledges it.
    Past(String, Option<TaskId>),
    Pause(PauseReason),
    Quota(String),
    Agent(AgentId),
    Processes(RunId, TaskId),
    /// Ready tasks that wait for a word.
    Start(Vec<TaskId>),
    Task(TaskId),
    /// What lay in its worktree, and cannot be put back.
    Left(TaskId),
}

pub fn attention(state: &State) -> Vec<AttentionView> {
    entries(state).into_iter().map(|(_, view)| view).collect()
}

/// The same, each with what it is about.
pub(super) fn entries(state: &State) -> Vec<(About, AttentionView)> {
    let mut list: Vec<(About, AttentionView)> = Vec::new();
    if let Some(loss) = &state.loss {
        let told = entry("The ledger lost records", state.at, loss, &["swarm plan salvage".into()]);
        list.push((About::Loss, told));
    }
    list.extend(state.proof_failed.as_ref().map(|failed| {
        let what = "Cannot check finished work against trunk; retrying";
        (About::Proof, entry(what, failed.since, &failed.why, &["swarm doctor".into()]))
    }));
    let proposals = state.proposals.waiting.values();
    list.extend(
        proposals.map(|told| (About::Proposal(told.number), super::proposals::entry(told, state.at))),
    );
    list.extend(stuck_operation(state).map(|told| (About::StuckOperation, told)));
    list.extend(state.ops.log.iter().filter_map(failed_operation).map(|told| past(told, None)));
    list.extend(pauses(state).map(|(reason, told)| (About::Pause(reason), told)));
    list.extend(quotas(state).map(|(group, told)| (About::Quota(group), told)));
    list.extend(degraded(state).map(|(agent, told)| (About::Agent(agent), told)));
    list.extend(stuck(state).map(|(run, task, told)| (About::Processes(run, task), told)));
    list.extend(waits_to_be_started(state).map(|(tasks, told)| (About::Start(tasks), told)));
    let of_tasks = |tell: &dyn Fn(&Task) -> Option<(About, AttentionView)>| {
        state.tasks_in_order().filter_map(tell).collect::<Vec<_>>()
    };
    let said = |task: &Task| of_task(state, task).filter(|_| !planted::is(Bug::WaitingUnsaid));
    list.extend(of_tasks(&|task| Some((About::Task(task.spec.id.clone()), said(task)?))));
    list.extend(of_tasks(&|task| Some((About::Left(task.spec.id.clone()), not_back(task)?))));
    list.extend(of_tasks(&|task| Some(past(overstep(task)?, Some(task.spec.id.clone())))));
    list.extend(of_tasks(&|task| Some(past(not_delivered(task)?, Some(task.spec.id.clone())))));
    list
}

fn past(told: AttentionView, task: Option<TaskId>) -> (About, AttentionView) {
    (About::Past(told.seen_by.clone().unwrap_or_default(), task), told)
}

pub(super) fn entry(
    what: impl Into<String>,
    since: Timestamp,
    why: &str,
    commands: &[String],
) -> AttentionView {
    AttentionView { what: what.into(), since, why: why.into(), commands: commands.to_vec(), seen_by: None }
}

/// An operation behind its intent that does not get on: it is tried again until it does.
fn stuck_operation(state: &State) -> Option<AttentionView> {
    let running = state.ops.running.as_ref()?;
    let what = format!("Operation is stuck: {}", running.kind);
    let commands = [format!("swarm op show {}", running.before + 1), "swarm doctor".into()];
    Some(entry(what, running.asked_at, running.stuck.as_ref()?, &commands))
}

/// One that met later work. What is refused for other reasons is told to whoever asked.
fn failed_operation(record: &Record) -> Option<AttentionView> {
    let (why, hint) = record.failed.as_ref().filter(|_| !record.seen && !record.paths.is_empty())?;
    let name = failure_seen_by(record);
    let mut commands = vec![format!("swarm op show {}", record.seq)];
    commands.extend(crate::operation::three_sides(record));
    commands.extend(Some(hint.clone()).filter(|hint| hint != "swarm attention"));
    commands.push(format!("swarm attention --seen {name}"));
    let told = entry(format!("Operation failed: {}", record.kind), record.at, why, &commands);
    Some(AttentionView { seen_by: Some(name), ..told })
}

/// Pauses that nobody asked for. The person who paused by hand knows.
fn pauses(state: &State) -> impl Iterator<Item = (PauseReason, AttentionView)> {
    state.paused.iter().filter_map(|(reason, pause)| {
        let what = match reason {
            PauseReason::User => return None,
            PauseReason::Disk => "Paused: the disk is full or read-only",
            PauseReason::Trunk => "Paused until trunk moves",
            PauseReason::Setup => "Paused: worktree setup",
            PauseReason::Budget => "Paused: the budget is spent",
            PauseReason::Errors => "Paused: several agents were taken out of service",
            PauseReason::Abort => "Paused: the session was aborted",
            PauseReason::Close => "Paused: the plan is being closed",
            PauseReason::Checks => "Paused: failing checks",
        };
        let command = match reason {
            // It goes on by itself when there is room.
            PauseReason::Disk => "swarm doctor".into(),
            other => other.ended_by(),
        };
        let again = (*reason == PauseReason::Close).then(|| "swarm close --stop".to_string());
        let commands: Vec<String> = again.into_iter().chain([command]).collect();
        // "Aborted" is what the line says already.
        let why =
            if *reason == PauseReason::Abort { "nothing starts until you continue" } else { &pause.why };
        Some((*reason, entry(what, pause.since, why, &commands)))
    })
}

/// Goes on by itself when the allowance is back, unless a person holds it.
fn quotas(state: &State) -> impl Iterator<Item = (String, AttentionView)> {
    state.quotas.iter().filter_map(|(group, gate)| {
        let closed = gate.closed.as_ref()?;
        if !super::recovery::is_worth_a_word(state, group, closed) {
            return None;
        }
        let gate = closed.cause.what(group).replacen('t', "T", 1);
        let open = format!("swarm quota open {group}");
        if closed.held {
            let what = format!("{gate} is held closed");
            return Some((group.clone(), entry(what, closed.since, &closed.why, &[open])));
        }
        let until = match (closed.resets_at, &closed.probing) {
            (_, Some(_)) => "probing now".into(),
            (Some(at), None) => format!("resets at {}", at.clock(state.at)),
            (None, None) => format!("next probe at {}", closed.next_probe.clock(state.at)),
        };
        let what = format!("{gate} {}: {until}", closed.cause.is_how());
        let commands = [open, format!("swarm quota hold {group}")];
        Some((group.clone(), entry(what, closed.since, &closed.why, &commands)))
    })
}

fn degraded(state: &State) -> impl Iterator<Item = (AgentId, AttentionView)> {
    state.agents.iter().filter_map(|(id, agent)| {
        let degraded = agent.degraded.as_ref()?;
        let what = format!("Agent {id} is out of service");
        let told = entry(what, degraded.since, &degraded.why, &[format!("swarm agent revive {id}")]);
        Some((id.clone(), told))
    })
}

/// Its worktree is not given to another attempt before it is gone, so the task waits.
fn stuck(state: &State) -> impl Iterator<Item = (RunId, TaskId, AttentionView)> {
    state.runs.iter().filter_map(|(id, run)| {
        let stuck = run.stuck.as_ref()?;
        let what = format!("What is left of {id} of task {} could not be ended; retrying", run.task);
        let commands = [format!("swarm task show {}", run.task), "swarm doctor".into()];
        Some((id.clone(), run.task.clone(), entry(what, stuck.since, &stuck.why, &commands)))
    })
}

/// It waits for its first word; one that was stopped has an entry of its own.
fn is_new(state: &State, task: &Task) -> bool {
    task.withheld.is_none() && state.needs_start(task)
}

/// Its agent was stopped, and it would wait forever without anybody knowing why.
fn withheld(task: &Task, since: Timestamp) -> Option<AttentionView> {
    let (id, why) = (&task.spec.id, task.withheld.as_ref()?);
    let commands = [format!("swarm task start {id}"), format!("swarm task show {id}")];
    Some(entry(format!("Task {id} waits to be started again"), since, why, &commands))
}

/// One entry for all: they wait by choice.
fn waits_to_be_started(state: &State) -> Option<(Vec<TaskId>, AttentionView)> {
    let waiting: Vec<&Task> =
        state.index.queue().filter_map(|id| state.task(id)).filter(|task| is_new(state, task)).collect();
    let first = waiting.first()?;
    let since = match first.stage {
        Stage::Pending { since, .. } => since,
        _ => state.at,
    };
    let (what, mut commands) = match waiting.len() {
        1 => (format!("Task {} waits to be started", first.spec.id), vec![]),
        n => (format!("{n} ready tasks wait to be started"), vec!["swarm task start --all".to_string()]),
    };
    commands.insert(0, format!("swarm task start {}", first.spec.id));
    let ids = waiting.iter().map(|task| task.spec.id.clone()).collect();
    Some((ids, entry(what, since, "the mode is semi-auto", &commands)))
}

fn of_task(state: &State, task: &Task) -> Option<AttentionView> {
    let id = &task.spec.id;
    let show = || format!("swarm task show {id}");
    let unblock = || vec![show(), format!("swarm task unblock {id}")];
    match &task.stage {
        Stage::Blocked { block, why, since } => Some(blocked(state, task, *block, why, *since)),
        Stage::Gone { why, since, .. } => {
            let mut commands = vec![show()];
            commands.extend(crate::react::commands(state, id, task));
            commands.insert(1, "swarm run --retry".into());
            Some(entry(format!("The work of task {id} is gone from trunk"), *since, why, &commands))
        }
        Stage::Failed { why, since } => Some(entry(format!("Task {id} failed"), *since, why, &unblock())),
        Stage::Timeout { why, since } => {
            Some(entry(format!("Task {id} ran out of time"), *since, why, &unblock()))
        }
        Stage::Review { tip, since, .. } if reviewer(state, task) == Reviewer::Human => {
            let void =
                task.void.as_ref().map(|void| format!("; {}", void_words(task, void))).unwrap_or_default();
            let again =
                if task.conflicts > 0 { "; approved before, not merged: conflicts with trunk" } else { "" };
            let changes = match task.protected.as_slice() {
                [] => void,
                paths => format!("{void}; it changes protected files: {}", paths.join(", ")),
            };
            let (tip, round) = (tip.short(), task.review_rounds + 1);
            let why = format!("submitted at {tip}, round {round}{again}{changes}");
            let commands = crate::react::review_commands(id);
            Some(entry(format!("Task {id} waits for your review"), *since, &why, &commands))
        }
        Stage::Approved { waits: Some(waits), since, .. } => {
            let what = format!("Task {id} waits for your checkout");
            Some(entry(what, *since, &waits.why, std::slice::from_ref(&waits.hint)))
        }
        Stage::Approved { since, .. } | Stage::Merging { since, .. } => {
            let why = task.put_off.as_ref()?;
            let held = task.held_by.iter().filter(|number| state.reservations.contains_key(number));
            let release: Vec<String> = held.map(|n| format!("swarm reservations release {n}")).collect();
            if !release.is_empty() {
                let what = format!("The merge of task {id} waits for reserved files");
                return Some(entry(what, *since, why, &[vec![show()], release].concat()));
            }
            Some(entry(
                format!("The merge of task {id} was postponed and is retried"),
                *since,
                why,
                &[show()],
            ))
        }
        Stage::Pending { since, .. } => {
            waits_for_nobody(state, task, *since).or_else(|| withheld(task, *since))
        }
        Stage::Split { parts, since, .. } => {
            let part = crate::react::stuck_part(state, parts)?;
            let mut commands = crate::react::commands(state, id, task);
            commands.insert(0, format!("swarm task show {part}"));
            let why = super::task::stage_words(state, task);
            Some(entry(format!("Task {id} waits for its parts"), *since, &why, &commands))
        }
        Stage::Done { .. } | Stage::Cancelled => {
            let why = task.kept.as_ref()?;
            let commands = [show(), format!("swarm worktree cleanup {id} --force")];
            Some(entry(format!("The worktree of task {id} was kept"), state.at, why, &commands))
        }
        _ => None,
    }
}

fn blocked(state: &State, task: &Task, block: BlockKind, why: &str, since: Timestamp) -> AttentionView {
    let id = &task.spec.id;
    let mut commands = vec![format!("swarm task show {id}"), format!("swarm task unblock {id}")];
    let mut why = why.to_string();
    match block {
        BlockKind::Conflict => {
            let trunk = state.trunk.as_deref().unwrap_or("trunk");
            why += &format!(
                "; merge {trunk} into {} in its worktree and then merge it by hand, or unblock it for an agent to do so",
                id.branch()
            );
            // Where its resolution left nothing of the work there is nothing to look at.
            let look = (task.empties == 0).then(|| format!("swarm task diff {id} --conflict"));
            let ways = look.into_iter().chain([format!("swarm worktree merge {id}")]);
            drop(commands.splice(0..0, ways));
            if reviewer(state, task) != Reviewer::None {
                why.insert_str(0, "approved, not merged: ");
            }
        }
        BlockKind::Setup => {
            commands.splice(0..0, task.failure.iter().filter_map(|f| f.hint.clone())).for_each(drop)
        }
        BlockKind::Retries if task.failed_scan => {
            commands.insert(1, format!("swarm task waive {id} scan --reason WHY"));
        }
        BlockKind::Human if crate::react::asks(task) => commands.insert(1, crate::react::answer_to(id)),
        // Each of these has a way out of its own, or is not unblocked before something else is done.
        BlockKind::Budget
        | BlockKind::Overflow
        | BlockKind::Sandbox
        | BlockKind::Empty
        | BlockKind::Review => {
            commands.truncate(1);
            let more = crate::react::commands(state, id, task);
            commands.extend(more.into_iter().filter(|command| *command != format!("swarm task show {id}")));
        }
        _ => {}
    }
    entry(format!("Task {id} is blocked ({})", block.word()), since, &why, &commands)
}

/// It depends on a task that will never be done.
fn waits_for_nobody(state: &State, task: &Task, since: Timestamp) -> Option<AttentionView> {
    let id = &task.spec.id;
    let gone = state
        .unmet(task)
        .into_iter()
        .find(|d| state.task(d).is_none_or(|t| matches!(t.stage, Stage::Cancelled)))?;
    let keep: Vec<&str> = task.spec.depends.iter().filter(|d| *d != gone).map(|d| d.as_str()).collect();
    let command = format!("swarm task edit {id} --depends '{}'", keep.join(","));
    let what = format!("Task {id} waits for {gone}, which is cancelled");
    Some(entry(what, since, "it would wait forever", &[command]))
}
