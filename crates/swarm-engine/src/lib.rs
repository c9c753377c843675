//! Where the rules meet those that carry them out: the store, the coordinator's loop, and the doctor.
//!
//! Reading order: where things lie (`paths`), the memory (`store`), then the loop that closes the circle
//! (`coordinator`).

pub mod paths;
pub mod half_written;
pub mod clock;
pub mod settings;
mod notice;
mod replace;
pub mod store;
pub mod projection;
pub mod channel;
pub mod records;
pub mod feed;
pub mod meters;
pub mod look;
pub mod anchor;
pub mod present;
pub mod conflicts;
pub mod preview;
pub mod work_diff;
pub mod work_conflict;
pub mod trunk_lines;
pub mod coordinator;
pub mod trust;
pub mod session;
pub mod planning;
pub mod doctor;
pub mod by_hand;
pub mod unsaved;

// What numbers, spans and submissions are read off the records by, for those who serve and send them.
pub use swarm_core::metrics::{Around, Tally};
pub use swarm_core::over_time::OverTime;
pub use swarm_core::show::{KINDS_OF_ROUNDS, note_round};
pub mod tool_spans;
pub use swarm_core::trace;
