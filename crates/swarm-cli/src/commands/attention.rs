//! `swarm attention`: everything that waits for a person.

use std::fmt::Write;

use swarm_protocol::command::Command;
use swarm_protocol::time::Timestamp;
use swarm_protocol::view::AttentionView;

use crate::commands::operate::{DryRun, intervene};
use crate::context::{At, Context};
use crate::error::CliError;
use crate::output::harmless;
use crate::output::paint::{Paint, paint};
use crate::output::time::{length, moment};
use crate::swarm::Swarm;

/// List everything that waits for you
///
/// Each entry says what it is, since when, why, and the commands that resolve it: blocked and failed tasks, agents out of service,
/// used-up quotas and budgets, pauses, kept worktrees. An entry disappears with its cause. Entries about past events stay until
/// `--seen`.
///
/// Example: swarm attention --json
#[derive(Debug, clap::Args)]
pub struct Args {
    #[command(flatten)]
    pub at: At,
    /// Dismiss an entry about a past event; the entry shows its name
    #[arg(long, value_name = "ENTRY", conflicts_with = "at")]
    pub seen: Option<String>,
    #[command(flatten)]
    pub dry: DryRun,
}

pub fn run(args: Args, cx: &Context) -> Result<(), CliError> {
    if let Some(entry) = args.seen {
        return intervene(cx, &Swarm::open(cx)?, Command::AcknowledgeAttention { entry }, args.dry);
    }
    let (list, now) = Swarm::open(cx)?.attention(args.at.at)?;
    let colour = cx.out.colour;
    cx.out.view(&list, |list| text(list, now, colour))
}

fn text(list: &[AttentionView], now: Timestamp, colour: bool) -> String {
    if list.is_empty() {
        return "Nothing waits for you".into();
    }
    let mut text = String::new();
    for (at, entry) in list.iter().enumerate() {
        if at > 0 {
            text.push('\n');
        }
        let _ = writeln!(text, "{}", paint(colour, Paint::Bold, &harmless(&entry.what)));
        let since = format!("since {} ({})", moment(entry.since), length(now.secs_since(entry.since)));
        let _ = writeln!(text, "  {}", paint(colour, Paint::Dim, &since));
        for line in entry.why.lines() {
            let _ = writeln!(text, "  {}", harmless(line));
        }
        for command in &entry.commands {
            let _ = writeln!(text, "    {}", harmless(command));
        }
    }
    text
}
