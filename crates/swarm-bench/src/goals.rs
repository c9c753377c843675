//! Each goal is one file; all have the same shape.

pub mod worktree;
pub mod rollback;
pub mod merge;
pub mod restart;
pub mod storm;
pub mod memory;
pub mod handover;
pub mod counted;
pub mod fanout;
pub mod core;
pub mod status;
pub mod crowd;
pub mod watched;
pub mod talk;
pub mod big;

use anyhow::Result;
use swarm_sim::bench::report::Report;

use crate::setting::Setting;

pub struct Goal {
    pub name: &'static str,
    pub measure: fn(&Setting, &mut Report) -> Result<()>,
}

/// In the order of printing. A name may stand more than once.
pub const ALL: &[Goal] = &[
    Goal { name: "G6", measure: worktree::measure },
    Goal { name: "G8", measure: rollback::measure },
    Goal { name: "G9", measure: merge::measure },
    Goal { name: "G10", measure: restart::measure },
    Goal { name: "G10", measure: storm::measure },
    Goal { name: "G11", measure: memory::measure },
    Goal { name: "G12", measure: handover::measure },
    Goal { name: "G12", measure: counted::measure },
    Goal { name: "G12", measure: fanout::measure },
    Goal { name: "core", measure: core::measure },
    Goal { name: "status", measure: status::measure },
    Goal { name: "crowd", measure: crowd::measure },
    Goal { name: "watched", measure: watched::measure },
    Goal { name: "talk", measure: talk::measure },
    Goal { name: "big", measure: big::measure },
];
