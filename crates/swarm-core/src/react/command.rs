//! Wishes of people and tools: each accepted one is recorded with its answer as an operation.

use swarm_protocol::command::{Command, Envelope};
use swarm_protocol::event::Event;
use swarm_protocol::ids::TaskId;
use swarm_protocol::outcome::{Next, PauseReason};
use swarm_protocol::plan::Status;
use swarm_protocol::planning::Planning;
use swarm_protocol::refusal::Refusal;
use swarm_protocol::time::Timestamp;

use super::{
    budget, edit, intervene, message, operate, plan, profile, proof, propose, quota, reserve, restart, retry,
    review, save, seen, split, start, submit, task, worktree,
};
use crate::limits::DUE_MAX;
use crate::operation::undo;
use crate::stage::{MergeStep, Stage};
use crate::state::State;
use crate::state::operations::{BY_PERSON, Record};

/// Events of a command and the sentence its asker is told.
pub(crate) struct Outcome {
    pub events: Vec<Event>,
    pub answer: String,
}

impl Outcome {
    pub fn new(events: Vec<Event>, answer: impl Into<String>) -> Self {
        Self { events, answer: answer.into() }
    }
}

pub(super) fn react(state: &State, envelope: Envelope, now: Timestamp) -> Result<Vec<Event>, Refusal> {
    if state.answer_of(&envelope.id).is_some() {
        // Asked again: the old answer stands in the state.
        return used_otherwise(state, &envelope).map_or(Ok(vec![]), Err);
    }
    let kind = envelope.command.kind().to_string();
    let subject = envelope.command.subject();
    if !open(state) && envelope.command != Command::ReopenPlan {
        return Err(Refusal::PlanClosed);
    }
    if let Some(running) = state.ops.running.as_ref().filter(|_| !operate::never_waits(&envelope.command)) {
        return Err(Refusal::OperationUnderWay { kind: running.kind.clone() });
    }
    if let Command::AcceptProposal { number } = envelope.command {
        let asker = propose::Asker { id: envelope.id, by: envelope.by };
        return propose::accept(state, asker, number, now);
    }
    if let Some(begun) = operate::begins(state, &envelope.command, now)? {
        let asker = operate::Asker { id: envelope.id, by: envelope.by, kind, subject };
        return Ok(operate::asked(state, asker, begun, now));
    }
    let undoes = operate::undoes(state, &envelope.command);
    let planning = planning_of(&envelope.command).map(|planning| planning.bounded(now));
    let Outcome { mut events, answer } = match envelope.command {
        Command::MessageAgent { task, text } => {
            message::queue(state, task, text, envelope.id.clone(), envelope.by.clone())?
        }
        Command::Reserve { files, shared, secs, reason } => {
            let by = envelope.by.clone();
            reserve::reserve(state, reserve::Wish { files, shared, secs, reason, by }, now)?
        }
        Command::Propose { command, says } => {
            let asker = propose::Asker { id: envelope.id.clone(), by: envelope.by.clone() };
            propose::propose(state, asker, *command, says, now)?
        }
        Command::DeclineProposal { number, reason } => {
            propose::decline(state, envelope.by.clone(), number, reason)?
        }
        other => carry_out(state, other, now)?,
    };
    let checkpoint = intervene::risky(state, &kind).then(|| intervene::checkpoint_before(state, &kind));
    if let Some(name) = &checkpoint {
        let (name, trigger) = (name.clone(), kind.clone());
        events.insert(0, Event::CheckpointDue { name, trigger, full: true, seq: None });
    }
    // A closed plan's last record is its closing: a start that finds it there finishes the renames.
    let at = events.len() - usize::from(matches!(events.last(), Some(Event::PlanClosed { .. })));
    let (by, facts) = (Some(envelope.by), None);
    let id = envelope.id;
    let record = Event::Operation { id, kind, subject, answer, by, facts, undoes, checkpoint, planning };
    events.insert(at, record);
    Ok(events)
}

/// What it took to propose what is wished.
fn planning_of(command: &Command) -> Option<Planning> {
    match command {
        Command::SavePlan { planning, .. } | Command::SplitTask { planning, .. } => planning.clone(),
        _ => None,
    }
}

/// Whoever gives the same id to another wish would take the answer to the first for its own.
fn used_otherwise(state: &State, envelope: &Envelope) -> Option<Refusal> {
    let past = state.ops.record(&envelope.id)?;
    // What is accepted is recorded under the name of what was proposed.
    let is_same = past.kind == envelope.command.kind() && is_about(state, &envelope.command, past)
        || matches!(envelope.command, Command::AcceptProposal { .. });
    let why = || format!("it was already used for `{}`; give each command its own", past.describe());
    (!is_same).then(|| Refusal::BadValue { what: format!("The id {}", envelope.id), why: why() })
}

