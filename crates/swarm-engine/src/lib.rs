//! (see ARCHITECTURE.md)

pub mod paths;
pub mod clock;
pub mod settings;
pub mod store;
pub mod projection;
pub mod git;
pub mod hands;
pub mod process;
pub mod channel;
pub mod journal;
pub mod agents;
pub mod daemon;
pub mod supervisor;
