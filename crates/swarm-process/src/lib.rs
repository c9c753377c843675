//! The only place that starts programs: by argument list, with an environment built for the
//! child, with a bound on its output and its time, and ended as a group.
//!
//! A process is named by [`ProcessIdentity`], never by a bare pid, and signalled only through a
//! pidfd that was opened first and checked second, so a reused pid is never hit.

mod group;
mod identity;
mod program;
mod readable;
mod reaper;
mod run;
mod stuck;
mod sweep;
pub mod containment;
pub mod launcher;
mod boxed;
mod bound;
mod cast_off;
mod descriptors;
pub mod environment;
pub mod caller;
pub mod sandbox;
pub mod host;
mod limits;
mod usage;
mod complain;
mod release;
mod remove;

pub use bound::{children_end_with_us, plays_the_launcher};
pub use boxed::{Boxed, Enclosure};
pub use cast_off::end_cast_off;
pub use complain::complain;
pub use containment::Containment;
pub use descriptors::hand_on_no_files;
pub use identity::{
    Pidfd, ProcessIdentity, age_of, boot_id, cpu_time_of, has_open, is_stopped, open_verified, start_time_of,
    starved_time_of,
};
pub use limits::{Limits, is_shortage, take_room_for_files};
pub use readable::watch_readable;
pub use reaper::become_reaper;
pub use reaper::orphans;
pub use release::release;
pub use remove::remove_tree;
pub use run::{Call, Ended, Excess, Input, ProcessError, Running};
pub use sweep::{
    NONCE_VARIABLE, Sweep, end_tree_by_nonce, processes_inside, processes_with_nonce, who_stays_inside,
};
pub use usage::Usage;
