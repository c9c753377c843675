//! One life of a ledger after another, from a seed: a scripted writer, faults, crashes, damage, and
//! an oracle that knows what was answered.

pub mod stranger;
pub mod model;
pub mod failure;
pub mod tally;
mod opening;
mod writing;
mod rot;
pub mod run;
