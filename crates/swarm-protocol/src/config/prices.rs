//! What models cost, for programs that say how many tokens they used and not for how much money.

#[cfg(feature = "schema")]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::failure::Usage;

/// The list prices that are built in, in dollars for a million tokens: input, input from the service's cache, output.
const KNOWN: [(&str, f64, f64, f64); 13] = [
    ("gpt-5.5", 5.0, 0.5, 30.0),
    ("gpt-5.4", 2.5, 0.25, 15.0),
    ("gpt-5.4-mini", 0.75, 0.075, 4.5),
    ("gpt-5.3-codex", 1.75, 0.175, 14.0),
    ("gpt-5.2", 1.75, 0.175, 14.0),
    ("gpt-5.1", 1.25, 0.125, 10.0),
    ("gpt-5", 1.25, 0.125, 10.0),
    ("gpt-5-mini", 0.25, 0.025, 2.0),
    ("gemini-2.5-pro", 1.25, 0.125, 10.0),
    ("gemini-2.5-flash", 0.3, 0.03, 2.5),
    ("gemini-2.5-flash-lite", 0.1, 0.01, 0.4),
    // Where a profile names no model: what the program takes by itself, as far as that is known.
    ("codex", 2.5, 0.25, 15.0),
    ("gemini", 1.25, 0.125, 10.0),
];

/// When they were looked up.
const KNOWN_AS_OF: &str = "2026-05-21";

/// Prices for programs that tell tokens and no money: what they cost is an estimate then, and shown as one.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(deny_unknown_fields, default, rename_all = "camelCase")]
pub struct Prices {
    /// The day on which they were looked up.
    pub as_of: String,
    /// By model, or by program where a profile names no model. A model that is not listed has the price of the longest name that it begins with.
    pub models: Vec<Price>,
}

/// Dollars for a million tokens.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct Price {
    pub model: String,
    pub input: f64,
    /// Input out of the service's cache; the same as other input when not set.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cached: Option<f64>,
    pub output: f64,
}

/// The same in millionths of a dollar for a million tokens, as a daemon is told it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Rates {
    pub input: u64,
    pub cached: u64,
    pub output: u64,
}

impl Default for Prices {
    fn default() -> Self {
        let price = |(model, input, cached, output): (&str, f64, f64, f64)| Price {
            model: model.into(),
            input,
            cached: Some(cached),
            output,
        };
        Self { as_of: KNOWN_AS_OF.into(), models: KNOWN.map(price).into() }
    }
}

impl Prices {
    /// None: nobody knows what it costs.
    pub fn of(&self, program: &str, model: Option<&str>) -> Option<Rates> {
        // `openai/gpt-5` is the service and its model.
        let wanted = model.map_or(program, |model| model.rsplit('/').next().unwrap_or(model));
        let fits = |price: &&Price| {
            let rest = wanted.strip_prefix(price.model.as_str());
            rest.is_some_and(|rest| rest.is_empty() || (model.is_some() && rest.starts_with(['-', '@', ':'])))
        };
        let price = self.models.iter().filter(fits).max_by_key(|price| price.model.len())?;
        let micros = |dollars: f64| (dollars.max(0.0) * 1e6).round() as u64;
        Some(Rates {
            input: micros(price.input),
            cached: micros(price.cached.unwrap_or(price.input)),
            output: micros(price.output),
        })
    }
}

impl Rates {
    /// What was used, with its price as an estimate where the program told none.
    pub fn estimated(self, usage: Usage) -> Usage {
        if usage.cost_micros > 0 {
            return usage;
        }
        let cached = usage.cached_tokens.min(usage.input_tokens);
        let parts = [
            (usage.input_tokens - cached, self.input),
            (cached, self.cached),
            (usage.output_tokens, self.output),
        ];
        let sum: u128 = parts.iter().map(|(tokens, rate)| u128::from(*tokens) * u128::from(*rate)).sum();
        let micros = u64::try_from(sum.div_ceil(1_000_000)).unwrap_or(u64::MAX);
        Usage { cost_micros: micros, estimated_micros: micros, ..usage }
    }
}

pub fn check_prices(prices: &[Price]) -> Result<(), String> {
    for price in prices {
        if price.model.trim().is_empty() {
            return Err("one of them names no model".into());
        }
        let all = [Some(price.input), price.cached, Some(price.output)];
        if all.into_iter().flatten().any(|dollars| !dollars.is_finite() || dollars < 0.0) {
            return Err(format!("the price of {} is below nothing", price.model));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn used(input_tokens: u64, cached_tokens: u64, output_tokens: u64) -> Usage {
        Usage { input_tokens, cached_tokens, output_tokens, ..Usage::default() }
    }

    #[test]
    fn tokens_have_the_price_of_their_model_and_what_a_program_tells_stays() {
        let prices = Prices::default();
        let cost = |program: &str, model: Option<&str>, usage| {
            let usage = prices.of(program, model).map(|rates| rates.estimated(usage));
            usage.map(|usage| (usage.cost_micros, usage.estimated_micros))
        };
        let million = used(1_000_000, 400_000, 100_000);
        // 0.6 × 1.25 + 0.4 × 0.125 + 0.1 × 10 dollars.
        assert_eq!(cost("codex", Some("gpt-5"), million), Some((1_800_000, 1_800_000)));
        assert_eq!(cost("codex", Some("openai/gpt-5-2025-08-07"), million), Some((1_800_000, 1_800_000)));
        assert_eq!(cost("codex", Some("gpt-5-mini"), used(0, 0, 1_000_000)), Some((2_000_000, 2_000_000)));
        assert_eq!(cost("codex", Some("gpt-5.4-mini"), used(0, 0, 1_000_000)), Some((4_500_000, 4_500_000)));
        assert_eq!(cost("gemini", None, used(1_000_000, 0, 0)), Some((1_250_000, 1_250_000)));
        assert_eq!(cost("codex", Some("gpt-6"), million), None);
        assert_eq!(cost("opencode", None, million), None);
        // A little is not nothing.
        assert_eq!(cost("codex", Some("gpt-5"), used(1, 0, 0)), Some((2, 2)));
        let told = Usage { cost_micros: 7, ..million };
        assert_eq!(cost("codex", Some("gpt-5"), told), Some((7, 0)));
        // More cached than there was at all, and sums beyond counting.
        assert_eq!(cost("codex", Some("gpt-5"), used(10, 20, 0)), Some((2, 2)));
        let much = used(u64::MAX, 0, u64::MAX);
        assert_eq!(cost("codex", Some("gpt-5"), much).map(|(all, part)| all == part), Some(true));
    }

    #[test]
    fn prices_below_nothing_and_of_nothing_are_refused() {
        let price = |model: &str, input| Price { model: model.into(), input, cached: None, output: 1.0 };
        assert!(check_prices(&Prices::default().models).is_ok());
        assert_eq!(check_prices(&[price("m", -1.0)]), Err("the price of m is below nothing".into()));
        assert_eq!(check_prices(&[price(" ", 1.0)]), Err("one of them names no model".into()));
    }
}
