//! The swarm's memory: the state in this process and the ledger on disk, kept in step.
//!
//! A reader takes no lock and writes nothing. A writer holds the locks; it decides in memory, hands
//! the events to the ledger's writer thread, and nothing it decided leaves the process before the
//! disk has it. Snapshots and projections are derived: losing one costs time, never truth.

mod error;
mod options;
mod snapshot;
mod load;
mod witnesses;
mod absent;
mod aside;
pub mod planted;
mod reader;
mod ticket;
mod writer;
mod claim;
mod submit;
mod encode;
mod found;
mod upkeep;
mod closing;
mod gitignore;
mod salvage;
mod verify;

pub use crate::notice::Notice;
pub use crate::replace::replace;
pub use aside::{foreign_plan, is_foreign_file, move_foreign_aside, moved_plan};
pub use claim::LedgerClaim;
pub use closing::{Archived, archived};
pub use error::{StoreError, access_hint, stopped_hint};
pub use gitignore::ensure_ignored;
pub use options::OpenOptions;
pub use reader::Reading;
pub use salvage::{Salvage, SalvageItem};
pub(crate) use snapshot::is_as_written;
pub use submit::Decided;
pub use ticket::Ticket;
pub use verify::Report as VerifyReport;
pub use writer::{Opened, Store};
