//! State → views. Front ends print these and hold nothing of their own.

mod attention;
mod changes;
mod choices;
mod operations;
mod recovery;
mod retry;
mod review;
mod status;
mod stops;
mod task;

pub use attention::attention;
pub use changes::changes;
pub use choices::{Choice, choices};
pub use operations::{checkpoints, hooks, operations};
pub use retry::retry_options;
pub use review::{review, reviews, work};
pub use status::{approved_plan, handoff, status};
pub use stops::stops;
pub use task::{done_elsewhere, done_unproven, gone, row, rows, task};
