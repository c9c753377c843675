//! The attacker: one process behind the walls. Ends with 0 when it got what it wanted, and says what stopped it otherwise.

mod calls;
mod files;
mod others;

use std::io;
use std::path::PathBuf;
use std::process::ExitCode;

use serde::{Deserialize, Serialize};

/// In variables of whoever started the daemon.
pub const SECRET: &str = "a secret of the person";
pub const SECRET_VARIABLES: [&str; 3] = ["SSH_AUTH_SOCK", "DBUS_SESSION_BUS_ADDRESS", "GITHUB_TOKEN"];

/// Whoever started the daemon left these open: a file of the person's to be written, and the folder with the keys.
pub const OPEN_FILE: i32 = 700;
pub const OPEN_FOLDER: i32 = 701;

/// Files in the worktree: at the first the person writes new log-ins, and says so by the second.
pub const ASKS: &str = "asks";
pub const ANSWERED: &str = "answered";

/// What it knows. An agent can find all of it out.
#[derive(Debug, Serialize, Deserialize)]
pub struct Field {
    pub home: PathBuf,
    /// A home of which things are made while the attacker runs.
    pub later: PathBuf,
    pub repo: PathBuf,
    pub worktree: PathBuf,
    pub in_tmp: PathBuf,
    pub terminal: PathBuf,
    #[serde(rename = "abstract")]
    pub abstract_name: String,
    pub tcp: u16,
    pub udp: u16,
    pub victim: i32,
    pub daemon: i32,
    pub memory: i32,
    pub shm: PathBuf,
    /// Where the victim has something in its memory.
    pub address: usize,
    /// By what a file system knows the person's key: numbers that can be guessed.
    pub handle: Vec<u32>,
    /// Belongs to root, and whoever runs it is root.
    pub rooted: PathBuf,
}

/// A folder whose files are executed at times, where this machine has one.
pub fn started_at_times() -> PathBuf {
    let all = ["/var/spool/cron", "/etc/cron.d", "/etc/profile.d"].map(PathBuf::from);
    all.iter().find(|place| place.is_dir()).unwrap_or(&all[0]).clone()
}

pub fn play(name: &str, field: &str) -> ExitCode {
    match name {
        // The second word marks it for whoever looks for it.
        "linger-on" => others::linger_on(),
        "rights" => return if calls::has_rights() { ExitCode::SUCCESS } else { ExitCode::from(1) },
        _ => {}
    }
    let Ok(field) = serde_json::from_str::<Field>(field) else { return ExitCode::from(3) };
    let done = files::attack(name, &field)
        .or_else(|| others::attack(name, &field))
        .or_else(|| calls::attack(name, &field));
    match done {
        Some(Ok(())) => {
            println!("done");
            ExitCode::SUCCESS
        }
        Some(Err(error)) => {
            println!("{error}");
            ExitCode::from(1)
        }
        None => {
            println!("an unknown attack");
            ExitCode::SUCCESS
        }
    }
}

/// What a system call answered.
pub fn checked(answer: i64) -> io::Result<()> {
    if answer < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
}

/// A call by its number.
macro_rules! call {
    ($number:expr $(, $argument:expr)* $(,)?) => {
        // SAFETY: the arguments are numbers, or pointers to what lives through the call.
        $crate::attacker::checked(unsafe { libc::syscall($number $(, $argument)*) })
    };
}
pub(crate) use call;

pub fn text_of(path: &std::path::Path) -> std::ffi::CString {
    std::ffi::CString::new(path.to_string_lossy().into_owned()).expect("no zero in it")
}
