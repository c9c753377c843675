//! Trials of the whole product: the real binary, real git, real processes, and agents that do their worst.
//!
//! The numbers are small enough for every test run. `SWARM_TRIALS=full` raises them to what the product
//! promises: a gigabyte of output, a line of 100 MB, 100,000 files.

#[allow(dead_code, reason = "each binary of tests uses its own part of the arena")]
#[path = "../run/arena.rs"]
mod arena;
mod ground;
mod forty;
mod guides;
mod npm;
mod planted;
mod trespass;
mod secrets;
mod tools;
mod trust;
mod doors;
mod programs;
mod people;
mod floods;
mod leftovers;
mod in_the_way;
mod merges;
mod conflicts;
mod hard_conflicts;
mod hostile_answers;
mod modes;
mod people_review;
mod rounds;
mod agent_review;
mod approvals;
mod council;
mod planning;
mod odd_files;
mod own_repository;
mod recovery;
mod reservations;
mod resolved_reverts;
mod screen_story;
mod retry;
mod shared_tree;
mod shortage;
mod submodules;
mod terminal;
mod tmux;
mod web;
mod who_commits;
