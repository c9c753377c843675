//! The ways on for each entry of the attention list, as commands that would be accepted now.

use swarm_protocol::board::{AttentionChoice, AttentionEntry, AttentionKind};
use swarm_protocol::command::Command;
use swarm_protocol::ids::TaskId;
use swarm_protocol::operation::SavedStage;
use swarm_protocol::outcome::PauseReason;
use swarm_protocol::review::{ReviewNote, Reviewer, Verdict};
use swarm_protocol::time::Timestamp;
use swarm_protocol::view::AttentionView;

use super::allowed::refusal;
use super::attention::{About, entries};
use crate::reviewer::reviewer;
use crate::stage::Stage;
use crate::state::{State, Task};

/// Stands where the person's own words go, so that the core can be asked before they are there.
const WORDS: &str = "…";

pub fn attention_with_ways(state: &State, now: Timestamp) -> Vec<AttentionEntry> {
    let entry = |(about, view): (About, AttentionView)| {
        let mut choices = ways(state, &about);
        choices.retain(|choice| refusal(state, choice.command.clone(), now).is_none());
        AttentionEntry {
            id: name(&about),
            kind: kind(state, &about),
            task: task_of(&about).cloned(),
            choices,
            entry: view,
        }
    };
    let mut list: Vec<AttentionEntry> = entries(state).into_iter().map(entry).collect();
    // A screen shows one line of it: the one that has waited longest.
    list.sort_by_key(|entry| entry.entry.since);
    list
}

fn name(about: &About) -> String {
    match about {
        About::Loss => "loss".into(),
        About::Proof => "proof".into(),
        About::StuckOperation => "operation".into(),
        About::Proposal(number) => format!("proposal/{number}"),
        About::Past(name, _) => format!("seen/{name}"),
        About::Pause(reason) => format!("pause/{}", reason.word()),
        About::Quota(group) => format!("quota/{group}"),
        About::Agent(agent) => format!("agent/{agent}"),
        About::Processes(run, _) => format!("processes/{run}"),
        About::Start(_) => "start".into(),
        About::Task(task) => format!("task/{task}"),
        About::Left(task) => format!("left/{task}"),
    }
}

fn task_of(about: &About) -> Option<&TaskId> {
    match about {
        About::Task(task) | About::Left(task) | About::Processes(_, task) | About::Past(_, Some(task)) => {
            Some(task)
        }
        About::Start(tasks) => tasks.first(),
        _ => None,
    }
}

fn kind(state: &State, about: &About) -> AttentionKind {
    match about {
        About::Past(..) => AttentionKind::Seen,
        About::Pause(_) => AttentionKind::Pause,
        About::Quota(_) => AttentionKind::Quota,
        About::Agent(_) => AttentionKind::Agent,
        About::Start(_) => AttentionKind::Start,
        About::Task(id) => state.task(id).map_or(AttentionKind::Other, of_stage),
        About::Proposal(_) => AttentionKind::Proposal,
        About::Loss | About::Proof | About::StuckOperation | About::Processes(..) | About::Left(_) => {
            AttentionKind::Other
        }
    }
}

fn of_stage(task: &Task) -> AttentionKind {
    match &task.stage {
        Stage::Blocked { .. } if crate::react::asks(task) => AttentionKind::Question,
        Stage::Blocked { .. } => AttentionKind::Blocked,
        Stage::Failed { .. } | Stage::Timeout { .. } => AttentionKind::Failed,
        Stage::Gone { .. } => AttentionKind::Gone,
        Stage::Review { .. } => AttentionKind::Review,
        Stage::Approved { .. } => AttentionKind::Checkout,
        Stage::Pending { .. } => AttentionKind::Start,
        _ => AttentionKind::Other,
    }
}

fn way(label: &str, command: Command) -> AttentionChoice {
    AttentionChoice { label: label.into(), command, asks_for: None }
}

fn asking(label: &str, what: &str, command: Command) -> AttentionChoice {
    AttentionChoice { asks_for: Some(what.into()), ..way(label, command) }
}

