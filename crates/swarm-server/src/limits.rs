//! Every bound of the socket in one place. Tests make some of them smaller; the product never does.

use std::time::Duration;

/// What may wait for the coordinator's loop; beyond it the peers wait in their sockets.
pub const SOCKET_QUEUE: usize = 256;

/// Bytes of a request's first line and headers together.
pub const HEAD_MAX: usize = 16 * 1024;

/// Bytes of a body, unless it saves a plan.
pub const BODY_MAX: usize = 1 << 20;

/// Bytes of what an agent sends: read only to say what it wanted.
pub const AGENT_BODY_MAX: usize = 64 * 1024;

/// Bytes of a file that is shown whole.
pub const FILE_MAX: u64 = 4 << 20;

/// Records in one answer of the history.
pub const HISTORY_MAX: usize = 1000;

/// Bytes of records or lines in one answer, and read at once for a stream.
pub const PAGE_BYTES: usize = 1 << 20;

/// Lines of a journal in one answer.
pub const LOG_LINES_MAX: usize = 1000;

#[derive(Debug, Clone, Copy)]
pub struct Limits {
    /// Connections of people and their tools at once.
    pub callers: usize,
    /// Further places that only daemons can take, so that nobody keeps a daemon out.
    pub daemons: usize,
    /// Connections out of one attempt, and of those that were gone before anybody could look at them.
    pub per_attempt: usize,
    /// Connections out of all attempts together.
    pub all_attempts: usize,
    /// Questions of one attempt at once, and then one every so often.
    pub asks_at_once: u32,
    pub ask_every: Duration,
    /// A look into the past or into git takes no longer, the wait for its turn included.
    pub look_within: Duration,
    /// From the connection, or the last answer, to a complete head.
    pub head_within: Duration,
    /// The same for a connection that is there for a daemon only, and until a daemon's first frame.
    pub hello_within: Duration,
    /// Between two pieces of a body.
    pub body_within: Duration,
    /// A peer that takes nothing for so long is let go.
    pub stall: Duration,
    /// A reader of the feed that waited so long with a piece, and whom the newest records have passed by
    /// meanwhile, is cut off.
    pub slow_after: Duration,
    /// The newest records, kept in memory for all readers together.
    pub ring_records: usize,
    pub ring_bytes: usize,
    /// A quiet stream shows that it lives.
    pub heartbeat: Duration,
    /// News of one agent come at most so often.
    pub news_every: Duration,
    /// How long streams may take to end when the coordinator does.
    pub farewell: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            callers: 160,
            daemons: 96,
            per_attempt: 8,
            all_attempts: 80,
            asks_at_once: 60,
            ask_every: Duration::from_millis(50),
            look_within: Duration::from_secs(60),
            head_within: Duration::from_secs(10),
            hello_within: Duration::from_secs(5),
            body_within: Duration::from_secs(10),
            stall: Duration::from_secs(30),
            slow_after: Duration::from_secs(5),
            ring_records: 1024,
            ring_bytes: 1 << 20,
            heartbeat: Duration::from_secs(15),
            news_every: Duration::from_millis(200),
            farewell: Duration::from_secs(1),
        }
    }
}
