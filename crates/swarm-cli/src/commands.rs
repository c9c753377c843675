//! The tree of commands is the tree of files: `swarm task block` is `commands/task/block.rs`.

pub mod init;
pub mod plan;
pub mod task;
pub mod phase;
pub mod status;
pub mod tui;
pub mod web;
pub mod mcp;
pub mod cost;
pub mod metrics;
pub mod trace;
pub mod attention;
pub mod handoff;
pub mod run;
pub mod pause;
pub mod resume;
pub mod stop;
pub mod mode;
pub mod quota;
pub mod budget;
pub mod agent;
pub mod worktree;
pub mod reservations;
pub mod restore;
pub mod review;
pub mod checkpoint;
pub mod rollback;
pub mod abort;
pub mod undo;
pub mod redo;
pub mod op;
pub mod hooks;
pub mod close;
pub mod doctor;
pub mod config;
pub mod trust;
pub mod demo;
pub mod completions;
pub mod man;
pub mod debug;
pub mod ask;
pub mod editor;
pub mod operate;
pub mod reason;
pub mod daemon;
pub mod boxed;
pub mod script_agent;
#[cfg(test)]
pub mod printed;

use std::process::ExitCode;

use clap::Subcommand;
use swarm_protocol::command::Answer;

use crate::context::Context;
use crate::error::CliError;
use crate::log::Part;
use crate::output;

#[derive(Debug, Subcommand)]
pub enum Command {
    Init(init::Args),
    #[command(subcommand)]
    Plan(plan::Command),
    #[command(subcommand)]
    Task(task::Command),
    #[command(subcommand)]
    Phase(phase::Command),
    Status(status::Args),
    Tui(tui::Args),
    Web(web::Args),
    Mcp(mcp::Args),
    Cost(cost::Args),
    Metrics(metrics::Args),
    #[command(subcommand)]
    Trace(trace::Command),
    Attention(attention::Args),
    Handoff(handoff::Args),
    #[command(subcommand)]
    Review(review::Command),
    Run(run::Args),
    Pause(pause::Args),
    Resume(resume::Args),
    Stop(stop::Args),
    Mode(mode::Args),
    Quota(quota::Args),
    Budget(budget::Args),
    Reservations(reservations::Args),
    #[command(subcommand)]
    Agent(agent::Command),
    #[command(subcommand)]
    Worktree(worktree::Command),
    Restore(restore::Args),
    #[command(subcommand)]
    Checkpoint(checkpoint::Command),
    Rollback(rollback::Args),
    Abort(abort::Args),
    Undo(undo::Args),
    Redo(redo::Args),
    #[command(subcommand)]
    Op(op::Command),
    #[command(subcommand)]
    Hooks(hooks::Command),
    Close(close::Args),
    Doctor(doctor::Args),
    #[command(subcommand)]
    Config(config::Command),
    Trust(trust::Args),
    Demo(demo::Args),
    Completions(completions::Args),
    Man(man::Args),
    #[command(subcommand)]
    Debug(debug::Command),
    /// Short for `swarm task list`
    #[command(hide = true)]
    Ls(task::list::Args),
    /// Short for `swarm task diff`
    #[command(hide = true)]
    Diff(task::diff::Args),
    /// Short for `swarm agent logs`
    #[command(hide = true, alias = "logs")]
    Log(agent::logs::Args),
    #[command(hide = true)]
    Ask(ask::Args),
    #[command(hide = true)]
    Daemon(daemon::Args),
    #[command(hide = true)]
    Boxed(boxed::Args),
    #[command(hide = true)]
    ScriptAgent(script_agent::Args),
}

impl Command {
    /// A run on a terminal opens its screen, unless what it says is wanted as lines. Decided once, before anything is logged.
    pub fn look_at_terminal(&mut self, lines: bool) {
        if let Self::Run(args) = self {
            args.look_at_terminal(lines);
        }
    }

