//! State → views. Doors print these and hold nothing of their own.

mod attention;
mod recovery;
mod status;
mod task;

pub use attention::attention;
pub(crate) use attention::overstep_seen_by;
pub use status::{approved_plan, handoff, status};
pub use task::{row, rows, task};
