//! What a program of a run may touch: everything may be read (but for the swarm's own secrets), little
//! may be written, and what the kernel cannot enforce is said.
//!
//! Three layers, each for what the others cannot say: a view of the files of its own where the machine lets us (`view`),
//! Landlock (`enforce`), and calls that are refused (`calls`). They hold for the program and all that it starts, and
//! cannot be taken down from inside.

mod calls;
mod rights;
mod spec;
mod view;
mod readable;
mod enforce;
mod status;
mod places;

pub use enforce::enforce;
pub use places::{make_tmp, remove_tmp, tmp_of};
pub use spec::{BINDS_MAX, Bind, GitRights, SandboxSpec};
pub use status::{SandboxStatus, doctor};
pub(crate) use view::build as build_view;
