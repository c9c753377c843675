//! What agents use: tokens and money, short enough for a table.

use swarm_protocol::failure::Usage;

/// `12.3k tokens`; nothing when nothing was said.
pub fn tokens(usage: &Usage) -> String {
    let all = usage.input_tokens.saturating_add(usage.output_tokens);
    match all {
        0 => String::new(),
        1..1000 => format!("{all} tokens"),
        1000..1_000_000 => format!("{}.{}k tokens", all / 1000, all % 1000 / 100),
        _ => format!("{}.{}M tokens", all / 1_000_000, all % 1_000_000 / 100_000),
    }
}

/// `$0.42`; nothing when the program does not say. `about $0.42` where a part of it is computed from tokens and prices.
pub fn cost(usage: &Usage) -> String {
    match usage.cost_micros {
        0 => String::new(),
        _ => spent(usage),
    }
}

/// The same, with `$0.00` for nothing.
pub fn spent(usage: &Usage) -> String {
    let about = if usage.estimated_micros > 0 { "about " } else { "" };
    format!("{about}{}", dollars(usage.cost_micros))
}

/// `$0.42`, from millionths.
pub fn dollars(micros: u64) -> String {
    format!("${}.{:02}", micros / 1_000_000, micros % 1_000_000 / 10_000)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn amounts_are_short_and_nothing_is_nothing() {
        let usage = |tokens, cost_micros| Usage { input_tokens: tokens, cost_micros, ..Usage::default() };
        assert_eq!((tokens(&usage(0, 0)), cost(&usage(0, 0))), (String::new(), String::new()));
        assert_eq!((tokens(&usage(999, 0)), cost(&usage(0, 419_999))), ("999 tokens".into(), "$0.41".into()));
        assert_eq!(tokens(&usage(12_345, 0)), "12.3k tokens");
        let guessed = Usage { estimated_micros: 10_000, ..usage(5, 420_000) };
        assert_eq!((cost(&guessed), spent(&Usage::default())), ("about $0.42".into(), "$0.00".into()));
        assert_eq!(
            (tokens(&usage(2_500_000, 0)), cost(&usage(0, 12_000_000))),
            ("2.5M tokens".into(), "$12.00".into())
        );
    }
}
