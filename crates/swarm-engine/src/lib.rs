//! The hands and the loop: everything that touches the world on behalf of the rules.
//!
//! Reading order: where things lie, the memory (`store`), git and processes, the hands, the daemon and
//! its supervisor, and the coordinator's loop that closes the circle.

pub mod paths;
mod complain;
mod places;
pub mod half_written;
mod no_room;
pub mod clock;
pub mod settings;
pub mod store;
pub mod projection;
pub mod git;
pub mod hands;
pub mod process;
pub mod sandbox;
pub mod channel;
pub mod records;
pub mod feed;
pub mod look;
pub mod journal;
pub mod redact;
pub mod agents;
pub mod daemon;
pub mod supervisor;
pub mod host;
pub mod anchor;
pub mod handover;
pub mod present;
pub mod preview;
pub mod prompts;
pub mod learnings;
pub mod coordinator;
pub mod doctor;
