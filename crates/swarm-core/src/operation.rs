//! Operations: interventions as records that can be previewed, taken back and brought back.
//!
//! A state-only operation is one batch of events that ends in `operation`, which names every fact it
//! changed. One that moves git as well has stages of its own (`state/operations.rs`): asked,
//! quiet, planned, saved, moved, finished. Each stage is a promise: what is owed is read off it, so
//! that a death anywhere is finished by whoever comes next.

mod another_trunk;
mod taking_back;
pub mod checkpoints;
mod conflicts;
mod resolver;
pub mod facts;
pub mod goes_on;
pub mod machine;
pub mod plan;
pub mod restore;
mod since;
pub mod stays;
pub mod trunk;
pub mod undo;
mod undoing;

pub use crate::state::operations::{Operations, Record, Running, Step};
pub use crate::state::saved::{self, differing, saved};
pub use another_trunk::{changes_trunk, merged_into_another, moved_another, nobody_works, on_this_trunk};
pub use conflicts::{conflicts, three_sides};
pub use plan::{ask, hash, merged_itself, plan};
pub use resolver::resolver;
