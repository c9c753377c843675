//! Everything about the simulated worlds.

mod damage;
mod ledger_crashes;
mod ledger_planted;
mod ledger_regressions;
mod operations;
mod world_stories;
