//! What programs print, line by line, on disk: written by the daemon alone, so that the death of
//! the coordinator loses nothing, and read by byte cursor.

mod calls;
mod reader;
mod tail;
mod writer;

pub use calls::{Calls, calls_file, calls_of};
pub use reader::{Page, read_from};
pub use tail::{Growth, RawLine, read_raw};
pub use writer::{Journal, LINE_MAX, now};

use serde::{Deserialize, Serialize};
use swarm_protocol::time::Timestamp;

/// Where a line came from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Stream {
    Out,
    Err,
    /// Said by the daemon itself: what it ran, what it dropped.
    Swarm,
}

/// One line of a journal.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Line {
    /// Dense from 1.
    pub n: u64,
    pub ts: Timestamp,
    pub stream: Stream,
    pub text: String,
    /// True when the printed line goes on in the next one: it was longer than [`LINE_MAX`].
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub more: bool,
}
