//! The rules of the swarm, pure: no clock, no randomness, no I/O.
//!
//! A wish or a report comes in; `react` turns it into events or a refusal; `apply` is the only
//! writer of the state; `settle` grants what is scarce; `owed` reads off what the world is to do;
//! `wakes_at` says when the clock matters next; `show` makes what people see. A stage is a promise:
//! after a crash the events are replayed, what is owed is asked for again, and work goes on.

pub mod stage;
pub mod state;
pub mod input;
pub mod effect;
pub mod flight;
pub mod operation;
pub mod hooks;
mod react;
mod apply;
mod dues;
mod settle;
mod claims;
mod owed;
mod ready;
mod reservations;
mod reviewer;
mod structure;
mod text;
mod worktrees;
mod profiles;
mod setup;
pub mod limits;
pub mod hash;
pub mod evidence;
pub mod export;
pub mod show;
pub mod spending;
mod how_ended;
pub mod metrics;
pub mod over_time;
pub mod trace;
pub mod predict;
pub mod planted;
mod step;

pub use owed::owed;
pub use react::{checkpoint_of_close, more_files, react, requested};
pub use settle::{nothing_left, rests, stops_short, waits_for_review, waits_for_start, wakes_at};
pub use state::{State, schedule};
pub use step::{first_step, is_settled, step};
