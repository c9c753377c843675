//! The core in a hostile pretend world.
//!
//! A story is one seed: a coordinator that decides with the real core, a log that is durable only
//! after its sync, executors that fail, answer late, twice or after they were told to stop, daemons that
//! outlive the coordinator, agents that crash, hang and fall silent, people who intervene, and an
//! oracle that knows what must hold. The coordinator is killed again and again at the seams; then
//! faults stop, people unblock what is blocked, and everything must come to rest as done.

mod fault;
mod table;
mod trace;
mod truth;
mod daemon;
mod log;
mod on_trunk;
mod executor;
mod agent;
mod approved;
mod publishing;
mod ailing;
mod coordinator;
mod flight;
mod flight_law;
mod people;
mod oracle;
mod reserving;
mod rules;
mod agenda;
mod policy;
mod story;
mod outside;
mod crash;
mod calm;
mod stopping;
mod planted;
mod sweep;
mod weekend;

pub use fault::{Fault, Seam};
pub use planted::Planted;
pub use story::{Failure, Summary, run, tell};
pub use sweep::{Sweep, find_planted, sweep};
pub use table::Table;
pub use weekend::{Weekend, weekend};
