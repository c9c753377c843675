//! Children that end with us, also when we are killed.
//!
//! A process can ask the kernel to be ended with its parent, but only for itself. So our own executable is started first,
//! asks, and becomes the program: the wish outlives that. Only the binary of the product can play this part; where
//! another one runs this code, children are started as they are.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::Read;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};

use rustix::fs::{Access, access};
use rustix::process::{Signal, getppid, set_parent_process_death_signal};

use super::identity::pid_in_proc;
use super::launcher::EXIT_NOT_BOXED;

/// The word that tells the part: `swarm boxed bound PARENT PROGRAM NAME [ARG…]`.
pub(super) const BOUND: &str = "bound";

/// The very file that is running, also after it was replaced by an update.
const OURSELVES: &str = "/proc/self/exe";

/// The kernel reads no more of the first line of a script.
const FIRST_LINE_MAX: u64 = 256;

static PLAYED_BY_OURSELVES: AtomicBool = AtomicBool::new(false);

/// From now on children that are waited for end with this process. To be called by a binary that plays `boxed`.
pub fn children_end_with_us() {
    PLAYED_BY_OURSELVES.store(true, Ordering::Relaxed);
}

/// Whether this executable can be started again as a launcher: another one would do something else with those words.
pub fn plays_the_launcher() -> bool {
    PLAYED_BY_OURSELVES.load(Ordering::Relaxed)
}

/// The command line that starts this program bound to us; none where it cannot be.
pub(super) fn bound(found: Option<&Path>, program: &OsStr) -> Option<(&'static Path, Vec<OsString>)> {
    if !plays_the_launcher() {
        return None;
    }
    let found = found.or_else(|| Some(Path::new(program)).filter(|path| path.is_absolute()))?;
    // Whatever keeps it from being executed is told best by its own start.
    if !can_be_executed(found) || !Path::new(OURSELVES).exists() {
        return None;
    }
    let parent = pid_in_proc().to_string();
    let words = [OsStr::new("boxed"), OsStr::new(BOUND), OsStr::new(&parent), found.as_os_str(), program];
    Some((Path::new(OURSELVES), words.map(OsStr::to_owned).to_vec()))
}

/// A program of the machine, or a script whose interpreter is there.
fn can_be_executed(file: &Path) -> bool {
    let mut begin = Vec::new();
    let read = File::open(file).and_then(|file| file.take(FIRST_LINE_MAX).read_to_end(&mut begin));
    if read.is_err() || access(file, Access::EXEC_OK).is_err() {
        return false;
    }
    match begin.strip_prefix(b"#!") {
        None => begin.starts_with(b"\x7fELF"),
        Some(line) => {
            let line = line.split(|byte| *byte == b'\n').next().unwrap_or_default().trim_ascii_start();
            let interpreter = line.split(u8::is_ascii_whitespace).next().unwrap_or_default();
            Path::new(OsStr::from_bytes(interpreter)).is_file()
        }
    }
}

/// The part itself. Comes back only if it could not become the program.
pub(super) fn become_bound(args: &[OsString]) -> u8 {
    let [parent, program, name, args @ ..] = args else { return EXIT_NOT_BOXED };
    let _ = set_parent_process_death_signal(Some(Signal::KILL));
    // Whoever started us may have died before that was said; then nobody waits for the program.
    let parent_now = getppid().map(|pid| pid.as_raw_nonzero().get().to_string());
    if parent.to_str() != parent_now.as_deref() && !in_another_namespace() {
        return EXIT_NOT_BOXED;
    }
    let error = Command::new(program).arg0(name).args(args).exec();
    eprintln!("Cannot start {}: {error}", program.display());
    EXIT_NOT_BOXED
}

/// Where `/proc` belongs to those outside, numbers in it are not the ones that we know each other by.
fn in_another_namespace() -> bool {
    pid_in_proc() != std::process::id()
}
