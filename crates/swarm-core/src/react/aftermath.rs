//! What the end of an attempt leaves behind: decided here, once, and recorded with it.

use swarm_protocol::aftermath::{Aftermath, Counted, CrashRecord, SetupRecord};
use swarm_protocol::failure::{Consequence, Failure};
use swarm_protocol::outcome::{Ended, Next, PauseReason};
use swarm_protocol::time::Timestamp;

use super::restart::{after_crash, is_crash};
use super::work::Live;
use crate::setup::without_name;
use crate::stage::Stage;
use crate::state::State;

pub(super) fn aftermath(state: &State, l: &Live<'_>, how: &Ended, next: &Next, now: Timestamp) -> Aftermath {
    let crash = is_crash(how).then(|| {
        let after = after_crash(state, l.agent, l.run, now);
        CrashRecord { in_a_row: after.crashes_in_a_row, remembered: after.crashes.len() as u32 }
    });
    let mut left =
        Aftermath { task_crashes: task_crashes(l, crash.is_some(), next), crash, ..Aftermath::default() };
    left.goes_on = goes_on(how, next);
    match how {
        Ended::Failed { failure } => after_failure(state, l, failure, &mut left),
        // A session that ran out of time is stuck in its own thoughts.
        Ended::Timeout { .. } => left.fresh_session = true,
        Ended::NoWorkspace { text } if !state.paused.contains_key(&PauseReason::Disk) => {
            let text = without_name(&crate::text::tail(text), l.id);
            let before = &state.setup_failures;
            // Its commands run in a worktree that is ready: only the agent's own work proves that they succeeded. What they
            // print has times and an order of its own.
            let commands = matches!(l.task.stage, Stage::Active { .. });
            let alike = if commands { before.commands } else { before.text == text };
            let count = if alike { before.count.saturating_add(1) } else { 1 };
            left.setup = Some(SetupRecord { text, count, commands });
        }
        _ => {}
    }
    left
}

/// An attempt is over when its end is held against somebody or says something of the work. A daemon that is started again,
/// a service that is away and a program that cannot begin say nothing of it.
fn goes_on(how: &Ended, next: &Next) -> bool {
    match how {
        _ if matches!(next, Next::Restart { .. }) => true,
        Ended::Failed { failure } => {
            use Consequence::{Quota, Setup, Transient};
            matches!(failure.class.consequence(), Transient | Quota | Setup)
        }
        Ended::Stopped | Ended::NotStarted { .. } | Ended::NoWorkspace { .. } | Ended::AsksHuman { .. } => {
            true
        }
        _ => false,
    }
}

/// Counted until the end is held against the task, or a person is asked.
fn task_crashes(l: &Live<'_>, crash: bool, next: &Next) -> u32 {
    match next {
        Next::Restart { .. } | Next::Pending { counts: false, .. } => {
            l.task.crashes.saturating_add(u32::from(crash))
        }
        _ => 0,
    }
}

fn after_failure(state: &State, l: &Live<'_>, failure: &Failure, left: &mut Aftermath) {
    let profile = || l.record.profile.clone().unwrap_or_else(|| state.preferred_profile(l.task).into());
    match failure.class.consequence() {
        Consequence::Transient => left.counts = Some(Counted::Transient),
        Consequence::OnceMore => (left.counts, left.fresh_session) = (Some(Counted::OnceMore), true),
        // The session is full, unknown to the program, or stuck: the next attempt begins afresh.
        Consequence::Overflow => (left.counts, left.fresh_session) = (Some(Counted::Overflow), true),
        Consequence::Setup | Consequence::Timeout | Consequence::Loop => left.fresh_session = true,
        Consequence::Quota => left.quota = Some(state.quota_group(&profile())),
        Consequence::Denied => left.denied = Some(profile()),
        Consequence::Crash | Consequence::Silence => {}
    }
}
