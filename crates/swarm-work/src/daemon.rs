//! `swarm daemon`: one process per run, in a session of its own. It outlives the coordinator, holds the
//! program's pipes, and starts nothing without an order.
//!
//! Its whole life: lock, record, connect, report, obey, end, last word. Only the daemon knows what
//! the program did, so everything it finds out is on disk before it is said.

mod spec;
mod files;
mod outbox;
mod line;
mod tree;
mod pipe;
mod dialogue;
mod silence;
pub mod program;
mod tools;
mod commands;
mod set_up;
mod traces;
mod traced;
mod run_context;
mod context;
mod room;
mod walls;
mod own_git;
mod own_tip;
mod iteration;
mod run_loop;
mod serve;
mod alone;
mod sums;

pub use alone::{ask_alone, ask_beside_others};
pub use files::{DurableError, RunFiles, write_durable, write_whole};
pub use outbox::unacknowledged_on_disk;
pub use own_tip::{OVERSTEP, RIGHTED};
pub use serve::{EXIT_CANNOT_START, EXIT_ENDED, EXIT_NOT_WANTED, READY, serve};
pub use spec::{DaemonSpec, Form, Guard, Known, Question, SetUp};
pub use swarm_process::become_reaper;
pub use walls::names_handed_on;
