//! Everything about the engine that needs no swarm: git, processes, the store, worktrees, the doctor.

#[path = "box/mod.rs"]
mod bench;
mod git_kill_points;
mod git_scratch;
mod publish_situations;
mod store_support;

mod agents_captures;
mod agents_unseen;
mod agents_weather;
mod containment_caller;
mod containment_ends;
mod containment_floods;
mod doctor_disorders;
mod git_build;
mod git_changed_files;
mod git_conflicts;
mod git_discover;
mod git_filters;
mod git_kill;
mod git_odd_files;
mod git_process;
mod git_remove;
mod git_rescue;
mod git_watch;
mod git_worktree;
mod publish_cases;
mod publish_matrix;
mod sandbox_limits;
mod sandbox_walls;
mod store_cut;
mod store_disk;
mod store_life;
mod store_migration;
mod store_projection;
mod store_replay;
mod store_settings;
mod worktree_life;
