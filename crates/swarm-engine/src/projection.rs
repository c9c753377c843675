//! The plan as files that people and other tools read: made from the ledger, never read back into it.
//!
//! Each file says which record it shows and carries a checksum of itself. One that shows another
//! record is made anew; one that somebody edited is kept beside first, because it holds a wish.

mod stamp;
mod files;
mod import;

pub use files::{Condition, check, conditions, keep_ahead, witnesses, write, write_evidence, write_exports};
pub use import::{ImportSource, find_import};
