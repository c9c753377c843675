//! What a program of a run may touch: everything may be read (but for the swarm's own secrets), little
//! may be written, and what the kernel cannot enforce is said.

mod spec;

pub use spec::{GitRights, SandboxSpec};
