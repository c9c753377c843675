//! Which release of Swarm this program is.

/// What is told to coordinators, daemons and front ends, which may be of another release.
///
/// A build for development claims what `SWARM_CLAIM_RELEASE` says, so that one program can play both at the meeting of two.
pub fn release() -> String {
    let claimed = if cfg!(debug_assertions) { std::env::var("SWARM_CLAIM_RELEASE").ok() } else { None };
    claimed.unwrap_or_else(|| env!("CARGO_PKG_VERSION").to_owned())
}
