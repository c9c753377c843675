//! How long each group of tests may take, and how long it took.
//!
//! A group over its budget is a warning and never a failure: machines differ, and a red run must mean
//! a broken product. The table is where slow growth is seen before it hurts.

use std::time::Duration;

use super::outcome::Outcome;

/// Seconds by the beginning of a group's name; the longest that fits counts.
const BUDGETS_SECS: &[(&str, u64)] = &[
    ("check", 240),
    ("build", 480),
    ("swarm-protocol", 20),
    ("swarm-core", 90),
    ("swarm-ledger", 180),
    ("swarm-sim", 300),
    ("swarm-engine", 240),
    ("swarm-git", 20),
    ("swarm-work", 20),
    ("swarm-server", 30),
    ("swarm-cli", 420),
    ("swarm-cli::stories", 90),
    ("swarm-web", 30),
    ("pages", 60),
    ("browser", 180),
    ("xtask", 20),
];

/// For a group nobody has thought about yet.
const BUDGET_OTHER_SECS: u64 = 60;

/// The whole command, cold, on two cores.
const BUDGET_ALL_SECS: u64 = 15 * 60;

pub fn print_table(steps: &[(&'static str, Duration)], outcome: &Outcome, total: Duration) {
    println!("\nTime by group (of tests: the sum of their own times)\n");
    println!("{:<44} {:>9} {:>9}  verdict", "group", "budget", "took");
    for (step, took) in steps {
        print_row(step, budget_secs(step), *took);
    }
    for (group, took) in &outcome.groups {
        print_row(group, budget_secs(group), *took);
    }
    print_row("everything", BUDGET_ALL_SECS, total);
    for test in &outcome.leaky {
        println!("warning: {test} left a process behind");
    }
}

fn print_row(group: &str, budget_secs: u64, took: Duration) {
    println!("{}", row(group, budget_secs, took));
}

fn row(group: &str, budget_secs: u64, took: Duration) -> String {
    let within = took <= Duration::from_secs(budget_secs);
    let verdict = if within { "within" } else { "warning: over its budget" };
    format!(
        "{group:<44} {:>9} {:>9}  {verdict}",
        format!("{budget_secs} s"),
        format!("{:.1} s", took.as_secs_f64())
    )
}

fn budget_secs(group: &str) -> u64 {
    let fitting = BUDGETS_SECS.iter().filter(|(beginning, _)| group.starts_with(beginning));
    fitting.max_by_key(|(beginning, _)| beginning.len()).map_or(BUDGET_OTHER_SECS, |(_, secs)| *secs)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_group_over_its_budget_is_a_warning() {
        assert!(row("x", 10, Duration::from_secs(10)).ends_with("within"));
        assert!(row("x", 10, Duration::from_millis(10_100)).ends_with("warning: over its budget"));
    }

    #[test]
    fn the_longest_beginning_decides() {
        assert_eq!(budget_secs("swarm-ledger::damage"), 180);
        assert_eq!(budget_secs("something-new"), BUDGET_OTHER_SECS);
    }
}