    /// What this process is for the log, and how much of it is said on stderr. None for the parts that run in an
    /// agent's place: what they say is the agent's.
    pub fn logs(&self, verbose: u8) -> Option<(Part, u8)> {
        match self {
            Self::Run(args) => Some((args.part(), verbose)),
            // Its own answer is longer with the first one.
            Self::Doctor(_) => Some((Part::Command, verbose.saturating_sub(1))),
            // A daemon reads its spec first.
            Self::Daemon(_) | Self::Boxed(_) | Self::ScriptAgent(_) => None,
            _ => Some((Part::Command, verbose)),
        }
    }
}

/// Carries one command out. Most end with 0 or an error; a few have an exit code of their own.
pub fn run(command: Command, cx: &Context) -> Result<ExitCode, CliError> {
    match command {
        Command::Init(args) => init::run(args, cx)?,
        Command::Plan(command) => plan::run(command, cx)?,
        Command::Task(command) => task::run(command, cx)?,
        Command::Phase(command) => phase::run(command, cx)?,
        Command::Status(args) => status::run(args, cx)?,
        Command::Tui(args) => tui::run(&args, cx)?,
        Command::Web(args) => web::run(args, cx)?,
        Command::Mcp(args) => mcp::run(args, cx)?,
        Command::Cost(args) => cost::run(&args, cx)?,
        Command::Metrics(args) => metrics::run(&args, cx)?,
        Command::Trace(command) => trace::run(command, cx)?,
        Command::Attention(args) => attention::run(args, cx)?,
        Command::Handoff(args) => handoff::run(args, cx)?,
        Command::Review(command) => review::run(command, cx)?,
        Command::Run(args) => return run::run(args, cx),
        Command::Pause(args) => pause::run(args, cx)?,
        Command::Resume(args) => resume::run(args, cx)?,
        Command::Stop(args) => stop::run(args, cx)?,
        Command::Mode(args) => mode::run(args, cx)?,
        Command::Quota(args) => quota::run(args, cx)?,
        Command::Budget(args) => budget::run(args, cx)?,
        Command::Reservations(args) => reservations::run(args, cx)?,
        Command::Agent(command) => agent::run(command, cx)?,
        Command::Worktree(command) => worktree::run(command, cx)?,
        Command::Restore(args) => restore::run(args, cx)?,
        Command::Checkpoint(command) => checkpoint::run(command, cx)?,
        Command::Rollback(args) => rollback::run(args, cx)?,
        Command::Abort(args) => abort::run(args, cx)?,
        Command::Undo(args) => undo::run(args, cx)?,
        Command::Redo(args) => redo::run(args, cx)?,
        Command::Op(command) => op::run(command, cx)?,
        Command::Hooks(command) => hooks::run(command, cx)?,
        Command::Close(args) => close::run(args, cx)?,
        Command::Doctor(args) => return doctor::run(args, cx),
        Command::Config(command) => config::run(command, cx)?,
        Command::Trust(args) => trust::run(&args, cx)?,
        Command::Demo(args) => return demo::run(args, cx),
        Command::Completions(args) => completions::run(args, cx)?,
        Command::Man(args) => man::run(args, cx)?,
        Command::Debug(command) => debug::run(command, cx)?,
        Command::Ls(args) => task::list::run(args, cx)?,
        Command::Diff(args) => task::diff::run(args, cx)?,
        Command::Log(args) => agent::logs::run(args, cx)?,
        Command::Ask(args) => ask::run(args, cx)?,
        Command::Daemon(args) => return Ok(daemon::run(args)),
        Command::Boxed(args) => return Ok(boxed::run(&args)),
        Command::ScriptAgent(args) => return Ok(script_agent::run(args)),
    }
    Ok(output::done())
}

/// Prints the answer to a command that changed something; the disk has it by now.
pub fn answered(cx: &Context, answer: &Answer) -> Result<(), CliError> {
    cx.out.view(answer, |answer| output::harmless(&answer.text))
}
