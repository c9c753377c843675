//! A panic is a bug of ours. It is said so, with what to send, and ends with its own exit code.

use std::io::Write;

use crate::exit::Exit;

/// From now on a panic in any thread ends the whole program with code 70.
///
/// Exiting at once is safe: whatever was answered is on disk, and what was not answered may be cut.
pub fn install() {
    std::panic::set_hook(Box::new(|panic| {
        let what = panic.payload_as_str().unwrap_or("no words");
        let place = panic.location().map_or_else(|| "an unknown place".into(), ToString::to_string);
        let mut err = std::io::stderr().lock();
        // When stderr is gone there is nobody left to tell.
        let _ = writeln!(
            err,
            "Error: This is a bug in swarm\n\
             Caused by: {what} ({place}, version {version})\n\
             Hint: Everything acknowledged before is safe. Please report these lines, with the ledger .swarm/plan-ledger.jsonl \
             (it holds the plan and its history, no file contents)",
            version = env!("CARGO_PKG_VERSION"),
        );
        tracing::error!(what, %place, "a bug: the process ends");
        crate::log::flush();
        std::process::exit(i32::from(Exit::Bug.code()));
    }));
}
