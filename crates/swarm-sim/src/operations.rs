//! Interventions in a pretend world: every operation in every situation, killed at every seam, undone
//! and compared with what git (a model of it) and the plan were before.
//!
//! Unlike a story of `world`, nothing here is left to chance but the order of random operations: executors
//! answer at once and agents stand still unless they are told to go on, so that what an operation does
//! can be compared to the last byte. A kill throws memory away and replays the ledger.

mod git;
mod world;
mod executors;
mod deeds;
mod seen;
mod matrix;
mod many;
mod onward;
mod preview;
mod proposed;

pub use deeds::{Deed, Situation};
pub use many::{held, working};
pub use matrix::{Cell, cells, check};
pub use onward::{Asked, Ground, goes_on};
pub use preview::as_previewed;
pub use proposed::as_proposed;
pub use world::OperationWorld;
