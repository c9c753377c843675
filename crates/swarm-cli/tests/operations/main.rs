//! Interventions as people make them: the real binary, real git, real agents; what happened is measured from outside.

#[allow(dead_code, reason = "each binary of tests uses its own part of the arena")]
#[path = "../run/arena.rs"]
mod arena;
#[allow(dead_code, reason = "each binary of tests uses its own part of the ground")]
#[path = "../trials/ground.rs"]
mod ground;
mod outside;
mod processes;
mod deeds;
mod situations;
mod meanwhile;
mod matrix;
mod steering;
mod people;
mod previews;
mod reverse;
mod hooks;
mod interrupted;
mod abort;
mod wanted_back;
mod again;
mod dry_runs;
mod eighty_columns;
#[allow(dead_code, reason = "each binary of tests uses its own part of the terminal")]
#[path = "../trials/tmux.rs"]
mod tmux;
mod on_the_screen;
mod on_the_screen_at_work;
mod looked_at;
mod way_back;
mod leftovers;
mod onward;