/// Whether what was done before is about what this is about, as far as that is recorded.
fn is_about(state: &State, command: &Command, past: &Record) -> bool {
    let Some(before) = &past.subject else { return true };
    match command {
        // Its number may have been looked up, and is another one by now.
        Command::AddTask { task, .. } => {
            let added = TaskId::new(before.as_str()).ok().and_then(|id| state.task(&id));
            added.is_none_or(|added| added.spec.title == task.title)
        }
        other => other.subject().is_none_or(|now| now == *before),
    }
}

fn open(state: &State) -> bool {
    state.plan.as_ref().is_none_or(|p| !p.closed)
}

fn carry_out(state: &State, command: Command, now: Timestamp) -> Result<Outcome, Refusal> {
    match command {
        Command::SavePlan { plan, kind, source, reset_statuses, .. } => {
            save::save(state, plan, kind, source, reset_statuses)
        }
        Command::ResetPlan => plan::reset(state),
        Command::ApprovePlan => plan::approve(state),
        Command::SetProfile { profile } => profile::set(state, profile),
        Command::LockProfile => profile::lock(state),
        Command::RecordExport { path } => plan::exported(state, path),
        Command::CompletePhase { phase } => plan::complete_phase(state, phase),
        Command::ClosePlan { archive } => plan::close(state, archive),
        Command::ReopenPlan => plan::reopen(state),
        Command::AddTask { phase, after, task } => edit::add(state, phase, after, task),
        Command::EditTask { task, patch } => edit::edit(state, task, patch),
        Command::RemoveTask { task } => edit::remove(state, task),
        Command::MoveTask { task, after, phase } => edit::reorder(state, task, after, phase),
        Command::BlockTask { task, reason } => task::block(state, task, reason),
        Command::UnblockTask { task } => task::unblock(state, task),
        Command::AcceptTask { task, reason } => proof::accept(state, task, reason),
        Command::Retry => retry::retry(state),
        Command::DeferTask { task } => task::defer(state, task),
        Command::CancelTask { task } => task::cancel(state, task),
        Command::Review { task, verdict } => review::judged(state, task, verdict, now),
        Command::WaiveGate { task, gate, reason } => task::waive(state, task, gate, reason),
        Command::StopAgent { task } => task::stop_agent(state, task, now),
        Command::Pause { reason, why, force: true } => intervene::force_pause(state, reason, why, now),
        Command::Pause { reason, why, force: false } => pause(state, reason, why),
        // Nothing goes on with nothing left to spend.
        Command::Resume { reason: PauseReason::Budget }
            if state.paused.contains_key(&PauseReason::Budget) =>
        {
            budget::extend(state, None)
        }
        Command::Resume { reason } => resume(state, reason),
        Command::SetMode { mode } => start::set_mode(state, mode),
        Command::StartTasks { tasks } => start::start(state, tasks),
        Command::SubmitWork { task, base, tip, tree } => submit::submit(state, task, base, tip, tree),
        Command::RecordRemoval { task, left } => worktree::cleaned_up(state, task, left),
        Command::KillAgent { task } => intervene::kill(state, task, now),
        Command::Redirect { task, to, same_worktree } => {
            intervene::redirect(state, task, to, same_worktree, now)
        }
        Command::DeleteCheckpoint { name } => intervene::delete_checkpoint(state, name),
        Command::Undo { operation, partial, .. } => {
            intervene::undo_now(state, undo::chosen(state, operation.as_ref())?, partial)
        }
        Command::Redo { operation, .. } => {
            intervene::undo_now(state, undo::chosen_undo(state, operation.as_ref())?, false)
        }
        // These have steps and were begun above.
        Command::MakeCheckpoint { .. }
        | Command::Rollback { .. }
        | Command::RollbackTask { .. }
        | Command::SetTrunk { .. }
        | Command::Abort { .. } => Err(Refusal::NothingToChange { what: "There is no such entry".into() }),
        // These are asked with the name of their asker, above.
        Command::MessageAgent { .. }
        | Command::Reserve { .. }
        | Command::Propose { .. }
        | Command::AcceptProposal { .. }
        | Command::DeclineProposal { .. } => Err(Refusal::PlanClosed),
        Command::ReleaseReservation { number } => reserve::release(state, number),
        Command::ReviveAgent { agent } => restart::revive(state, agent),
        Command::SplitTask { task, parts, .. } => split::split(state, task, parts),
        Command::OpenQuota { group } => quota::open(state, group),
        Command::HoldQuota { group } => quota::hold(state, group),
        Command::ExtendBudget { task } => budget::extend(state, task),
        Command::Drain { why } => drain(state, why, now),
        Command::CheckpointAndDrain { why } => checkpoint_and_drain(state, why, now),
        Command::AcknowledgeAttention { entry } => seen::seen(state, &entry),
        Command::AcknowledgeLoss { salvaged } => acknowledge_loss(state, salvaged),
    }
}

