//! What goes wrong, and at which operation.

use std::io;

/// The kinds of operation, as far as faults tell them apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Op {
    Open,
    Create,
    Read,
    Write,
    SetLen,
    Reserve,
    Sync,
    Rename,
    Remove,
    SyncDir,
    MakeDir,
    List,
    Lock,
    Other,
}

impl Op {
    pub fn changes_the_disk(self) -> bool {
        matches!(
            self,
            Op::Create | Op::Write | Op::SetLen | Op::Reserve | Op::Rename | Op::Remove | Op::MakeDir
        )
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fault {
    /// The next operation that could, answers EIO.
    InputOutput,
    /// The next read answers EIO, once.
    ReadFails,
    /// The next change answers ENOSPC, whatever room there is.
    NoSpace,
    /// The next write or sync is interrupted (reads are taken up again below this seam).
    Interrupted,
    /// The next write takes only some of its bytes.
    ShortWrite,
    /// The next sync fails once; from then on the disk says "fine".
    SyncFails { device_took_it: bool },
    /// The next sync of a directory fails.
    SyncDirFails,
    /// Every change answers EROFS until the disk is made writable again.
    ReadOnly,
    /// The process dies in the middle of this operation; the machine goes on.
    Kill,
    /// The machine loses power in the middle of this operation.
    PowerCut,
}

impl Fault {
    pub fn fits(self, op: Op) -> bool {
        match self {
            Fault::InputOutput => !matches!(op, Op::Lock | Op::Other | Op::Sync | Op::Read),
            Fault::ReadFails => op == Op::Read,
            Fault::NoSpace => matches!(op, Op::Create | Op::Write | Op::Reserve | Op::Rename | Op::MakeDir),
            Fault::Interrupted => matches!(op, Op::Write | Op::Sync),
            Fault::ShortWrite => op == Op::Write,
            Fault::SyncFails { .. } => op == Op::Sync,
            Fault::SyncDirFails => op == Op::SyncDir,
            Fault::ReadOnly | Fault::Kill | Fault::PowerCut => true,
        }
    }
}

/// Faults waiting for their operation.
#[derive(Debug, Clone, Default)]
pub struct FaultPlan {
    /// Each fires once, at the first fitting operation whose index is not below its own.
    pub armed: Vec<(u64, Fault)>,
    pub read_only: bool,
}

impl FaultPlan {
    pub fn take(&mut self, index: u64, op: Op) -> Option<Fault> {
        let place = self.armed.iter().position(|(at, fault)| *at <= index && fault.fits(op))?;
        Some(self.armed.remove(place).1)
    }

    pub fn calm(&mut self) {
        *self = Self::default();
    }
}

pub fn eio() -> io::Error {
    io::Error::from_raw_os_error(5)
}

pub fn enospc() -> io::Error {
    io::ErrorKind::StorageFull.into()
}

pub fn erofs() -> io::Error {
    io::ErrorKind::ReadOnlyFilesystem.into()
}

pub fn eintr() -> io::Error {
    io::ErrorKind::Interrupted.into()
}

/// What a process that is gone gets: nothing it does reaches the disk.
pub fn dead() -> io::Error {
    io::Error::other("this process is gone")
}
