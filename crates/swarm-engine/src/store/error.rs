//! What can go wrong between the memory and the disk, for the person who has to act on it.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use swarm_ledger::locks::LockError;
use swarm_ledger::payload::PayloadError;
use swarm_ledger::{AppendError, OpenError, Trace};
use swarm_process::caller::am_i_inside;
use swarm_protocol::refusal::Refusal;

use crate::anchor::ANCHOR;

#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// Not an error of the store: the command is not possible now, and nothing was changed.
    #[error("{}", .0.message())]
    Refused(Refusal),
    #[error("Cannot open the ledger")]
    Open(#[source] OpenError),
    #[error("Cannot get the right to write to the ledger")]
    Lock(#[source] LockError),
    /// The memory was ahead of a disk that is full or read-only; it has been loaded again.
    #[error("Cannot write to the ledger: no room on the disk, or it is read-only")]
    NoRoom(#[source] AppendError),
    /// Nobody knows what the disk has: the process must end with exit code 74.
    #[error("The ledger can no longer be written by this process")]
    Fatal(#[source] AppendError),
    /// The same of what git has written: what was to be recorded next may not be there after a power cut.
    #[error("The disk did not take what git has written")]
    GitSync,
    #[error("The ledger rejected the record")]
    NotTaken(#[source] AppendError),
    #[error("Cannot keep a large part of the record")]
    Payload(#[source] PayloadError),
    #[error("{} belongs to opencode-swarm, which uses another ledger format", .0.display())]
    Foreign(PathBuf),
    #[error("opencode-swarm has written over the ledger that was here: {} still has it", copy.display())]
    WrittenOver { copy: PathBuf },
    /// Nothing was written, nothing is lost.
    #[error("A record of type {kind} could not be read back and is not written: {why}")]
    Unwritable { kind: &'static str, why: String },
    #[error("Cannot understand record {seq} of the ledger: {why}")]
    Unreadable { seq: u64, why: String },
    #[error("There is no record {asked}: the ledger ends at {last}")]
    NoSuchRecord { asked: u64, last: u64 },
    #[error("Cannot import {} from before there was a ledger: {why}", path.display())]
    Migration { path: PathBuf, why: String },
    #[error("Cannot {doing} {}", path.display())]
    Io { doing: &'static str, path: PathBuf, source: std::io::Error },
}

impl StoreError {
    pub(crate) fn io(doing: &'static str, path: &std::path::Path) -> impl FnOnce(std::io::Error) -> Self {
        move |source| Self::Io { doing, path: path.to_path_buf(), source }
    }

    /// Sorts a failed append: room may come back, anything else ends this process or this record.
    pub fn from_append(error: AppendError) -> Self {
        match error {
            AppendError::NoRoom(_) => Self::NoRoom(error),
            error if error.is_final() => Self::Fatal(error),
            error => Self::NotTaken(error),
        }
    }

    /// What to do about it; empty when there is nothing to say.
    pub fn hint(&self) -> String {
        match self {
            Self::Refused(refusal) => refusal.hint(),
            Self::Open(
                OpenError::Io { path, source, .. } | OpenError::ReadOnly { path, source },
            ) if source.kind() == ErrorKind::PermissionDenied => access_hint(path),
            Self::Open(OpenError::Missing { found, .. }) => missing_hint(found),
            Self::Open(error) => open_hint(error).into(),
            Self::Io { path, source, .. } if source.kind() == ErrorKind::PermissionDenied => access_hint(path),
            Self::Lock(LockError::DoorHeld { holder: Some(holder), .. }) if holder.is_stopped() => {
                stopped_hint(holder.pid)
            }
            Self::Lock(LockError::DoorHeld { .. }) => {
                "Run the command again; if it stays so, `swarm status` names who holds it".into()
            }
            Self::Lock(LockError::Io { path, source }) if source.kind() == ErrorKind::PermissionDenied => {
                access_hint(path)
            }
            Self::Lock(LockError::KeepsNobodyOut(_)) => {
                "Keep the repository on a disk of this machine, or mount this one with locks; nothing was changed".into()
            }
            Self::Lock(_) => "Check that .swarm/run can be written".into(),
            Self::NoRoom(_) => {
                "Make room (or make the disk writable), then run the command again; nothing was lost".into()
            }
            Self::Fatal(AppendError::NotOwner(path)) if !path.exists() => {
                "The folder .swarm, or run in it, was removed or moved while the swarm ran. Move it back; without it `swarm plan rebuild` \
                 makes the ledger again from its second copy. Agents stop by themselves; `swarm restore` lists what was saved of their work"
                    .into()
            }
            Self::Fatal(AppendError::NotOwner(_)) => {
                "Nothing more was written. Another coordinator works if `swarm status` says so; never delete .swarm/run \
                 of a running swarm"
                    .into()
            }
            Self::Fatal(_) | Self::GitSync => "Run the command again: it starts from what the disk really has".into(),
            Self::Foreign(_) => "swarm init --import".into(),
            Self::WrittenOver { .. } => {
                "Move .swarm/plan-ledger.jsonl and .swarm/plan.json to another place by hand; the next command \
                 restores the ledger from its second copy"
                    .into()
            }
            Self::Unwritable { .. } => "This is a bug of swarm; everything before it is safe".into(),
            Self::Unreadable { .. } => "It may be written by a newer version of swarm: use that one".into(),
            Self::NoSuchRecord { .. } => "swarm plan history".into(),
            Self::Migration { .. } => {
                "Repair the file, or move it aside and save a plan with `swarm plan save FILE`".into()
            }
            Self::NotTaken(_) | Self::Payload(_) | Self::Io { .. } => String::new(),
        }
    }

    /// The exit code of a command that ends with it.
    pub fn exit_code(&self) -> u8 {
        match self {
            Self::Refused(_) => 1,
            Self::Fatal(_) | Self::GitSync => 74,
            _ => 3,
        }
    }
}

/// For whoever is kept from a file.
pub fn access_hint(path: &Path) -> String {
    match am_i_inside() {
        Some(_) => walls_hint(path),
        None => rights_hint(path),
    }
}

/// For an agent: nothing is wrong with the file, and nobody is to change its rights.
fn walls_hint(path: &Path) -> String {
    let mut hint = "The walls around this attempt keep it from there, and no command opens them".to_owned();
    if let Some(swarm) = path.ancestors().find(|place| place.ends_with(".swarm")) {
        let socket = swarm.join("run").join("coordinator.sock");
        let ask = format!("curl -s --unix-socket '{}' http://swarm/v1/status", socket.display());
        hint.push_str(&format!("; the coordinator tells what an agent may see: `{ask}`"));
    }
    hint
}

/// For a person whom the file system keeps from a file: the command that gives it back to them.
fn rights_hint(path: &Path) -> String {
    let path = path.display();
    format!(
        "Make it yours to read and write: `chmod u+rw '{path}'`; if another user owns it or its folder, \
         `sudo chown \"$USER\" '{path}'` (`ls -ld` of both says who)"
    )
}

/// For a second copy of the ledger that could not be written. Of a full disk the failure itself says enough.
pub(super) fn copy_hint(copy: &Path) -> String {
    use ErrorKind::{NotFound, PermissionDenied, ReadOnlyFilesystem};
    match std::fs::OpenOptions::new().read(true).write(true).open(copy).map_err(|error| error.kind()) {
        Err(PermissionDenied) => access_hint(copy),
        Ok(_) | Err(NotFound | ReadOnlyFilesystem) => String::new(),
        Err(_) => format!("Move {} aside; the next command makes it anew from the ledger", copy.display()),
    }
}

/// For a person who finds the ledger in the executors of a process that a signal has stopped.
pub fn stopped_hint(pid: u32) -> String {
    format!(
        "Let it go on with `kill -CONT {pid}`, or end it with `kill -KILL {pid}`; then run the command again"
    )
}

/// What still knows of it is moved too where a person gives the ledger up: otherwise the next command refuses as this one did.
fn missing_hint(found: &[Trace]) -> String {
    let anchored = found.iter().any(|trace| matches!(trace, Trace::Witness(known) if known.source == ANCHOR));
    let anchor = if anchored { format!(", run `git update-ref -d {ANCHOR}`") } else { String::new() };
    format!(
        "The ledger is missing and must not be made anew over what is left. Put .swarm/plan-ledger.jsonl back \
         from a backup; or, to give it up, move .swarm and the folder swarm of the git directory aside{anchor}, then \
         `swarm plan import` the plan.json of the folder that you moved, or an export of the plan"
    )
}

fn open_hint(error: &OpenError) -> &'static str {
    match error {
        OpenError::NothingValid(_) | OpenError::Empty(_) => {
            "`swarm plan salvage --dry-run` lists the records that can still be read. Put .swarm/plan-ledger.jsonl back \
             from a backup; or, to give it up, move .swarm and the folder swarm of the git directory aside, then \
             `swarm plan import` the plan.json of the folder that you moved, or an export of the plan"
        }
        OpenError::NewerFormat { .. } => "Use the newer version of swarm that wrote it; nothing was touched",
        OpenError::AnotherLedger { .. } => {
            "Two swarms got mixed: put the ledger that belongs here back, or move the foreign file aside"
        }
        OpenError::ReadOnly { .. } => "Make the file and its folder writable; reading works meanwhile",
        OpenError::ReadOnlyUntilSalvage(_) => "swarm plan salvage",
        OpenError::Unstable(_) | OpenError::SyncFailed { .. } => "Check the disk, then run the command again",
        _ => "",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_person_is_told_to_change_the_rights_and_an_agent_is_not() {
        let file = Path::new("/repo/.swarm/plan-ledger.jsonl");
        assert!(rights_hint(file).contains("chmod u+rw '/repo/.swarm/plan-ledger.jsonl'"));
        let told = walls_hint(file);
        assert!(
            told.contains("--unix-socket '/repo/.swarm/run/coordinator.sock'") && !told.contains("chmod"),
            "{told}"
        );
        assert!(!walls_hint(Path::new("/elsewhere/file")).contains("curl"));
    }
}
