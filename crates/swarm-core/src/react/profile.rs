//! The execution profile: set, locked, never changed while locked.

use swarm_protocol::event::Event;
use swarm_protocol::plan::ExecutionProfile;
use swarm_protocol::refusal::Refusal;

use super::command::Outcome;
use super::validate;
use crate::state::State;

pub(super) fn set(state: &State, profile: ExecutionProfile) -> Result<Outcome, Refusal> {
    let plan = state.plan.as_ref().ok_or(Refusal::NoPlan)?;
    if plan.profile.locked {
        return Err(Refusal::ProfileLocked);
    }
    validate::profile(&profile)?;
    if plan.profile == profile {
        return Err(Refusal::NothingToChange { what: "The execution profile".into() });
    }
    let slots = profile.slots();
    let answer = if profile.locked {
        format!("Execution profile set and locked: {slots} at once")
    } else {
        format!("Execution profile set: {slots} at once")
    };
    Ok(Outcome::new(events(profile), answer))
}

pub(super) fn lock(state: &State) -> Result<Outcome, Refusal> {
    let plan = state.plan.as_ref().ok_or(Refusal::NoPlan)?;
    if plan.profile.locked {
        return Err(Refusal::ProfileLocked);
    }
    Ok(Outcome::new(
        vec![Event::ExecutionProfileLocked {}],
        "Execution profile locked until the plan is reset",
    ))
}

/// Setting and locking are two records, also when asked for at once.
pub(super) fn events(profile: ExecutionProfile) -> Vec<Event> {
    let mut events =
        vec![Event::ExecutionProfileSet { profile: ExecutionProfile { locked: false, ..profile } }];
    if profile.locked {
        events.push(Event::ExecutionProfileLocked {});
    }
    events
}
