//! From every state a patient person and good executors bring every task that is not cancelled to done,
//! without a waiver.

use std::collections::HashSet;

use swarm_core::effect::{Effect, WorkOrder};
use swarm_core::input::Input;
use swarm_core::owed;
use swarm_core::stage::Stage;
use swarm_core::state::State;
use swarm_protocol::command::Command;
use swarm_protocol::event::Event;
use swarm_protocol::ids::TaskId;
use swarm_protocol::plan::TaskPatch;
use swarm_protocol::review::{Reviewer, Verdict};

use crate::explore::Place;
use crate::reports::reports;

/// More steps than two tasks with everything against them need.
const STEPS_MAX: usize = 200;

/// Of so many states one is brought to its end whatever is known of those on its way.
const WHOLE: usize = 16;

/// States that lead to done. Those that decide alike lead to the same end, so a way ends where it meets one of them.
#[derive(Default)]
pub struct Proven {
    keys: HashSet<String>,
    asked: usize,
}

impl Proven {
    pub fn leads_to_done(&mut self, here: &Place) {
        self.asked += 1;
        let whole = self.asked.is_multiple_of(WHOLE);
        let is_open = |stage: &Stage| !matches!(stage, Stage::Cancelled);
        let tasks = here.state.tasks.iter();
        let open: Vec<TaskId> =
            tasks.filter(|(_, task)| is_open(&task.stage)).map(|(id, _)| id.clone()).collect();
        // What somebody cancels on the way would not be looked for by the state that was met.
        let still_open =
            |state: &State| open.iter().all(|id| state.task(id).is_none_or(|t| is_open(&t.stage)));
        let mut place = here.clone();
        let (mut told, mut passed) = (Vec::new(), Vec::new());
        for _ in 0..STEPS_MAX {
            let key = place.key();
            let known = !whole && still_open(&place.state) && self.keys.contains(&key);
            passed.push(key);
            if known || at_rest(&place.state, &open) {
                self.keys.extend(passed);
                return;
            }
            match help(&mut place) {
                Some(events) => told.extend(events.iter().map(|event| event.kind())),
                None => break,
            }
        }
        let stages = |place: &Place| {
            let tasks = place.state.tasks.iter();
            tasks.map(|(id, task)| format!("{id} {:?}", task.stage)).collect::<Vec<_>>()
        };
        panic!("no way to done from {:?}\nended at {:?}\nafter {told:?}", stages(here), stages(&place));
    }
}

fn at_rest(state: &State, open: &[TaskId]) -> bool {
    let done = |id: &TaskId| state.task(id).is_none_or(|t| matches!(t.stage, Stage::Done { .. }));
    let watches = owed(state).iter().all(|effect| effect.key().is_watch());
    open.iter().all(done) && watches && state.runs.is_empty() && state.trunk_held_by.is_none()
}

/// The next helpful thing to do.
fn help(place: &mut Place) -> Option<Vec<Event>> {
    let state = &place.state;
    if !state.running {
        place.start();
        return Some(vec![]);
    }
    // While an operation moves git nothing else is accepted.
    if state.ops.running.is_some()
        && let Some(effect) = owed(state).first()
    {
        let report = reports(state, effect).swap_remove(0);
        return place.take_in(Input::Report(report)).ok();
    }
    if state.draining && state.runs.is_empty() {
        return place.take_in(Input::Leaving).ok();
    }
    if let Some(reason) = state.paused.keys().next().copied() {
        return place.ask(Command::Resume { reason }).ok();
    }
    if let Some(command) = put_back(state) {
        return place.ask(command).ok();
    }
    if state.tasks.values().any(|task| state.needs_start(task))
        && let Ok(events) = place.ask(Command::StartTasks { tasks: vec![] })
    {
        return Some(events);
    }
    let state = &place.state;
    // Whoever is held waits for somebody else.
    let held = |effect: &&Effect| matches!(effect, Effect::Work { order: WorkOrder::Hold, .. });
    let mut owed = owed(state);
    owed.retain(|effect| !effect.key().is_watch());
    if let Some(effect) = owed.iter().find(|effect| !held(effect)).or(owed.first()) {
        let report = reports(state, effect).swap_remove(0);
        return place.take_in(Input::Report(report)).ok();
    }
    place.wait().then(Vec::new)
}

fn put_back(state: &State) -> Option<Command> {
    let held = state.quotas.iter().find(|(_, gate)| gate.closed.as_ref().is_some_and(|c| c.held));
    if let Some((group, _)) = held {
        return Some(Command::OpenQuota { group: group.clone() });
    }
    let lost = |part: &TaskId| state.task(part).is_none_or(|t| matches!(t.stage, Stage::Cancelled));
    state.tasks.iter().find_map(|(id, task)| match &task.stage {
        Stage::Split { parts, .. } if parts.iter().any(lost) => {
            Some(Command::UnblockTask { task: id.clone() })
        }
        // What has nothing left to spend is not unblocked before it has.
        Stage::Blocked { .. } | Stage::Failed { .. } | Stage::Timeout { .. } | Stage::Deferred
            if swarm_core::show::task(state, id).is_some_and(|t| t.budget.is_some_and(|b| b.spent)) =>
        {
            Some(Command::ExtendBudget { task: Some(id.clone()) })
        }
        Stage::Review { tip, .. } if swarm_core::show::review(state, id)?.reviewer == Reviewer::Human => {
            let verdict = Verdict::Approve { tip: tip.clone(), left_out: None };
            Some(Command::Review { task: id.clone(), verdict })
        }
        Stage::Gone { work: None, .. } => {
            let (force, expect) = (Default::default(), None);
            Some(Command::RollbackTask { task: id.clone(), cascade: true, force, expect })
        }
        Stage::Blocked { .. }
        | Stage::Failed { .. }
        | Stage::Timeout { .. }
        | Stage::Deferred
        | Stage::Gone { .. } => Some(Command::UnblockTask { task: id.clone() }),
        Stage::Pending { .. } => {
            let cancelled = |d: &TaskId| state.task(d).is_none_or(|t| matches!(t.stage, Stage::Cancelled));
            task.spec.depends.iter().any(cancelled).then(|| {
                let depends = task.spec.depends.iter().filter(|d| !cancelled(d)).cloned().collect();
                let patch = TaskPatch { depends: Some(depends), ..TaskPatch::default() };
                Command::EditTask { task: id.clone(), patch }
            })
        }
        _ => None,
    })
}
