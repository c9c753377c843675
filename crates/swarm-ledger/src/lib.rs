//! The append-only, hash-chained log of every decision, over a file system trait.
//!
//! One record is one line of JSON that carries its length, its place in the chain and how far the
//! ledger was known to be durable when it was written. From that a reader can tell apart a last
//! batch that was never finished (cut, kept aside) and records that were durable and are gone
//! (repaired from the second copy, or reported). `docs/reference/ledger-format.md` tells a stranger how to
//! check a ledger with ten lines of Python.
//!
//! The crate is synchronous and knows nothing of what the records mean.

pub mod hash;
pub mod frame;
pub mod genesis;
pub mod vfs;
pub mod real_fs;
pub mod paths;
pub mod finding;
pub mod open_error;
mod source;
mod scan;
mod evidence;
pub mod quarantine;
pub mod note;
pub mod recover;
mod repair;
mod missing;
pub mod recovered;
pub mod verify;
pub mod salvage;
pub mod batch;
pub mod intake;
pub mod appender;
mod copy;
pub mod writer;
pub mod ledger;
pub mod payload;
pub mod owner;
pub mod claim;
pub mod locks;
pub mod close;
pub mod planted;

pub use batch::{AppendError, Assigned, Batch, Committed, Done, Fragment, Head};
pub use claim::Claim;
pub use close::{Closed, close};
pub use finding::{Finding, Loss, Mark, Witness};
pub use frame::{Line, parse_line};
pub use hash::Hash;
pub use intake::Room;
pub use ledger::Ledger;
pub use locks::{Acquired, LockError, Ownership, WriterLocks, acquire_for_write, locks_keep_out};
pub use note::LossNote;
pub use open_error::{OpenError, Trace};
pub use owner::OwnerInfo;
pub use paths::LedgerPaths;
pub use real_fs::RealFs;
pub use recover::{Access, Base, OnDamage, Recovery, recover};
pub use recovered::Recovered;
pub use salvage::{Salvaged, salvage};
pub use verify::{CopyState, Verification, verify};
pub use vfs::{Open, Vfs, VfsFile};
pub use writer::{LedgerWriter, create};
