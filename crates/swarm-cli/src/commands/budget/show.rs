//! `swarm budget show`.

use swarm_protocol::view::{BudgetView, Budgets};

use crate::context::{At, Context};
use crate::error::CliError;
use crate::output::money::dollars;
use crate::output::table::table;
use crate::output::time::length;
use crate::swarm::Swarm;

/// Show budgets and what is spent
#[derive(Debug, clap::Args)]
pub struct Args {
    #[command(flatten)]
    pub at: At,
}

pub fn run(args: Args, cx: &Context) -> Result<(), CliError> {
    let budgets = Swarm::open(cx)?.budgets(args.at.at)?;
    cx.out.view(&budgets, text)
}

fn text(budgets: &Budgets) -> String {
    if budgets.swarm.is_none() && budgets.tasks.is_empty() {
        return "No budget is set: `budget.session` and `budget.task` in .swarm/config.json".into();
    }
    let whole = budgets.swarm.iter().map(|budget| cells("the swarm".into(), budget));
    let tasks = budgets.tasks.iter().map(|row| cells(row.task.to_string(), &row.budget));
    let mut text = table(&["of", "tokens", "money", "time", ""], whole.chain(tasks));
    if budgets.swarm.as_ref().is_some_and(|budget| budget.spent) {
        text.push_str("\n  swarm budget extend");
    }
    for row in budgets.tasks.iter().filter(|row| row.budget.spent) {
        text.push_str(&format!("\n  swarm budget extend {}", row.task));
    }
    text
}

fn cells(of: String, budget: &BudgetView) -> Vec<String> {
    let part = |used: String, bound: Option<String>| match bound {
        Some(bound) => format!("{used} of {bound}"),
        None => used,
    };
    vec![
        of,
        part(budget.tokens.to_string(), budget.tokens_max.map(|n| n.to_string())),
        part(dollars(budget.cost_micros), budget.cost_micros_max.map(dollars)),
        part(length(budget.secs), budget.secs_max.map(length)),
        if budget.spent { "used up".into() } else { String::new() },
    ]
}
