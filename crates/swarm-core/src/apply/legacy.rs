//! What records of version 0.1.0 and before left to whoever replays them. Frozen: an old ledger keeps its meaning,
//! whatever the rules, the limits and the classes of failures become. Nothing here is called for a record that says
//! what was decided; nothing here may call into what decides today. If a test of `tests/ledgers` fails, put it right
//! where the change was made, and not here.

mod due;

pub(super) use due::{Before, falls_due, hooks_fall_due};

use swarm_protocol::aftermath::{Aftermath, Counted, CrashRecord, SetupRecord};
use swarm_protocol::failure::{Failure, FailureClass};
use swarm_protocol::ids::{AgentId, RunId, TaskId};
use swarm_protocol::outcome::{Ended, Next, PauseReason};
use swarm_protocol::time::Timestamp;

use crate::state::State;
use crate::text::tail;

/// A publish that waits for a person's checkout was tried again after a minute.
pub(super) fn checkout_again_at(at: Timestamp) -> Timestamp {
    at.plus_secs(60)
}

/// A worktree that could not be brought back or rewound so many times was given up.
pub(super) fn gives_up(failures: u32) -> bool {
    failures >= 5
}

/// The end of an attempt that brought no result.
pub(super) struct End<'a> {
    pub task: &'a TaskId,
    pub run: &'a RunId,
    pub agent: &'a AgentId,
    pub how: &'a Ended,
    pub next: &'a Next,
}

pub(super) fn aftermath(state: &State, end: &End<'_>, at: Timestamp) -> Aftermath {
    let crash = is_crash(end.how).then(|| crash_record(state, end, at));
    let crashes = state.task(end.task).map_or(0, |t| t.crashes).saturating_add(u32::from(crash.is_some()));
    let kept = matches!(end.next, Next::Restart { .. } | Next::Pending { counts: false, .. });
    let mut left = Aftermath { task_crashes: if kept { crashes } else { 0 }, crash, ..Aftermath::default() };
    match end.how {
        Ended::Failed { failure } => after_failure(state, end, failure, &mut left),
        Ended::Timeout { .. } => left.fresh_session = true,
        Ended::NoWorkspace { text } if !state.paused.contains_key(&PauseReason::Disk) => {
            let text = without_name(&tail(text), end.task);
            let alike = state.setup_failures.text == text;
            let count = if alike { state.setup_failures.count.saturating_add(1) } else { 1 };
            left.setup = Some(SetupRecord { text, count, commands: false });
        }
        _ => {}
    }
    left
}

fn is_crash(how: &Ended) -> bool {
    match how {
        Ended::Crashed { .. } | Ended::Lost { .. } => true,
        Ended::Failed { failure } => {
            use FailureClass::{Crashed, Stalled, Unknown};
            matches!(failure.class, Crashed | Unknown | Stalled)
        }
        _ => false,
    }
}

/// The policy is that of the ledger: it stands in the record of the coordinator's start.
fn crash_record(state: &State, end: &End<'_>, at: Timestamp) -> CrashRecord {
    let lived = state.runs.get(end.run).map_or(0, |r| at.secs_since(r.claimed_at));
    let known = state.agents.get(end.agent).filter(|_| lived < state.policy.stable_secs);
    let (in_a_row, before) = known.map_or((0, 0), |a| (a.crashes_in_a_row, a.crashes.len() as u32));
    CrashRecord {
        in_a_row: in_a_row.saturating_add(1),
        remembered: (before + 1).min(state.policy.crashes_max.saturating_add(1)),
    }
}

fn after_failure(state: &State, end: &End<'_>, failure: &Failure, left: &mut Aftermath) {
    use FailureClass as Class;
    match failure.class {
        Class::Throttled | Class::Overloaded | Class::Network | Class::Shortage => {
            left.counts = Some(Counted::Transient);
        }
        Class::OutputCut | Class::Refused => {
            (left.counts, left.fresh_session) = (Some(Counted::OnceMore), true);
        }
        Class::Overflow => (left.counts, left.fresh_session) = (Some(Counted::Overflow), true),
        Class::Billing
        | Class::Key
        | Class::Configuration
        | Class::OwnLimit
        | Class::Limits
        | Class::Looping => left.fresh_session = true,
        Class::Quota => left.quota = Some(group_of(state, &profile_of(state, end.run))),
        Class::Denied => left.denied = Some(profile_of(state, end.run)),
        Class::Stalled | Class::Crashed | Class::Unknown => {}
    }
}

fn profile_of(state: &State, run: &RunId) -> String {
    let Some(run) = state.runs.get(run) else { return String::new() };
    let task = state.task(&run.task);
    let own = task.and_then(|t| t.assigned.clone().or_else(|| t.spec.profile.clone()));
    let swarms = task.map(|_| state.policy.profile.clone());
    run.profile.clone().or(own).or(swarms).unwrap_or_default()
}

fn group_of(state: &State, profile: &str) -> String {
    let rule = state.policy.profiles.iter().find(|rule| rule.name == profile);
    let named =
        rule.map(|rule| rule.quota_group.as_str()).filter(|group| !group.is_empty()).unwrap_or(profile);
    if named.is_empty() { "default".into() } else { named.into() }
}

/// The text with the task's name taken out.
fn without_name(text: &str, task: &TaskId) -> String {
    let part_of_a_name = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-');
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let in_name = part_of_a_name(first);
        let end = rest.find(|c| part_of_a_name(c) != in_name).unwrap_or(rest.len());
        let (word, after) = rest.split_at(end);
        let is_task = in_name && word.trim_end_matches('.') == task.as_str();
        out.push_str(if is_task { "TASK" } else { word });
        rest = after;
    }
    out
}
