//! A bug that tests can switch on, to prove that they would find it. Gone from release builds.

#[cfg(debug_assertions)]
mod switch {
    use std::cell::Cell;

    thread_local! {
        static MIGRATION_OVER_ARCHIVE: Cell<bool> = const { Cell::new(false) };
    }

    /// On this thread, an old plan.json is taken over although a closed plan's archive is there.
    pub fn set_migration_over_archive(on: bool) {
        MIGRATION_OVER_ARCHIVE.set(on);
    }

    pub(in crate::store) fn migration_over_archive() -> bool {
        MIGRATION_OVER_ARCHIVE.get()
    }
}

#[cfg(not(debug_assertions))]
mod switch {
    pub(in crate::store) const fn migration_over_archive() -> bool {
        false
    }
}

pub(super) use switch::migration_over_archive;
#[cfg(debug_assertions)]
pub use switch::set_migration_over_archive;
