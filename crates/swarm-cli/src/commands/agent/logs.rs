//! `swarm agent logs`: what an agent's program printed.

mod render;
mod tail;

use swarm_agents::journal::{Line, read_from};

use crate::context::Context;
use crate::error::CliError;
use crate::output::Output;
use crate::swarm::Swarm;
use crate::watch::Watch;
use render::Renderer;

/// Lines read at once: each has 64 KiB at most, so this bounds the memory whatever an agent prints.
const PAGE: usize = 64;

/// Show the output of an agent
///
/// For a task or an agent this is the newest run. Output is shortened for reading; `--raw` shows it as printed. Works without a
/// running swarm; `-f` ends when the run does.
///
/// Example: swarm agent logs 1.2 -f
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Task (1.2), agent (ed-001) or run (r17)
    #[arg(value_name = "WHO")]
    pub who: String,
    /// Follow the output
    #[arg(short = 'f', long)]
    pub follow: bool,
    /// Show the output exactly as printed
    #[arg(long)]
    pub raw: bool,
    /// Show only the last N lines (default: all, or 50 with -f)
    #[arg(short = 'n', long, value_name = "N")]
    pub lines: Option<usize>,
}

pub fn run(args: Args, cx: &Context) -> Result<(), CliError> {
    let swarm = Swarm::open(cx)?;
    let run = swarm.run_of(&args.who)?;
    let journal = swarm.journal_of(&run);
    let going_on = run.ended.is_none() && swarm.is_going_on(&run.run);
    if args.follow && !going_on && run.ended.is_none() && !journal.exists() {
        return Err(CliError::no_coordinator(format!("{} is not running and printed nothing", run.run))
            .run_instead("swarm agent list"));
    }
    let unreadable =
        |error| CliError::environment(format!("Cannot read {}", swarm.relative(&journal))).because(error);
    let lines = args.lines.or(args.follow.then_some(50));
    let start = match lines {
        Some(lines) => tail::start_of_last(&journal, lines).map_err(unreadable)?,
        None => 0,
    };
    let mut printer = Printer { out: cx.out, raw: args.raw, renderer: Renderer::new(cx.out.colour) };
    let watch = Watch::folder(swarm.daemons_folder());
    let watch = match journal.parent() {
        Some(folder) => watch.and(folder),
        None => watch,
    };
    let mut cursor = start;
    loop {
        // Asked before the rest is read: what it printed last is not missed.
        let over = !args.follow || !swarm.is_going_on(&run.run);
        loop {
            let page = read_from(&journal, cursor, PAGE).map_err(unreadable)?;
            for line in &page.lines {
                if !printer.print(line)? {
                    return Ok(());
                }
            }
            if page.cursor == cursor {
                break;
            }
            cursor = page.cursor;
        }
        if over {
            return printer.end();
        }
        // An agent may be silent for long; whoever has read enough shall not wait for its next word.
        if !watch.wait_while_read(&std::io::stdout()) {
            return Ok(());
        }
    }
}

struct Printer {
    out: Output,
    raw: bool,
    renderer: Renderer,
}

impl Printer {
    /// False when nobody reads any more.
    fn print(&mut self, line: &Line) -> Result<bool, CliError> {
        if self.out.json {
            let text = serde_json::to_string(line).unwrap_or_default();
            return self.out.stream(&text, "\n");
        }
        if self.raw {
            return self.out.stream(&line.text, if line.more { "" } else { "\n" });
        }
        match self.renderer.line(line) {
            text if text.is_empty() => Ok(true),
            text => self.out.stream(&text, "\n"),
        }
    }

    fn end(&mut self) -> Result<(), CliError> {
        let text = self.renderer.rest();
        if text.is_empty() || self.out.json || self.raw { Ok(()) } else { self.out.text(&text) }
    }
}
