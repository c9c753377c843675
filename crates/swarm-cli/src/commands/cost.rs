//! `swarm cost`.

use clap::ValueEnum;
use swarm_core::spending::{By, CostRow, CostView};
use swarm_protocol::failure::Usage;

use crate::context::{At, Context};
use crate::error::CliError;
use crate::output::money::{spent, tokens};
use crate::output::paint::{Paint, paint};
use crate::output::table::table;
use crate::swarm::Swarm;

/// Show what was spent and what came of it
///
/// By outcome: merged work, attempts that were redone, attempts lost to crashes and failures, work that was rolled back, and
/// what is still under way. The cost of a review counts for the work that it reviews. If a program does not report its cost,
/// the cost is estimated from its tokens and the key `prices`, and shown as `about`; without a price only tokens are counted.
///
/// Example: swarm cost --by task
#[derive(Debug, clap::Args)]
pub struct Args {
    /// What to add up by
    #[arg(long, value_enum, default_value_t)]
    pub by: ByArg,
    #[command(flatten)]
    pub at: At,
}

#[derive(Debug, Clone, Copy, Default, ValueEnum)]
pub enum ByArg {
    Task,
    Agent,
    #[default]
    Outcome,
    Day,
}

impl From<ByArg> for By {
    fn from(by: ByArg) -> Self {
        match by {
            ByArg::Task => Self::Task,
            ByArg::Agent => Self::Agent,
            ByArg::Outcome => Self::Outcome,
            ByArg::Day => Self::Day,
        }
    }
}

pub fn run(args: &Args, cx: &Context) -> Result<(), CliError> {
    let costs = Swarm::open(cx)?.costs(args.by.into(), args.at.at)?;
    cx.out.view(&costs, |costs| text(costs, cx.out.colour))
}

/// Columns of the longest bar.
const BAR: u64 = 24;

/// What a bar is of: money where anybody said what it costs, else tokens.
fn amount(usage: &Usage, money: bool) -> u64 {
    if money { usage.cost_micros } else { usage.input_tokens.saturating_add(usage.output_tokens) }
}

fn text(costs: &CostView, colour: bool) -> String {
    let money = costs.total.cost_micros > 0;
    if amount(&costs.total, money) == 0 {
        return "Nothing was spent, or no program said what it used".into();
    }
    let longest = costs.rows.iter().map(|row| amount(&row.usage, money)).max().unwrap_or(0);
    let all = amount(&costs.total, money);
    let cells = |row: &CostRow| {
        let part = amount(&row.usage, money);
        let share = part.saturating_mul(100).checked_div(all).unwrap_or(0);
        vec![
            row.name.replace('_', " "),
            row.attempts.to_string(),
            spent(&row.usage),
            tokens(&row.usage),
            format!("{share}%"),
            bar(part, longest),
        ]
    };
    let body = table(&["", "attempts", "cost", "tokens", "share", ""], costs.rows.iter().map(cells));
    let body: Vec<String> = body.lines().map(|line| painted(line, colour)).collect();
    let total = format!("Total {}  {}", spent(&costs.total), tokens(&costs.total));
    format!("{}\n{total}", body.join("\n"))
}

/// Eighths of a column, so that small differences are seen too.
fn bar(spent: u64, longest: u64) -> String {
    const EIGHTHS: [char; 8] = ['▏', '▎', '▍', '▌', '▋', '▊', '▉', '█'];
    if spent == 0 || longest == 0 {
        return String::new();
    }
    let eighths = u128::from(spent) * u128::from(BAR) * 8 / u128::from(longest);
    let eighths = usize::try_from(eighths).unwrap_or(0).max(1);
    let mut text = "█".repeat(eighths / 8);
    if eighths % 8 > 0 {
        text.push(EIGHTHS[eighths % 8 - 1]);
    }
    text
}

fn painted(line: &str, colour: bool) -> String {
    let is_bar = |letter: char| ('▏'..='█').contains(&letter) || ('\u{2588}'..='\u{258f}').contains(&letter);
    match line.find(is_bar) {
        Some(at) => format!("{}{}", &line[..at], paint(colour, Paint::Green, &line[at..])),
        None => line.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bars_are_as_long_as_the_share() {
        assert_eq!(bar(10, 10).chars().count(), 24);
        assert_eq!(bar(5, 10).chars().count(), 12);
        assert_eq!(bar(1, 1_000_000), "▏");
        assert_eq!(bar(0, 10), "");
    }

    #[test]
    fn without_colour_there_is_no_escape() {
        let usage = Usage { cost_micros: 1_500_000, ..Usage::default() };
        let row = CostRow { name: "rolled_back".into(), attempts: 1, usage };
        let costs = CostView { total: usage, rows: vec![row] };
        let plain = text(&costs, false);
        assert!(
            plain.contains("rolled back") && plain.contains("$1.50") && !plain.contains('\u{1b}'),
            "{plain}"
        );
        assert!(text(&costs, true).contains("\u{1b}[32m█"));
    }
}
