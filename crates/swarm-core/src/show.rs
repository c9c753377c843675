//! State → views. Front ends print these and hold nothing of their own.

mod allowed;
mod attention;
mod board;
mod changes;
mod choices;
mod handoff;
mod left_alone;
mod of_work;
mod operations;
mod proposals;
mod recovery;
mod reservations;
mod retry;
mod review;
mod rounds;
mod status;
mod stops;
mod task;
mod ways;

pub use allowed::allowed;
pub use attention::attention;
pub use board::board;
pub use changes::changes;
pub use choices::choices;
pub use handoff::{foresee, handoff};
pub use left_alone::left_alone;
pub use operations::{checkpoints, hooks, operations};
pub use reservations::{reservations, reserved_by_others, reserved_for};
pub use retry::retry_options;
pub use review::{review, reviews, work};
pub use rounds::{KINDS_OF_ROUNDS, note_round};
pub use status::{approved_plan, status};
pub use stops::stops;
pub use task::{done_elsewhere, done_unproven, gone, row, rows, task};
