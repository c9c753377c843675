//! (see ARCHITECTURE.md)

pub mod git;
pub mod hands;
pub mod process;
