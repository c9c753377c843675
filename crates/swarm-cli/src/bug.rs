//! A panic is a bug of ours. It is said so, with what to send, and ends with its own exit code.
//!
//! But for one: the libraries below us know no other answer than a panic when the machine gives no more threads.

use std::io::Write;
use std::sync::atomic::{AtomicU8, Ordering};

use crate::exit::Exit;

/// How a process ends that is given no thread.
static WITHOUT_THREADS: AtomicU8 = AtomicU8::new(Exit::Environment.code());

/// A process that somebody starts again ends with this code where it is given no thread.
pub fn without_threads(code: u8) {
    WITHOUT_THREADS.store(code, Ordering::Relaxed);
}

/// What tokio and the standard library say then.
fn is_want_of_threads(what: &str) -> bool {
    let thread = what.contains("spawn thread") || what.contains("spawn worker thread");
    thread && (what.contains("os error 11") || what.contains("code: 11"))
}

/// From now on a panic in any thread ends the whole program with code 70.
///
/// Exiting at once is safe: whatever was answered is on disk, and what was not answered may be cut.
pub fn install() {
    std::panic::set_hook(Box::new(|panic| {
        let what = panic.payload_as_str().unwrap_or("no words");
        let place = panic.location().map_or_else(|| "an unknown place".into(), ToString::to_string);
        let mut err = std::io::stderr().lock();
        if is_want_of_threads(what) {
            let _ = writeln!(
                err,
                "Error: Cannot start another thread\n\
                 Caused by: {what}\n\
                 Hint: Everything acknowledged before is safe. Raise the limit of processes (`ulimit -u`, or that of the container), \
                 or end other programs"
            );
            tracing::error!(what, "no more threads: the process ends");
            crate::log::flush();
            std::process::exit(i32::from(WITHOUT_THREADS.load(Ordering::Relaxed)));
        }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_want_of_threads_is_no_bug_and_anything_else_is() {
        assert!(is_want_of_threads(
            "OS can't spawn worker thread: Resource temporarily unavailable (os error 11)"
        ));
        assert!(is_want_of_threads(
            "failed to spawn thread: Os { code: 11, kind: WouldBlock, message: \"Resource temporarily unavailable\" }"
        ));
        assert!(!is_want_of_threads("called `Option::unwrap()` on a `None` value"));
        assert!(!is_want_of_threads("the thread that writes has ended (os error 11)"));
    }
}
