//! Every bound of the door in one place. Tests make some of them smaller; the product never does.

use std::time::Duration;

/// Bytes of one message from a page on its live connection.
pub const MESSAGE_MAX: usize = 64 * 1024;

/// Journals that one page follows at once.
pub const FOLLOWED_MAX: usize = 16;

/// Bytes of the body that carries a key.
pub const KEY_BODY_MAX: usize = 1024;

/// Bytes of one message of an MCP client: a plan of 10,000 tasks with short descriptions fits.
pub const MCP_BODY_MAX: usize = 8 << 20;

/// Calls of MCP clients at once; some wait for twenty seconds.
pub const MCP_CALLS: usize = 32;

/// Sessions at once; the one that was used longest ago makes room for a new one.
pub const SESSIONS_MAX: usize = 32;

#[derive(Debug, Clone, Copy)]
pub struct Limits {
    /// Connections at once; beyond it the oldest that has not shown a session makes room.
    pub connections: usize,
    /// Live connections in all, and of one session.
    pub live: usize,
    pub live_per_session: usize,
    /// From the connection, or the last answer, to a complete head.
    pub head_within: Duration,
    /// Between two pieces of a body.
    pub body_within: Duration,
    /// From the upgrade to the first word of a page.
    pub hello_within: Duration,
    /// A peer that takes nothing for so long is let go.
    pub stall: Duration,
    /// A page that lets its messages wait for so long is cut off.
    pub slow_after: Duration,
    /// A ping goes out this often; three without an answer end the connection.
    pub ping_every: Duration,
    /// A link opens the door once, and only for so long.
    pub key_for: Duration,
    /// A session that nobody used for so long is over.
    pub session_idle: Duration,
    /// Between two looks for a coordinator where none is.
    pub look_every: Duration,
    /// How long streams may take to end when the door closes.
    pub farewell: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            connections: 256,
            live: 96,
            live_per_session: 32,
            head_within: Duration::from_secs(10),
            body_within: Duration::from_secs(10),
            hello_within: Duration::from_secs(10),
            stall: Duration::from_secs(30),
            slow_after: Duration::from_secs(10),
            ping_every: Duration::from_secs(20),
            key_for: Duration::from_secs(300),
            session_idle: Duration::from_secs(7 * 24 * 3600),
            look_every: Duration::from_millis(250),
            farewell: Duration::from_secs(1),
        }
    }
}
