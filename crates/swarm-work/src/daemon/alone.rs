//! One question without a coordinator: a command of a person asks, waits, and goes.

use std::io;

use swarm_protocol::channel::{Answered, FromDaemon};

use super::iteration::ask;
use super::program::StopWish;
use super::run_context::{RunContext, Yield};
use super::spec::DaemonSpec;
use swarm_agents::journal::Journal;
use swarm_process::complain;
use swarm_process::sandbox::remove_tmp;

/// Asks what the spec asks, in the walls and with the clocks of any other run. None: told to stop.
pub async fn ask_alone(
    spec: DaemonSpec,
    timeout_secs: u64,
    stop: &mut StopWish,
) -> io::Result<Option<Answered>> {
    swarm_process::become_reaper()?;
    ask_beside_others(spec, timeout_secs, stop).await
}

/// The same in a process that has other children, as the daemons of runs: what the program leaves behind is ended by its
/// containment and its nonce, and nothing is adopted.
pub async fn ask_beside_others(
    spec: DaemonSpec,
    timeout_secs: u64,
    stop: &mut StopWish,
) -> io::Result<Option<Answered>> {
    let journal = Journal::open(&spec.journal(), spec.journal_max_bytes)?;
    // What is told on the way is for the history of a task, and there is none.
    let (context, _told) = RunContext::new(spec, journal);
    let answer = ask(&context, timeout_secs, stop).await;
    complain("remove the temporary files", remove_tmp(&context.spec.nonce));
    Ok(match answer {
        Yield::Report(FromDaemon::Answered(answered)) => Some(answered),
        _ => None,
    })
}
