//! One program for all tests: each more would be linked with the whole crate once again.

#[path = "support/mod.rs"]
mod support;
#[path = "tui/another_plan.rs"]
mod another_plan;
#[path = "tui/chance.rs"]
mod chance;
#[path = "tui/confirming.rs"]
mod confirming;
#[path = "tui/diffs.rs"]
mod diffs;
#[path = "tui/gallery.rs"]
mod gallery;
#[path = "tui/logs.rs"]
mod logs;
#[path = "tui/looks.rs"]
mod looks;
#[path = "tui/moving.rs"]
mod moving;
#[path = "tui/older.rs"]
mod older;
#[path = "tui/operations.rs"]
mod operations;
#[path = "tui/over_time.rs"]
mod over_time;
#[path = "tui/own_keys.rs"]
mod own_keys;
#[path = "tui/reading.rs"]
mod reading;
#[path = "tui/staying.rs"]
mod staying;
#[path = "tui/steering.rs"]
mod steering;
#[path = "tui/visits.rs"]
mod visits;
#[path = "tui/words.rs"]
mod words;
