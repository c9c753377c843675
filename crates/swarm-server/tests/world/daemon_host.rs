//! A small stand-in for the binary `swarm`, so that the tests of this crate can start real daemons:
//! `daemon_host daemon --spec FILE` and `daemon_host script-agent`.

use std::path::Path;
use std::process::ExitCode;

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    match args.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["daemon", "--spec", spec] => swarm_server::daemon_process::daemon_process(Path::new(spec)).into(),
        ["script-agent"] => swarm_engine::agents::script::script_agent_process().into(),
        _ => ExitCode::from(2),
    }
}
