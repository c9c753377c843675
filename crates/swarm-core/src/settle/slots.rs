//! Who gets the next free slot: a task and an agent for it.

use std::collections::BTreeSet;

use swarm_protocol::channel::RunKind;
use swarm_protocol::event::Event;
use swarm_protocol::globs::meet;
use swarm_protocol::ids::{AgentId, RunId, TaskId};
use swarm_protocol::outcome::Mode;
use swarm_protocol::plan::{BlockKind, Status};
use swarm_protocol::reservation::{Overlap, Reservation};
use swarm_protocol::time::Timestamp;

use crate::operation::machine;
use crate::planted::{self, Bug};
use crate::react;
use crate::ready::{dispatches, nonce};
use crate::reservations;
use crate::stage::Stage;
use crate::state::{Agent, Run, State, Task};

/// Tasks, and files of each, that are compared with one another before one is started: more would cost more than it saves.
const LOOKED_AT_MAX: usize = 32;
/// Different sets of files that are remembered as not to be had.
const WAITING_KNOWN_MAX: usize = 256;

pub(super) fn slot(state: &State, now: Timestamp) -> Option<Vec<Event>> {
    // Asked first: with a long queue it would be asked for every task.
    if !dispatches(state) || (state.quota_stops_everything() && !planted::is(Bug::ClosedGatePassed)) {
        return None;
    }
    let counts_ended = !planted::is(Bug::SlotGrantedBeforeStopped);
    let taken = match counts_ended {
        true if planted::is(Bug::RestartLosesSlot) => runs_at_work(state) as u32,
        true => state.slots_taken(),
        false => state.runs.values().filter(|r| r.kind == RunKind::Work && !r.ended).count() as u32,
    };
    let slots = state.plan.as_ref()?.profile.slots();
    if taken >= slots {
        return None;
    }
    let all = state.mode() == Mode::Autopilot || planted::is(Bug::GrantedWithoutStart);
    let may = |id: &&TaskId| may_start(state, id, now, counts_ended);
    let let_go = |id: &&TaskId| state.task(id).is_some_and(|t| t.withheld.is_none() && (all || t.started));
    let mut line = Line::default();
    let mut free = |id: &&TaskId| files_are_free(state, id, &mut line);
    let mut may_go = |id: &&TaskId| let_go(id) && may(id) && free(id);
    let task = machine::first_in_line(state, &mut may_go).or_else(|| match all {
        true => apart_from_others(state, state.index.queue().filter(&mut may_go)),
        false => apart_from_others(state, state.index.started().filter(&mut may_go)),
    })?;
    let found = state.task(task)?;
    if let Some(instead) = react::instead_of_start(state, task) {
        return Some(vec![instead]);
    }
    let profile = state.profile_for(found)?;
    let agent = machine::agent_for(state, task).unwrap_or_else(|| idle_agent(state));
    Some(with_its_files(state, found, claim(state, task, agent, profile)))
}

/// Those that wait for files, as far as they were asked.
#[derive(Default)]
struct Line<'a> {
    /// What cannot be had now, with what may be shared: whoever else wants the same need not ask again.
    taken: BTreeSet<(&'a [String], &'a [String])>,
    /// They wait for tasks alone, whose work ends: nobody behind them takes what they wait for.
    first: Vec<TaskId>,
}

/// Whether the files that the task wants can be had now, or need not be waited for. Asked for every task of a long queue, at
/// every event: each costs no more than a look at the reservations that there are.
fn files_are_free<'a>(state: &'a State, id: &TaskId, line: &mut Line<'a>) -> bool {
    let Some(task) = state.task(id).filter(|task| reservations::waits(state, task)) else { return true };
    let wanted = reservations::wanted(state, task);
    if wanted.is_empty() || reservations::of_task(state, id).is_some() {
        return true;
    }
    let key = (wanted.files, wanted.shared);
    if line.taken.contains(&key) {
        return false;
    }
    let of_others = |first: &TaskId| {
        let task = state.task(first).filter(|_| first != id);
        task.is_some_and(|task| reservations::wanted(state, task).overlaps(wanted))
    };
    let mut in_the_way = reservations::in_the_way(state, Some(id), wanted).peekable();
    let free = in_the_way.peek().is_none() && !line.first.iter().any(of_others);
    let of_task = |number: u64| state.reservations.get(&number).is_some_and(|one| one.task.is_some());
    if !free && line.first.len() < LOOKED_AT_MAX && in_the_way.all(of_task) {
        line.first.push(id.clone());
    }
    if !free && line.taken.len() < WAITING_KNOWN_MAX {
        line.taken.insert(key);
    }
    free
}

/// The claim together with what the task reserves; or its end where that is denied.
fn with_its_files(state: &State, task: &Task, claim: Event) -> Vec<Event> {
    let id = &task.spec.id;
    let wanted = reservations::wanted(state, task);
    if wanted.is_empty() || reservations::of_task(state, id).is_some() {
        return vec![claim];
    }
    let beside: Vec<u64> = reservations::in_the_way(state, Some(id), wanted).collect();
    if let (Overlap::Deny, Some(first)) = (state.policy.overlap, beside.first()) {
        let holder = state.reservations.get(first).map(Reservation::holder).unwrap_or_default();
        let why = Some(format!("its files are reserved by {holder} (reservation {first})"));
        let (block, status) = (Some(BlockKind::Reserved), Status::Blocked);
        return vec![Event::TaskStatusChanged {
            task: id.clone(),
            status,
            why,
            block,
            proof: None,
            was: None,
        }];
    }
    let granted = Event::ReservationGranted {
        task: Some(id.clone()),
        number: state.reservations_ever + 1,
        by: None,
        files: wanted.files.to_vec(),
        shared: wanted.shared.to_vec(),
        secs: state.policy.reservation_secs,
        reason: None,
        beside,
    };
    vec![granted, claim]
}

