//! A small stand-in for the binary `swarm`, so that the tests of this crate can start real daemons:
//! `daemon_host daemon --spec FILE`, `daemon_host boxed …` and `daemon_host script-agent`.

use std::path::Path;
use std::process::ExitCode;

fn main() -> ExitCode {
    if std::env::args_os().nth(1).is_some_and(|word| word == "boxed") {
        let args: Vec<_> = std::env::args_os().skip(2).collect();
        return swarm_process::launcher::boxed_process(&args).into();
    }
    let args: Vec<String> = std::env::args().skip(1).collect();
    match args.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["daemon", "--spec", spec] => {
            swarm_server::daemon_process::daemon_process(Path::new(spec), |_| ()).into()
        }
        ["script-agent"] => swarm_agents::script::script_agent_process().into(),
        _ => ExitCode::from(2),
    }
}
