//! The user's hooks, owed once each. What makes one due is in `dues.rs`; `hook_started` is durable before it
//! runs, so that one found started and not ended by a later coordinator is known to be interrupted. It
//! is not run again, for nobody knows how far it came; except those that stand before something and may
//! refuse it.

use swarm_protocol::event::Event;
use swarm_protocol::ids::{RunId, TaskId};
use swarm_protocol::operation::HookOutcome;

use crate::effect::Effect;
use crate::planted::{self, Bug};
use crate::state::State;
use crate::state::operations::HookRun;

/// Hooks at once; the rest wait their turn.
const AT_ONCE: usize = 4;
/// Hooks that wait; above it new ones are passed over, for a hook that hangs must not grow the state.
pub const WAITING_MAX: usize = 1_000;

/// A hook that falls due, if there is one of this name. `ahead` are those of the same event that come first.
pub fn due(
    state: &State,
    ahead: usize,
    hook: &str,
    subject: Option<&TaskId>,
    run: Option<&RunId>,
    variables: &[(&str, String)],
) -> Option<Event> {
    let rule = state.policy.hooks.iter().find(|rule| rule.name == hook)?;
    if state.ops.hooks.len() + ahead >= WAITING_MAX {
        return None;
    }
    Some(Event::HookDue {
        hook: hook.into(),
        n: state.ops.hooks_ever + 1 + ahead as u64,
        subject: subject.map(ToString::to_string),
        run: run.cloned(),
        variables: variables.iter().map(|(name, value)| ((*name).into(), value.clone())).collect(),
        blocking: rule.blocking && hook.starts_with("pre-"),
    })
}

/// Whether something waits for a hook of this name before it goes on.
pub fn before(state: &State, hook: &str, subject: &TaskId) -> bool {
    state.ops.hooks.values().any(|h| h.hook == hook && h.subject.as_deref() == Some(subject.as_str()))
}

/// The next thing that follows about hooks: one begins, or one was interrupted.
pub fn settle(state: &State) -> Option<Event> {
    if !state.running {
        return None;
    }
    let interrupted = state.ops.hooks.values().find(|h| {
        let old = h.started.is_some_and(|epoch| epoch < state.epoch);
        old && !h.blocking && !planted::is(Bug::HookRunTwice)
    });
    if let Some(hook) = interrupted {
        let (outcome, output) = (HookOutcome::Interrupted, String::new());
        return Some(Event::HookEnded { hook: hook.hook.clone(), n: hook.n, outcome, output });
    }
    let running = state.ops.hooks.values().filter(|h| h.started.is_some()).count();
    if running >= AT_ONCE {
        return None;
    }
    // Those about one task one after the other: what a person's programs hear has the order of what happened.
    let busy = |h: &HookRun| {
        let of_same = |other: &HookRun| other.started.is_some() && other.subject == h.subject;
        state.ops.hooks.values().any(of_same)
    };
    let next = state.ops.hooks.values().find(|h| h.started.is_none() && !busy(h))?;
    Some(Event::HookStarted { hook: next.hook.clone(), n: next.n, subject: next.subject.clone() })
}

/// Hooks that run.
pub fn owed(state: &State) -> impl Iterator<Item = Effect> {
    state.ops.hooks.values().filter(|h| h.started.is_some()).map(|h| Effect::Hook {
        n: h.n,
        hook: h.hook.clone(),
        subject: h.subject.clone(),
        variables: h.variables.clone(),
    })
}
