//! The whole product under torture: the real binary, real git, real processes, and somebody who kills, stops, cuts and
//! fills whatever there is. `cargo xtask torture` runs the same with larger numbers.

#[allow(dead_code, reason = "each binary of tests uses its own part of the arena")]
#[path = "../run/arena.rs"]
mod arena;
#[allow(dead_code, reason = "each binary of tests uses its own part of the ground")]
#[path = "../trials/ground.rs"]
mod ground;
#[allow(dead_code, reason = "each binary of tests uses its own part of it")]
#[path = "../operations/outside.rs"]
mod outside;
mod seeded;
mod victims;
mod namespace;
mod loop_disk;
mod at_once;
mod rivals;
mod lock_files;
mod crowd;
mod calendar;
mod want;
mod brim;
mod rot;
mod matrix;
mod storm;
mod power;
mod read_only;
mod frozen;
