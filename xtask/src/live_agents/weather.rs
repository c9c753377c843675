//! A program whose service fails for a while: what the swarm makes of it, and that everything is done afterwards.

mod kinds;
mod scene;
mod sky;

pub use kinds::{KINDS, Kind};
pub use scene::play;
