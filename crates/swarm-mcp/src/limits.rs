//! Every bound of this front end in one place.

use std::time::Duration;

/// Bytes of one message of a client. A plan of 10,000 tasks with short descriptions fits.
pub const FRAME_MAX: usize = 8 << 20;

/// Bytes of one result. Clients cut longer ones off in the middle, so we cut them where it makes sense.
pub const RESULT_MAX: usize = 20_000;

/// Bytes of one resource: it is attached by a person who wants it whole.
pub const RESOURCE_MAX: usize = 100_000;

/// Clients give a call 60 seconds, some less; what takes longer is asked for again by its id.
pub const ANSWER_WITHIN: Duration = Duration::from_secs(20);

/// The longest that `swarm_wait` waits.
pub const WAIT_MAX: Duration = Duration::from_secs(20);

/// How long an operation that moves git is followed before it is left to `swarm_wait`.
pub const FOLLOW_FOR: Duration = Duration::from_secs(12);

/// Between two looks where nothing tells that something has changed.
pub const LOOK_AGAIN: Duration = Duration::from_millis(200);

/// Between two words on the way, to a client that asks for them.
pub const PROGRESS_EVERY: Duration = Duration::from_secs(1);

/// Rows of a list in one result.
pub const ROWS_MAX: usize = 200;

/// Lines of a journal, or records, looked through for one result.
pub const LINES_MAX: usize = 500;

/// How often another free number is tried for a new task.
pub const NUMBERS_TRIED_MAX: u32 = 20;
