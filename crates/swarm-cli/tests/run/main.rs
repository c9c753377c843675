//! `swarm run` as a person has it: the real binary, real git, real processes.

mod another_trunk;
#[allow(dead_code, reason = "other binaries of tests use the arena too, each its own part")]
mod arena;
mod background;
mod demo;
mod hangs;
mod killed;
mod logs;
mod publish;
mod recovered;
mod spans_of_programs;
mod stopped;
mod support_log;
mod traces;
mod trunk;
mod upgraded;
