//! The MCP server as clients meet it: the real binary on pipes, a real repository, scripted agents.

#[allow(dead_code, reason = "each binary of tests uses its own part of the arena")]
#[path = "../run/arena.rs"]
mod arena;
#[allow(dead_code, reason = "each binary of tests uses its own part of the ground")]
#[path = "../trials/ground.rs"]
mod ground;
mod attached;
mod conflicts;
mod pipe;
mod calls;
mod eras;
mod every_tool;
mod golden;
mod roles;
mod hostile;
mod once;
mod proposals;
mod install;
mod http;
mod inspector;
mod numbers;
mod prometheus;