fn acknowledge_loss(state: &State, salvaged: u64) -> Result<Outcome, Refusal> {
    let nothing = || Refusal::NothingToChange { what: "No records were lost".into() };
    let text = state.loss.as_ref().ok_or_else(nothing)?;
    let answer = format!("Acknowledged: {text}; {salvaged} brought back");
    Ok(Outcome::new(vec![Event::LossAcknowledged { salvaged }], answer))
}

fn resume(state: &State, reason: PauseReason) -> Result<Outcome, Refusal> {
    if !state.paused.contains_key(&reason) {
        let paused = state.paused.keys().copied().collect();
        return Err(Refusal::NotPaused { wanted: reason, paused });
    }
    let others: Vec<PauseReason> = state.paused.keys().copied().filter(|other| *other != reason).collect();
    let answer = match others.is_empty() {
        true => "Resumed".to_string(),
        false => format!("Resumed; still paused: {}", PauseReason::list(others)),
    };
    Ok(Outcome::new(vec![Event::Resumed { reason }], answer))
}

fn pause(state: &State, reason: PauseReason, why: String) -> Result<Outcome, Refusal> {
    if state.paused.contains_key(&reason) {
        return Err(Refusal::NothingToChange {
            what: format!("The swarm is paused ({}) already", reason.word()),
        });
    }
    super::validate::reason(&why)?;
    let held = state.runs.values().filter(|r| !r.ended).count();
    let answer = match held {
        0 => "Paused; nothing new starts".to_string(),
        1 => "Paused; 1 run goes on to its next boundary and is held there".to_string(),
        n => format!("Paused; {n} runs go on to their next boundary and are held there"),
    };
    Ok(Outcome::new(vec![Event::Paused { reason, why }], answer))
}

/// Daemons that exist carry the drain out themselves; what has none yet ends here.
fn drain(state: &State, why: String, now: Timestamp) -> Result<Outcome, Refusal> {
    if state.draining {
        return Err(Refusal::Draining);
    }
    super::validate::reason(&why)?;
    let mut events = vec![Event::DrainStarted { why: why.clone() }];
    for (id, run) in state.runs.iter().filter(|(_, r)| !r.ended) {
        let Some(task) = state.task(&run.task) else { continue };
        match (&task.stage, &run.agent) {
            (Stage::Preparing { .. } | Stage::Active { .. } | Stage::Checking { .. }, Some(agent))
                if !run.spawned =>
            {
                events.push(Event::AgentStopped {
                    task: run.task.clone(),
                    status: Status::Pending,
                    run: id.clone(),
                    agent: agent.clone(),
                    why: why.clone(),
                    next: Next::Pending { not_before: now, counts: false },
                    goes_on: Some(true),
                });
            }
            (Stage::Review { run: Some(current), .. }, _) if current == id => {
                events.push(Event::ReviewInterrupted {
                    task: run.task.clone(),
                    status: Status::Review,
                    why: why.clone(),
                });
            }
            _ => {}
        }
    }
    events.extend(restarts_broken_off(state, &why));
    events.extend(super::base::broken_off(state, &why));
    events.extend(verification_broken_off(state, why));
    Ok(Outcome::new(events, "Stopping: nothing new starts, agents go to their boundary"))
}

/// The same, with a checkpoint that falls due in the same record: it is made before the coordinator ends, by this one or by
/// the next.
fn checkpoint_and_drain(state: &State, why: String, now: Timestamp) -> Result<Outcome, Refusal> {
    if !state.running {
        return Err(Refusal::NothingToChange { what: "No swarm is running here".into() });
    }
    if state.ops.due.len() >= DUE_MAX {
        let why = format!("{DUE_MAX} checkpoints wait to be made");
        return Err(Refusal::CannotMove { why, hint: "swarm stop".into() });
    }
    let Outcome { mut events, answer } = drain(state, why, now)?;
    let name = operate::new_checkpoint(state, now);
    let answer = format!("Checkpoint {name} is being made. {answer}");
    let trigger = BY_PERSON.into();
    events.insert(0, Event::CheckpointDue { name, trigger, full: true, seq: None });
    Ok(Outcome::new(events, answer))
}

/// An agent that was to begin again leaves its task to the next coordinator, at its moment.
fn restarts_broken_off(state: &State, why: &str) -> Vec<Event> {
    let waiting = state.index.restarting().filter_map(|id| Some((id, state.task(id)?)));
    waiting
        .filter_map(|(id, found)| match &found.stage {
            Stage::Restarting { not_before, .. } => {
                let next = Next::Pending { not_before: *not_before, counts: false };
                Some(super::intervene::broken_off(state, id, found, next, why))
            }
            _ => None,
        })
        .collect()
}

/// Whatever is being verified is built and verified again by the next coordinator.
fn verification_broken_off(state: &State, why: String) -> Option<Event> {
    let id = state.trunk_held_by.as_ref()?;
    let Stage::Merging { step, .. } = &state.task(id)?.stage else { return None };
    let verifies = step.run().is_some() || matches!(step, MergeStep::Suspect { .. });
    verifies.then(|| Event::MergeInterrupted { task: id.clone(), status: Status::Merging, why })
}
