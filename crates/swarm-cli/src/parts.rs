//! The parts that our own binary plays for every program that an agent's daemon starts. They are recognised before
//! the tree of commands is built, which costs more than they do; typed in any other way they are commands like all.

use std::ffi::OsString;
use std::path::Path;
use std::process::ExitCode;

use crate::log;

/// The exit code of the part, if these arguments ask for one.
pub fn play(arguments: &[OsString]) -> Option<ExitCode> {
    match arguments {
        [boxed, words @ ..] if boxed == "boxed" => Some(swarm_process::launcher::boxed_process(words).into()),
        [daemon, spec, file] if daemon == "daemon" && spec == "--spec" => Some(serve_daemon(Path::new(file))),
        _ => None,
    }
}

/// The daemon of one run, with a log of its own.
pub fn serve_daemon(spec: &Path) -> ExitCode {
    let code = swarm_server::daemon_process::daemon_process(spec, log::of_daemon);
    log::flush();
    code.into()
}
