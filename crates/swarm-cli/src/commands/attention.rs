//! `swarm attention`: everything that waits for a person.

use std::fmt::Write;

use swarm_protocol::command::Command;
use swarm_protocol::time::Timestamp;
use swarm_protocol::view::AttentionView;

use crate::commands::operate::{DryRun, intervene, over, shown};
use crate::context::{At, Context};
use crate::error::CliError;
use crate::output::harmless;
use crate::output::paint::{Paint, paint};
use crate::output::time::{length, moment};
use crate::swarm::Swarm;

/// List everything that waits for you
///
/// Each entry says what it is, since when, why, and the commands that resolve it: blocked and failed tasks, agents out of
/// service, used-up quotas and budgets, pauses, kept worktrees. An entry disappears with its cause. Entries about past events
/// stay until `--seen`. Proposals of programs over MCP wait here until `--accept` or `--decline`; an accepted one is carried
/// out exactly as shown, or not at all.
///
/// Example: swarm attention --json
#[derive(Debug, clap::Args)]
pub struct Args {
    #[command(flatten)]
    pub at: At,
    /// Dismiss an entry about a past event; the entry shows its name
    #[arg(long, value_name = "ENTRY", conflicts_with = "at")]
    pub seen: Option<String>,
    /// Accept a proposal of a program; the entry shows its number
    #[arg(long, value_name = "NUMBER", conflicts_with_all = ["at", "seen"])]
    pub accept: Option<u64>,
    /// Decline a proposal of a program
    #[arg(long, value_name = "NUMBER", conflicts_with_all = ["at", "seen", "accept"])]
    pub decline: Option<u64>,
    /// Why it is declined; the program is told
    #[arg(long, requires = "decline")]
    pub reason: Option<String>,
    #[command(flatten)]
    pub dry: DryRun,
}

pub fn run(args: Args, cx: &Context) -> Result<(), CliError> {
    if let Some(entry) = args.seen {
        return intervene(cx, &Swarm::open(cx)?, Command::AcknowledgeAttention { entry }, args.dry);
    }
    if let Some(number) = args.decline {
        let command = Command::DeclineProposal { number, reason: args.reason };
        return intervene(cx, &Swarm::open(cx)?, command, args.dry);
    }
    if let Some(number) = args.accept {
        let (swarm, command) = (Swarm::open(cx)?, Command::AcceptProposal { number });
        return match args.dry.dry_run {
            true => shown(cx, &swarm.preview(&command)?),
            // What is to happen was shown with the entry, and nothing else can.
            false => over(cx, &swarm.operate(command)?),
        };
    }
    let swarm = Swarm::open_unread(cx)?;
    let (list, now) = swarm.attention(args.at.at)?;
    let colour = cx.out.colour;
    cx.out.view(&list, |list| text(list, now, colour))?;
    if args.at.at.is_none() {
        swarm.note_that_nothing_is_recorded();
        swarm.note_that_nothing_moves();
    }
    Ok(())
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
