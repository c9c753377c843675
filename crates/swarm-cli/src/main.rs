//! The binary `swarm`: the front end for people and scripts in a terminal.
//!
//! Reading order: the parts we play ourselves (`parts`), what can be typed (`cli`), what each word does (`commands`, one file per command),
//! how a command reaches the ledger or the coordinator (`swarm`), how answers and errors look
//! (`output`, `error`), what is left for support (`log`). There are no rules here: what is allowed is decided in `swarm-core`.

mod parts;
mod cli;
mod commands;
mod context;
mod complete;
mod swarm;
mod watch;
mod output;
mod error;
mod exit;
mod bug;
mod log;
mod topics;
mod purposes;
mod version;

use std::process::ExitCode;

fn main() -> ExitCode {
    bug::install();
    let arguments: Vec<_> = std::env::args_os().skip(1).collect();
    // We play the part that this needs.
    swarm_process::children_end_with_us();
    if let Some(code) = parts::play(&arguments) {
        return code;
    }
    swarm_process::take_room_for_files();
    if let Some(code) = complete::answer() {
        return code;
    }
    if let Some(code) = topics::answer(&arguments).or_else(|| version::answer(&arguments)) {
        return code;
    }
    match cli::parse() {
        Ok(cli) => cli.run(),
        Err(code) => code,
    }
}