/// The first in line; where the files that it names are being changed by somebody, the first that names others. Two
/// tasks that would conflict are not at work together as long as something else is to be done.
fn apart_from_others<'a>(state: &State, mut line: impl Iterator<Item = &'a TaskId>) -> Option<&'a TaskId> {
    let first = line.next()?;
    let taken = files_being_changed(state);
    let is_apart = |id: &TaskId| {
        let files = state.task(id).map(|task| task.spec.files.as_slice()).unwrap_or_default();
        !files.iter().any(|file| taken.iter().any(|other| meet(file, other)))
    };
    if taken.is_empty() || is_apart(first) {
        return Some(first);
    }
    line.take(LOOKED_AT_MAX).find(|id| is_apart(id)).or(Some(first))
}

/// What tasks say they change whose work is under way and not on trunk yet.
fn files_being_changed(state: &State) -> Vec<&str> {
    let at_work = state.runs.values().filter(|run| run.kind == RunKind::Work).map(|run| &run.task);
    let submitted = state.index.reviews().chain(state.index.approved()).chain(&state.trunk_held_by);
    let tasks = at_work.chain(submitted).take(LOOKED_AT_MAX).filter_map(|id| state.task(id));
    tasks.flat_map(|task| task.spec.files.iter().take(LOOKED_AT_MAX).map(String::as_str)).collect()
}

fn runs_at_work(state: &State) -> usize {
    state.runs.values().filter(|r| r.kind == RunKind::Work).count()
}

/// An agent that crashed begins again: same task, same worktree, once its old processes are gone. It
/// has its slot already, unless there are fewer now.
pub(super) fn restart(state: &State, now: Timestamp) -> Option<Vec<Event>> {
    let slots = state.plan.as_ref()?.profile.slots();
    if !dispatches(state) || runs_at_work(state) >= slots as usize {
        return None;
    }
    state.index.restarting().find_map(|id| {
        let task = state.task(id)?;
        let Stage::Restarting { agent, not_before, .. } = &task.stage else { return None };
        if *not_before > now || state.has_run(id) || !files_are_free(state, id, &mut Line::default()) {
            return None;
        }
        if let Some(instead) = react::instead_of_start(state, id) {
            return Some(vec![instead]);
        }
        let claim = claim(state, id, agent.clone(), state.profile_for(task)?);
        Some(with_its_files(state, task, claim))
    })
}

fn may_start(state: &State, id: &TaskId, now: Timestamp, counts_ended: bool) -> bool {
    let due = state
        .task(id)
        .is_some_and(|t| matches!(t.stage, Stage::Pending { not_before, .. } if not_before <= now));
    // A merge that was interrupted may have published after all: until its executor has left the trunk
    // nobody knows whether there is anything left to do.
    let at_trunk = state.trunk_held_by.as_ref() == Some(id);
    let busy = |id: &TaskId| {
        let there = |r: &&Run| r.task == *id && r.kind != RunKind::Probe;
        state.runs.values().filter(there).any(|r| counts_ended || !r.ended)
    };
    // The first part begins where the whole was left: nobody may still be writing there, and it must lie there.
    let whole = state.task(id).and_then(|t| t.parent.as_ref());
    let comes_back =
        |id: &TaskId| state.task(id).is_some_and(|whole| whole.left.is_some() && !whole.stage.is_closed());
    let can_pay = || state.task(id).is_some_and(|t| state.profile_for(t).is_some());
    let whole_is_left = || !whole.is_some_and(|whole| busy(whole) || comes_back(whole));
    due && !at_trunk && !busy(id) && whole_is_left() && can_pay() && machine::may_take_up(state, id)
}

/// One that is in service and that no task keeps; a new one when there is none.
fn idle_agent(state: &State) -> AgentId {
    let kept = |id: &AgentId| {
        state
            .index
            .restarting()
            .filter_map(|task| state.task(task))
            .any(|task| matches!(&task.stage, Stage::Restarting { agent, .. } if agent == id))
    };
    let serves = |agent: &Agent| agent.degraded.is_none() || planted::is(Bug::DegradedGranted);
    let idle = state.agents.iter().find(|(id, a)| a.run.is_none() && serves(a) && !kept(id));
    idle.map_or_else(|| AgentId::nth(state.agents.len() as u64 + 1), |(id, _)| id.clone())
}

fn claim(state: &State, task: &TaskId, agent: AgentId, profile: &str) -> Event {
    let run = RunId::nth(state.runs_ever + 1);
    let tried = state.task(task);
    let so_far = tried.map_or(0, |t| t.attempts);
    let goes_on = so_far > 0 && tried.is_some_and(|t| t.goes_on);
    let restart = tried.filter(|_| goes_on).map(|t| t.restarts.saturating_add(1));
    let attempt = if goes_on { so_far } else { so_far.saturating_add(1) };
    let nonce = nonce(state, &run);
    Event::TaskClaimed {
        task: task.clone(),
        status: Status::Active,
        run,
        agent,
        attempt,
        nonce,
        profile: (!profile.is_empty()).then(|| profile.into()),
        restart,
    }
}
