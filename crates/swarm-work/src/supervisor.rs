//! Starting, adopting, watching and ending daemons, for the coordinator's loop.
//!
//! Everything here looks first and acts second, so that it may be asked twice and may die on any line:
//! the spec is durable before the daemon is started, the daemon's lock says whether it lives, its
//! record says who it is, and its last word says how it ended.

mod secret;
mod owner;
mod end;
mod ensure;
mod watch;
mod stop;
mod leftovers;

pub use end::Death;
pub use ensure::{
    EnsureError, Found, LOG_FORMAT_VARIABLE, LOG_VARIABLE, Launch, SILENT_AFTER, cannot_reconnect,
    ensure_daemon, knock,
};
pub use leftovers::{Left, Leftover, sweep_leftovers};
pub use owner::{Foreign, foreign, lives_here};
pub use secret::{is_secret, secret_key, secret_of, to_hex};
pub use stop::{Rescue, StopError, Stopped, stop_run};
pub use watch::{DaemonEnd, watch_daemon};
