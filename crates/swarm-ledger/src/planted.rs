//! Bugs that can be switched on in debug builds, to prove that the simulator finds them.
//!
//! A release build has neither the switch nor the branches: `is` is `false` at compile time.

/// A bug the simulator must find.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub enum Bug {
    None = 0,
    /// A group is acknowledged without fdatasync.
    SyncLeftOut,
    /// Answers go out before fdatasync, which then still runs.
    AnswerBeforeSync,
    /// Recovery keeps the valid records of a torn batch.
    HalfABatchKept,
    /// A batch of an older epoch is accepted.
    EpochNotChecked,
    /// An archive is replaced by what is closed next under its name.
    ArchiveOverwritten,
}

#[cfg(debug_assertions)]
mod switch {
    use std::sync::atomic::{AtomicU8, Ordering};

    use super::Bug;

    pub static PLANTED: AtomicU8 = AtomicU8::new(Bug::None as u8);

    pub fn set(bug: Bug) {
        PLANTED.store(bug as u8, Ordering::SeqCst);
    }

    pub fn is(bug: Bug) -> bool {
        PLANTED.load(Ordering::Relaxed) == bug as u8
    }
}

#[cfg(debug_assertions)]
pub use switch::{PLANTED, is, set};

#[cfg(not(debug_assertions))]
pub const fn is(_bug: Bug) -> bool {
    false
}
