//! What opening or keeping the ledger found out of order, for the caller to record and to show.

use std::fmt;
use std::path::PathBuf;

use crate::hash::Hash;

/// A record, named.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Mark {
    pub seq: u64,
    pub hash: Hash,
}

/// Somebody outside the ledger file who remembers how far it reached: a snapshot, a git ref, a
/// daemon's record.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Witness {
    pub seq: u64,
    pub hash: Option<Hash>,
    /// Which ledger it speaks of, where it knows.
    pub ledger_id: Option<String>,
    /// For people, e.g. `state/snapshot.json` or `refs/swarm/ledger`.
    pub source: String,
}

/// Records that were durable and cannot be brought back by the ledger itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Loss {
    pub last_good: Mark,
    /// The first and the last record found behind the damage that are whole by themselves.
    pub next_valid: Option<Mark>,
    pub last_valid: Option<Mark>,
    /// Highest seq anybody knows of, and who.
    pub known_seq: u64,
    pub known_by: String,
    /// Bytes behind the last good record, and where they were moved (nothing yet when only read).
    pub bytes: u64,
    pub quarantine: Vec<PathBuf>,
    /// SHA-256 of the first quarantine file.
    pub quarantine_hash: Option<Hash>,
}

impl Loss {
    /// Nothing of the records is left in either file: they were cut off where a batch ends.
    pub fn is_cut(&self) -> bool {
        self.bytes == 0 && self.next_valid.is_none()
    }

    /// The last record that is known to be gone or behind the damage.
    pub fn last_seq(&self) -> u64 {
        self.last_valid.map_or(self.known_seq, |last| last.seq.max(self.known_seq))
    }

    fn missing(&self) -> String {
        match (self.last_good.seq + 1, self.last_seq()) {
            (first, last) if first < last => format!("records {first} to {last} are"),
            (first, _) => format!("record {first} is"),
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Finding {
    /// The last batch had not been finished when the writer ended; it was never answered.
    TornTail { after: Mark, bytes: u64, quarantine: PathBuf },
    /// A reader met a last batch that is not whole: it is being written now.
    BeingWritten { after: Mark, bytes: u64 },
    /// Damaged bytes were put back from the second copy; nothing is lost.
    Repaired { first_seq: u64, last_seq: u64, bytes: u64, quarantine: Option<PathBuf> },
    /// A reader met damage that the next writer will put back from the second copy.
    Repairable { first_seq: u64, last_seq: u64 },
    /// The ledger file was gone and has been restored from the second copy.
    RestoredFromCopy { last: Mark },
    /// The ledger file is gone; a reader was served from the second copy.
    ReadFromCopy { last: Mark },
    /// Damage that was not touched: reading only, or a person is to be asked.
    Damage(Loss),
    /// Damage: the records behind it were moved to quarantine.
    Loss(Loss),
    /// The first record is damaged in both files; the ledger is read from behind the record of a snapshot.
    StartDamaged { base: u64 },
    /// A witness remembers another record under this seq.
    WitnessDisagrees { witness: Witness, here: Hash },
    /// A record of an older epoch stands behind one of a newer epoch.
    EpochFell { seq: u64 },
    /// The second copy differed and was made anew from `from_offset` on.
    CopyRebuilt { from_offset: u64, quarantine: Option<PathBuf> },
    /// The second copy could not be written; the ledger itself is fine.
    CopyFailed { why: String },
    /// The second copy is complete again.
    CopyCaughtUp,
    /// Whether this file notes a loss is not known.
    QuarantineUnreadable { path: PathBuf, why: String },
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TornTail { after, bytes, quarantine } => write!(
                f,
                "The last batch after record {} was unfinished: its {bytes} bytes are kept in {}",
                after.seq,
                quarantine.display()
            ),
            Self::BeingWritten { after, .. } => {
                write!(f, "A batch after record {} is being written", after.seq)
            }
            Self::Repaired { first_seq, last_seq, .. } => {
                write!(
                    f,
                    "Records {first_seq} to {last_seq} were damaged and have been repaired from the second copy"
                )
            }
            Self::Repairable { first_seq, last_seq } => {
                write!(
                    f,
                    "Records {first_seq} to {last_seq} are damaged; the next write repairs them from the second copy"
                )
            }
            Self::RestoredFromCopy { last } => {
                write!(
                    f,
                    "The ledger was gone and has been restored from the second copy up to record {}",
                    last.seq
                )
            }
            Self::ReadFromCopy { last } => {
                write!(f, "The ledger is gone; this was read from the second copy, up to record {}", last.seq)
            }
            Self::Damage(loss) | Self::Loss(loss) if loss.is_cut() => write!(
                f,
                "The ledger ends at record {}, but {} knows of record {}: {} missing",
                loss.last_good.seq,
                loss.known_by,
                loss.known_seq,
                loss.missing()
            ),
            Self::Damage(loss) => write!(
                f,
                "The ledger is damaged after record {}: {} knows of record {}",
                loss.last_good.seq, loss.known_by, loss.known_seq
            ),
            Self::Loss(loss) => write!(
                f,
                "The ledger was damaged after record {} ({} knows of record {}): {} bytes were moved to quarantine",
                loss.last_good.seq, loss.known_by, loss.known_seq, loss.bytes
            ),
            Self::StartDamaged { base } => write!(
                f,
                "The first record of the ledger is damaged in both copies; everything up to record {base} is known \
                 from the snapshot alone"
            ),
            Self::WitnessDisagrees { witness, .. } => {
                write!(f, "{} remembers another record {}", witness.source, witness.seq)
            }
            Self::EpochFell { seq } => {
                write!(f, "Record {seq} was written by a coordinator of an older epoch")
            }
            Self::CopyRebuilt { from_offset, .. } => {
                write!(f, "The second copy differed and was made anew from byte {from_offset} on")
            }
            Self::CopyFailed { why } => {
                write!(f, "The second copy of the ledger could not be written: {why}")
            }
            Self::CopyCaughtUp => write!(f, "The second copy of the ledger is complete again"),
            Self::QuarantineUnreadable { path, why } => {
                write!(f, "The quarantine file {} cannot be read: {why}", path.display())
            }
        }
    }
}
