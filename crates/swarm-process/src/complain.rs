//! What went wrong and does not stop us.

use std::io::Write;

/// Says on stderr what did not work: a daemon's is its log, a coordinator's the person's terminal or its log.
pub fn complain<T, E: std::fmt::Display>(what: &str, result: Result<T, E>) {
    if let Err(error) = result {
        tracing::warn!(%error, "cannot {what}");
        // Not `eprintln!`: the log may lie on a full disk, and that must not end us.
        let _ = writeln!(std::io::stderr(), "Cannot {what}: {error}");
    }
}
