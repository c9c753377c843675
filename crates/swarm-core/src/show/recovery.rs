//! What recovery is at: allowances, agents out of service, budgets, messages.

use swarm_protocol::failure::GateCause;
use swarm_protocol::policy::Allowance;
use swarm_protocol::view::{BudgetView, DegradedView, LandedView, MessageView, QuotaView};

use crate::state::{Closed, Spent, State, Task};

pub fn quotas(state: &State) -> Vec<QuotaView> {
    let closed = state.quotas.iter().filter_map(|(group, gate)| Some((group, gate.closed.as_ref()?)));
    closed
        .filter(|(group, closed)| is_worth_a_word(state, group, closed))
        .map(|(group, closed)| QuotaView {
            group: group.clone(),
            cause: closed.cause,
            since: closed.since,
            why: closed.why.clone(),
            resets_at: closed.resets_at,
            next_probe: Some(closed.next_probe).filter(|_| !closed.held && closed.probing.is_none()),
            probing: closed.probing.is_some(),
            held: closed.held,
            waiting: state.tasks.values().filter(|task| state.waits_for_group(task, group)).count() as u64,
        })
        .collect()
}

/// A key that is not accepted is told with the task that it blocks; here too where others wait for it.
pub(super) fn is_worth_a_word(state: &State, group: &str, closed: &Closed) -> bool {
    let waits = || state.tasks.values().any(|task| state.waits_for_group(task, group));
    closed.cause != GateCause::Key || closed.held || waits()
}

pub fn degraded(state: &State) -> Vec<DegradedView> {
    let out = state.agents.iter().filter_map(|(id, agent)| Some((id, agent.degraded.as_ref()?)));
    out.map(|(id, d)| DegradedView { agent: id.clone(), since: d.since, why: d.why.clone() }).collect()
}

/// Nothing where no bound is set.
pub fn budget(spent: Spent, allowance: Allowance) -> Option<BudgetView> {
    if allowance == Allowance::default() {
        return None;
    }
    let bound = |n: u64| Some(n).filter(|n| *n > 0);
    Some(BudgetView {
        tokens: spent.tokens,
        tokens_max: bound(allowance.tokens),
        cost_micros: spent.cost_micros,
        cost_micros_max: bound(allowance.cost_micros),
        secs: spent.worked_ms / 1000,
        secs_max: bound(allowance.secs),
        spent: spent.uses_up(allowance).is_some(),
    })
}

pub fn messages(task: &Task) -> Vec<MessageView> {
    let landed =
        |l: &crate::state::Landed| LandedView { run: l.run.clone(), iteration: l.iteration, at: l.at };
    let messages = task.messages.iter().map(|m| MessageView {
        id: m.id.clone(),
        by: m.by.clone(),
        text: m.text.clone(),
        at: m.at,
        landed: m.landed.as_ref().map(landed),
        undelivered: m.undelivered.clone(),
    });
    messages.collect()
}
