//! What one iteration cost, where a program tells only the sum over its session.

use swarm_protocol::failure::Usage;

use super::agent::Heard;
use swarm_agents::AgentSetup;

/// With a price where the program told tokens and no money.
pub fn priced(usage: Usage, setup: Option<&AgentSetup>) -> Usage {
    setup.and_then(|setup| setup.rates).map_or(usage, |rates| rates.estimated(usage))
}

/// `before`: what the session that was gone on with is known to have cost until then. Where that is not known, it says
/// too little rather than count the same money twice.
pub fn in_this_iteration(heard: &Heard, before: Option<Usage>, resumed: bool) -> Usage {
    let before = match (before, resumed) {
        (Some(before), _) => before,
        (None, true) => heard.usage,
        (None, false) => Usage::default(),
    };
    difference(heard, before)
}

fn difference(heard: &Heard, before: Usage) -> Usage {
    let mut spent = heard.usage;
    if heard.cost_of_session {
        spent.cost_micros = spent.cost_micros.saturating_sub(before.cost_micros);
    }
    if heard.tokens_of_session {
        spent.input_tokens = spent.input_tokens.saturating_sub(before.input_tokens);
        spent.output_tokens = spent.output_tokens.saturating_sub(before.output_tokens);
        spent.cached_tokens = spent.cached_tokens.saturating_sub(before.cached_tokens);
    }
    spent
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_sum_over_a_session_is_counted_once() {
        let told = |cost_micros| {
            let mut heard = Heard::default();
            heard.usage = Usage { cost_micros, input_tokens: 10, ..Usage::default() };
            heard.cost_of_session = true;
            heard.session = Some("one".into());
            heard
        };
        let mut before = None;
        let mut costs = Vec::new();
        for (resumed, cost) in [(false, 100), (true, 150), (true, 175)] {
            let heard = told(cost);
            let usage = in_this_iteration(&heard, before, resumed);
            costs.push((usage.cost_micros, usage.input_tokens));
            before = Some(heard.usage);
        }
        assert_eq!(costs, [(100, 10), (50, 10), (25, 10)]);
        assert_eq!(in_this_iteration(&told(175), None, true).cost_micros, 0, "not known: nothing twice");
    }
}
