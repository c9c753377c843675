//! Everything that leaves the process: names, ledger records, commands, views, frames, configuration.
pub mod ids;
