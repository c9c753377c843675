//! Mounts of our own: a test that needs some runs again in a mount namespace where nobody else sees them.
//!
//! Otherwise a sandbox that somebody starts meanwhile would pin the mount, and the next one would silently be the
//! dead file system of before.

use std::process::Command;

const INSIDE: &str = "SWARM_TEST_INSIDE_NAMESPACE";

/// Where a test stands.
pub enum Standing {
    /// In a namespace of its own: go on.
    Inside,
    /// The test ran in one, and was good.
    Done,
    /// This machine does not let us, and why.
    NotHere(String),
}

/// Runs the named test (its whole path) again in a namespace of its own. A failure in there is a failure here.
pub fn enter(test: &str) -> Standing {
    if std::env::var_os(INSIDE).is_some() {
        return Standing::Inside;
    }
    if let Err(why) = allowed() {
        return Standing::NotHere(why);
    }
    let status = Command::new("unshare")
        .args(["-m", "--propagation", "private"])
        .arg(std::env::current_exe().expect("a test program has a path"))
        .args(["--exact", test, "--include-ignored", "--nocapture", "--test-threads=1"])
        .env(INSIDE, "1")
        .status()
        .expect("unshare was there a moment ago");
    assert!(status.success(), "{test} failed in its namespace");
    Standing::Done
}

fn allowed() -> Result<(), String> {
    let script =
        "mount -t tmpfs none /mnt && ls /dev/loop-control >/dev/null && command -v mkfs.ext4 >/dev/null";
    let tried = Command::new("unshare").args(["-m", "--propagation", "private", "sh", "-c", script]).output();
    match tried {
        Ok(output) if output.status.success() => Ok(()),
        Ok(output) => {
            let said = String::from_utf8_lossy(&output.stderr).trim().replace('\n', "; ");
            Err(format!("file systems cannot be mounted in a namespace ({said})"))
        }
        Err(error) => Err(format!("unshare cannot be started ({error})")),
    }
}

/// Says loudly what was not proven on this machine, and why.
pub fn not_proven(what: &str, why: &str) {
    eprintln!("\n*** NOT PROVEN ON THIS MACHINE: {what}\n*** because {why}\n");
}
