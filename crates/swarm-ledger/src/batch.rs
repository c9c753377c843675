//! What is appended, and what is answered.

use std::io;
use std::path::PathBuf;

use crate::frame::{BODY_MAX, TS_MAX};
use crate::hash::Hash;

/// One record as the caller wrote it: its JSON members from `"type":…` through `"by":…`, without
/// braces. The ledger puts its own members around them and never serialises anything again.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fragment {
    pub body: String,
}

impl Fragment {
    pub fn new(body: impl Into<String>) -> Self {
        Self { body: body.into() }
    }

    /// The first record of a ledger: names the ledger and the format before the caller's members.
    pub fn first(ledger_id: &str, body: &str) -> Self {
        let id = serde_json::to_string(ledger_id).expect("a string is JSON");
        Self { body: format!("\"ledgerId\":{id},\"format\":{},{body}", crate::genesis::FORMAT) }
    }
}

/// The events of one decision: written whole or not at all.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Batch {
    pub fragments: Vec<Fragment>,
    /// For people; never decides anything.
    pub ts: String,
    /// One-shot writers use the ledger's current epoch; a coordinator starts with a higher one.
    pub epoch: u64,
    /// May use the room kept back for the time when the disk is full.
    pub emergency: bool,
}

impl Batch {
    pub fn new(fragments: Vec<Fragment>, ts: impl Into<String>, epoch: u64) -> Self {
        Self { fragments, ts: ts.into(), epoch, emergency: false }
    }

    /// Bytes it will take in the file, at most.
    pub fn bytes_max(&self) -> usize {
        self.fragments.iter().map(|f| f.body.len() + 512).sum()
    }

    /// What the format cannot hold is refused before a seq is given out.
    pub fn check(&self) -> Result<(), AppendError> {
        let bad = |why: &str| Err(AppendError::BadRecord(why.to_owned()));
        if self.fragments.is_empty() {
            return bad("a batch without records");
        }
        if self.ts.len() > TS_MAX
            || self.ts.bytes().any(|b| !(b' '..0x7f).contains(&b) || b == b'"' || b == b'\\')
        {
            return bad("a time that is not plain text of at most 64 bytes");
        }
        for Fragment { body } in &self.fragments {
            if body.len() > BODY_MAX {
                return Err(AppendError::TooLarge { bytes: body.len(), most: BODY_MAX });
            }
            if body.bytes().any(|b| b < b' ') {
                return bad("a raw control byte");
            }
            if serde_json::from_str::<Object>(&format!("{{{body}}}")).is_err() || !body.starts_with('"') {
                return bad("a body that is not the members of a JSON object");
            }
        }
        Ok(())
    }
}

/// Accepts any JSON object and keeps nothing of it.
struct Object;

impl<'de> serde::Deserialize<'de> for Object {
    fn deserialize<D: serde::Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct Members;
        impl<'de> serde::de::Visitor<'de> for Members {
            type Value = Object;
            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("an object")
            }
            fn visit_map<A: serde::de::MapAccess<'de>>(self, mut map: A) -> Result<Object, A::Error> {
                while map.next_entry::<serde::de::IgnoredAny, serde::de::IgnoredAny>()?.is_some() {}
                Ok(Object)
            }
        }
        from.deserialize_map(Members)
    }
}

/// A place on the chain: a record and where its line starts and ends in the file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Head {
    pub seq: u64,
    pub hash: Hash,
    /// Where the line of `seq` starts.
    pub offset: u64,
    /// Where the next line will start.
    pub end: u64,
}

/// The seqs a batch will have when it is durable.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Assigned {
    pub first_seq: u64,
    pub last_seq: u64,
}

/// A durable batch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Committed {
    pub first_seq: u64,
    pub last_seq: u64,
    /// The last record: its seq, hash and place.
    pub head: Head,
    pub bytes: u64,
}

/// Called once, on the writer's thread: keep it short, and never append from inside it.
pub type Done = Box<dyn FnOnce(Result<Committed, AppendError>) + Send>;

/// Why a batch is not in the ledger.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum AppendError {
    #[error("Cannot write to the ledger: no room on the disk, or it is read-only ({0})")]
    NoRoom(String),
    #[error(
        "Cannot make the ledger durable: {0}; this process must end, the next one recovers from the disk"
    )]
    SyncFailed(String),
    #[error("Cannot write to the ledger: {0}")]
    WriteFailed(String),
    #[error("Another writer changed {}: it has {found} bytes, we wrote {expected}", path.display())]
    ForeignWriter { path: PathBuf, expected: u64, found: u64 },
    #[error("{} is no longer the file we opened: it was replaced or removed", .0.display())]
    Replaced(PathBuf),
    #[error("This process no longer owns the ledger: {} was replaced or removed, another one may write", .0.display())]
    NotOwner(PathBuf),
    #[error("Epoch {given} is over: the ledger is at epoch {current}")]
    StaleEpoch { given: u64, current: u64 },
    #[error("A record of {bytes} bytes is above the limit of {most}: large payloads belong in ledger-files")]
    TooLarge { bytes: usize, most: usize },
    #[error("A record cannot be written: {0}")]
    BadRecord(String),
    #[error("The ledger is closed")]
    Closed,
}

impl AppendError {
    /// Nothing can be appended any more through this handle: the process ends and recovers.
    pub fn is_final(&self) -> bool {
        matches!(
            self,
            Self::SyncFailed(_)
                | Self::WriteFailed(_)
                | Self::ForeignWriter { .. }
                | Self::Replaced(_)
                | Self::NotOwner(_)
                | Self::Closed
        )
    }

    /// Sorts a failed write: a disk without room can get room again, anything else is final.
    pub(crate) fn from_write(error: &io::Error) -> Self {
        use io::ErrorKind::{QuotaExceeded, ReadOnlyFilesystem, StorageFull, WriteZero};
        match error.kind() {
            StorageFull | QuotaExceeded | ReadOnlyFilesystem | WriteZero => Self::NoRoom(error.to_string()),
            _ => Self::WriteFailed(error.to_string()),
        }
    }
}
