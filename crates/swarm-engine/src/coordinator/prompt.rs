//! What an agent is told at the start of an iteration, gathered from the state.

use std::path::Path;

use swarm_core::show;
use swarm_core::state::{State, Task};
use swarm_protocol::attempt::{self, TaskContext};
use swarm_protocol::failure::{Failure, FailureClass};
use swarm_protocol::ids::{AgentId, TaskId};
use swarm_protocol::outcome::Ended;

use swarm_agents::handover::ContextFiles;
use swarm_agents::prompts::{Learnings, Neighbour, Recovery, Said, TaskWords, WorkPrompt};

/// Entries of the task's history that a prompt carries.
const AUDIT_SHOWN: usize = 20;
/// Files of others that a prompt names.
const RESERVED_SHOWN: usize = 50;

pub struct Setting<'a> {
    pub task: &'a TaskId,
    pub agent: &'a AgentId,
    pub attempt: u32,
    /// How often a program was sent to the task, with this one.
    pub start: u32,
    pub iteration: u32,
    pub worktree: &'a Path,
    /// It is that of all tasks which share one.
    pub shared: bool,
    /// Its program is told of the tools of its run.
    pub tools: bool,
    pub checks: Vec<String>,
    pub learnings: Learnings,
    /// It is told what happened before, record by record.
    pub audit: bool,
    /// What earlier attempts at the task left.
    pub context: ContextFiles,
}

/// The task, where it stands in the plan, where the work is to be done, and what went wrong before.
/// None for a task that is no more.
pub fn compose(state: &State, setting: Setting<'_>) -> Option<WorkPrompt> {
    let task = state.task(setting.task)?;
    let neighbour = |id: &TaskId| neighbour(state, id);
    let again = setting.start > 1 || setting.iteration > 1;
    let before = task.last_end.as_ref().filter(|_| setting.start > 1);
    let compact = before.is_some_and(|how| class_of(how) == Some(FailureClass::Overflow));
    Some(WorkPrompt {
        task: task_words(task),
        goal: state.plan.as_ref().map_or_else(String::new, |plan| plan.goal.clone()),
        builds_on: task.spec.depends.iter().map(neighbour).collect(),
        unblocks: state.dependents(setting.task).iter().map(neighbour).collect(),
        worktree: setting.worktree.display().to_string(),
        branch: setting.task.branch(),
        agent: setting.agent.to_string(),
        attempt: setting.attempt,
        iteration: setting.iteration,
        max_iterations: state.policy.max_iterations,
        checks: setting.checks,
        learnings: setting.learnings,
        last_failure: went_wrong(task).filter(|_| again && task.conflicts_in.is_empty()),
        reviewed: again.then(|| reviewed(task)).flatten(),
        conflicts_in: task.conflicts_in.clone(),
        trunk: state.trunk.clone().unwrap_or_default(),
        audit: if again && setting.audit { audit(task) } else { vec![] },
        // Told once: later iterations of the attempt know more than this does.
        recovery: before.filter(|_| setting.iteration == 1).map(|how| {
            let mut left = setting.context.read();
            if let Some(left) = left.as_mut().filter(|_| !setting.audit) {
                left.audit_log.clear();
            }
            Recovery::of(how, (setting.start - 1).min(setting.attempt), task.wip.is_some(), left.as_ref())
        }),
        compact,
        repeated: before.and_then(repeated),
        handover: setting.context.read_markdown().filter(|_| compact),
        nudge: task.nudge.as_ref().map(|nudge| format!("{}: {}", nudge.class.describe(), nudge.why)),
        messages: messages(task),
        reserved: show::reserved_for(state, setting.task),
        reserved_by_others: show::reserved_by_others(state, setting.task, RESERVED_SHOWN),
        shared: setting.shared,
        tools: setting.tools,
    })
}

/// How the last try ended; and what a review wanted changed before that, which is still to be done.
pub(super) fn went_wrong(task: &Task) -> Option<String> {
    match (&task.last_failure, &task.changes_wanted) {
        (Some(last), Some(wanted)) if last != wanted => {
            Some(format!("{last}\n\nBefore that, the work was sent back with this:\n{wanted}"))
        }
        (last, _) => last.clone(),
    }
}

/// What the last round of review saw, as git shows it to whoever puts it right.
fn reviewed(task: &Task) -> Option<String> {
    let tip = task.sent_back.as_ref().filter(|_| task.review_rounds > 0 && task.conflicts_in.is_empty())?;
    Some(format!("{} {}", task.base.as_ref()?.short(), tip.short()))
}

/// The same for an agent that asks for it by a tool.
pub fn context_of(words: &WorkPrompt) -> TaskContext {
    let neighbours = |all: &[Neighbour]| {
        let told =
            |other: &Neighbour| attempt::Neighbour { id: other.id.clone(), title: other.title.clone() };
        all.iter().map(told).collect()
    };
    let said =
        |said: &Said| attempt::Said { by: said.by.clone(), at: said.at.clone(), text: said.text.clone() };
    let (own, by_others) = (words.reserved.clone(), words.reserved_by_others.clone());
    let context = TaskContext {
        task: words.task.id.clone(),
        title: words.task.title.clone(),
        goal: words.goal.clone(),
        description: words.task.description.clone(),
        acceptance: words.task.acceptance.clone(),
        files: words.task.files.clone(),
        builds_on: neighbours(&words.builds_on),
        unblocks: neighbours(&words.unblocks),
        checks: words.checks.clone(),
        reserved: attempt::Reservations { own, by_others },
        messages: words.messages.iter().map(said).collect(),
        learnings: words.learnings.all.iter().chain(&words.learnings.own).cloned().collect(),
        branch: words.branch.clone(),
        attempt: words.attempt,
        iteration: words.iteration,
        max_iterations: words.max_iterations,
        last_failure: words.last_failure.clone(),
        cut: false,
    };
    context.bounded()
}

pub(super) fn neighbour(state: &State, id: &TaskId) -> Neighbour {
    let title = state.task(id).map_or_else(String::new, |other| other.spec.title.clone());
    Neighbour { id: id.to_string(), title }
}

/// What people have said and no iteration has been given to its end.
fn messages(task: &Task) -> Vec<Said> {
    let waiting = task.messages.iter().filter(|message| message.waits());
    waiting
        .map(|message| Said {
            by: message.by.clone(),
            at: message.at.to_string(),
            text: message.text.clone(),
        })
        .collect()
}

fn class_of(how: &Ended) -> Option<FailureClass> {
    match how {
        Ended::Failed { failure } => Some(failure.class),
        _ => None,
    }
}

/// What the next attempt must not do again, after one that got nowhere for too long.
fn repeated(how: &Ended) -> Option<String> {
    match how {
        Ended::Failed {
            failure:
                Failure {
                    class: FailureClass::Looping | FailureClass::OwnLimit | FailureClass::Limits, text, ..
                },
        } => Some(text.clone()),
        Ended::Timeout { text } => Some(text.clone()),
        _ => None,
    }
}

pub(super) fn task_words(task: &Task) -> TaskWords {
    TaskWords {
        id: task.spec.id.to_string(),
        title: task.spec.title.clone(),
        description: task.spec.description.clone(),
        acceptance: task.spec.acceptance.clone(),
        files: task.spec.files.clone(),
        tags: task.spec.tags.clone(),
        phase: task.phase,
    }
}

fn audit(task: &Task) -> Vec<String> {
    let skipped = task.audit.len().saturating_sub(AUDIT_SHOWN);
    task.audit
        .iter()
        .skip(skipped)
        .map(|entry| format!("{} {}: {}", entry.at, entry.event, entry.details))
        .collect()
}
