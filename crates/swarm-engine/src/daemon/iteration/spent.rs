//! What one iteration cost, where a program tells only the sum over its session.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use swarm_protocol::failure::Usage;

use super::agent::Heard;

/// The last sums by session. A daemon serves one run, so this is a handful. A daemon that was started anew does
/// not know the sum before: it then says too little rather than count the same money twice.
static SUMS: Mutex<BTreeMap<String, Usage>> = Mutex::new(BTreeMap::new());

pub fn in_this_iteration(heard: &Heard, resumed: Option<&str>) -> Usage {
    let mut sums = SUMS.lock().unwrap_or_else(PoisonError::into_inner);
    let before = match resumed {
        Some(session) => sums.get(session).copied().unwrap_or(heard.usage),
        None => Usage::default(),
    };
    if let Some(session) = &heard.session {
        sums.insert(session.clone(), heard.usage);
    }
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
        let costs = [None, Some("one"), Some("one")]
            .into_iter()
            .zip([100, 150, 175])
            .map(|(resumed, cost)| in_this_iteration(&told(cost), resumed));
        let costs: Vec<(u64, u64)> = costs.map(|usage| (usage.cost_micros, usage.input_tokens)).collect();
        assert_eq!(costs, [(100, 10), (50, 10), (25, 10)]);
    }
}
