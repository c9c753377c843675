//! What a program of a run may touch: everything may be read (but for the swarm's own secrets), little
//! may be written, and what the kernel cannot enforce is said.
//!
//! The walls are Landlock's. They hold for the program and all that it starts, they cannot be taken
//! down from inside, and they need no privilege.

mod spec;
mod readable;
mod enforce;
mod status;
mod places;

pub use enforce::enforce;
pub use places::{make_tmp, remove_tmp, tmp_of};
pub use spec::{GitRights, SandboxSpec};
pub use status::{SandboxStatus, doctor};