fn ways(state: &State, about: &About) -> Vec<AttentionChoice> {
    match about {
        About::Past(name, _) => {
            vec![way("mark it as seen", Command::AcknowledgeAttention { entry: name.clone() })]
        }
        About::Proposal(number) => vec![
            way("let it happen", Command::AcceptProposal { number: *number }),
            way("decline it", Command::DeclineProposal { number: *number, reason: None }),
        ],
        About::Pause(PauseReason::Budget) => {
            vec![way("allow the same amount again", Command::ExtendBudget { task: None })]
        }
        About::Pause(PauseReason::Abort) => vec![way("try again", Command::Retry)],
        About::Pause(reason) => vec![way("go on", Command::Resume { reason: *reason })],
        About::Quota(group) => vec![
            way("treat it as restored", Command::OpenQuota { group: group.clone() }),
            way("hold it closed", Command::HoldQuota { group: group.clone() }),
        ],
        About::Agent(agent) => vec![way("let it work again", Command::ReviveAgent { agent: agent.clone() })],
        About::Start(tasks) => {
            let mut list: Vec<AttentionChoice> = Vec::new();
            if tasks.len() > 1 {
                list.push(way("start all ready tasks", Command::StartTasks { tasks: vec![] }));
            }
            let first = tasks.first().into_iter().cloned();
            list.extend(first.map(|id| way(&format!("start {id}"), Command::StartTasks { tasks: vec![id] })));
            list
        }
        About::Task(id) => state.task(id).map_or_else(Vec::new, |task| of_task(state, id, task)),
        About::Loss | About::Proof | About::StuckOperation | About::Processes(..) | About::Left(_) => vec![],
    }
}

fn of_task(state: &State, id: &TaskId, task: &Task) -> Vec<AttentionChoice> {
    let again = || way(again_words(state, task), Command::UnblockTask { task: id.clone() });
    let later = || way("defer it", Command::DeferTask { task: id.clone() });
    let never = || way("cancel it", Command::CancelTask { task: id.clone() });
    match &task.stage {
        Stage::Blocked { .. } if crate::react::asks(task) => {
            let answer = Command::MessageAgent { task: id.clone(), text: WORDS.into() };
            vec![asking("answer, and continue", "Your answer", answer), again(), later(), never()]
        }
        Stage::Blocked { .. } | Stage::Failed { .. } | Stage::Timeout { .. } => {
            let more = way("allow the same amount again", Command::ExtendBudget { task: Some(id.clone()) });
            verdicts(id, task).into_iter().chain([again(), more, later(), never()]).collect()
        }
        Stage::Gone { .. } => {
            let accept = Command::AcceptTask { task: id.clone(), reason: WORDS.into() };
            vec![again(), asking("accept it as done", "Why it is done", accept), never()]
        }
        Stage::Review { .. } if reviewer(state, task) == Reviewer::Human => verdicts(id, task),
        Stage::Pending { .. } => {
            vec![way("start it", Command::StartTasks { tasks: vec![id.clone()] }), later(), never()]
        }
        _ => vec![],
    }
}

/// What becomes of it when it is unblocked.
fn again_words(state: &State, task: &Task) -> &'static str {
    match (&task.stage, crate::react::put_off(state, task)) {
        _ if crate::react::hears_first(state, task) => "back to the queue",
        (Stage::Gone { .. }, _) | (_, Some(SavedStage::Approved { .. } | SavedStage::Gone { .. })) => {
            "merge it again"
        }
        (_, Some(_)) => "back to its review",
        (_, None) => "back to the queue",
    }
}

/// Where a verdict is wanted.
fn verdicts(id: &TaskId, task: &Task) -> Vec<AttentionChoice> {
    let Some((tip, _)) = task.submitted() else { return vec![] };
    let notes = vec![ReviewNote { text: WORDS.into(), ..ReviewNote::default() }];
    let verdict = |verdict| Command::Review { task: id.clone(), verdict };
    vec![
        way("approve it", verdict(Verdict::Approve { tip: tip.clone(), left_out: None })),
        asking("ask for changes", "What is to be changed", verdict(Verdict::NeedsChanges { notes })),
    ]
}
