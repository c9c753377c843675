//! An agent or its daemon crashed. The task stays with it and it begins again in the same worktree,
//! later each time; after too many crashes in too short a time it is taken out of service.

use swarm_protocol::event::Event;
use swarm_protocol::failure::Consequence;
use swarm_protocol::ids::{AgentId, RunId};
use swarm_protocol::outcome::{Ended, Next, PauseReason};
use swarm_protocol::plan::BlockKind;
use swarm_protocol::refusal::Refusal;
use swarm_protocol::time::Timestamp;

use super::command::Outcome;
use super::failure::{Consequences, backoff_ms, retry};
use crate::limits::DEGRADED_MAX;
use crate::state::{Agent, State, Task};

/// Whether an attempt that ended so is a crash of its agent.
pub(super) fn is_crash(how: &Ended) -> bool {
    match how {
        Ended::Crashed { .. } | Ended::Lost { .. } => true,
        Ended::Failed { failure } => {
            matches!(failure.class.consequence(), Consequence::Crash | Consequence::Silence)
        }
        _ => false,
    }
}

/// What is known of the agent once this crash of its run is taken in.
pub(super) fn after_crash(state: &State, agent: &AgentId, run: &RunId, now: Timestamp) -> Agent {
    let known = state.agents.get(agent).cloned().unwrap_or_default();
    let lived = state.runs.get(run).map_or(0, |r| now.secs_since(r.claimed_at));
    known.after_crash(lived, now, &state.policy)
}

pub(super) fn crashed(
    state: &State,
    task: &Task,
    agent: &AgentId,
    run: &RunId,
    how: &Ended,
    now: Timestamp,
) -> Consequences {
    let after = after_crash(state, agent, run, now);
    let (lately, most) = (after.crashes_lately(now, &state.policy), state.policy.crashes_max);
    if lately > most {
        let minutes = state.policy.crash_window_secs.div_ceil(60);
        let why = format!("{lately} crashes within {minutes} minutes, the last one: {}", how.describe());
        let next = retry_or_block(state, task, how, now);
        return Consequences { next, then: degraded(state, agent, why, now) };
    }
    // However slowly they come: a task that crashes agent after agent is not tried for ever.
    if task.crashes >= most {
        return Consequences::from(retry_or_block(state, task, how, now));
    }
    let restart = after.crashes_in_a_row;
    Consequences::from(Next::Restart { not_before: now.plus_ms(backoff_ms(state, restart)), restart })
}

/// Held against the task; after too many a person is asked.
pub(super) fn retry_or_block(state: &State, task: &Task, how: &Ended, now: Timestamp) -> Next {
    let n = task.retries + 1;
    if n > state.policy.max_retries {
        let why = format!("{n} attempts failed, the last one {}", how.describe());
        return Next::Blocked { block: BlockKind::Retries, why };
    }
    retry(state, task, now)
}

/// Several agents out of service shortly after one another are not the agents' fault.
fn degraded(state: &State, agent: &AgentId, why: String, now: Timestamp) -> Vec<Event> {
    let lately = |a: &&Agent| {
        a.degraded.as_ref().is_some_and(|d| now.secs_since(d.since) < state.policy.crash_window_secs)
    };
    let others = state.agents.values().filter(lately).count();
    let mut events = vec![Event::AgentDegraded { agent: agent.clone(), why: crate::text::tail(&why) }];
    if others + 1 >= DEGRADED_MAX && !state.paused.contains_key(&PauseReason::Errors) {
        let why = format!("{} agents were taken out of service, the last one {agent}: {why}", others + 1);
        events.push(Event::Paused { reason: PauseReason::Errors, why });
    }
    events
}

pub(super) fn revive(state: &State, agent: AgentId) -> Result<Outcome, Refusal> {
    match state.agents.get(&agent) {
        Some(known) if known.degraded.is_some() => {
            let answer = format!("Agent {agent} is back in service");
            Ok(Outcome::new(vec![Event::AgentRevived { agent }], answer))
        }
        Some(_) => Err(Refusal::NothingToChange { what: format!("Agent {agent} is in service") }),
        None => Err(Refusal::NothingToChange { what: format!("There is no agent {agent}") }),
    }
}
