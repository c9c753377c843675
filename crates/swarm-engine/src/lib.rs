//! (see ARCHITECTURE.md)

pub mod git;
pub mod hands;
pub mod process;
pub mod channel;
pub mod journal;
pub mod agents;
pub mod daemon;
pub mod supervisor;
