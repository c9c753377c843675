//! `swarm run` as a person has it: the real binary, real git, real processes.

mod arena;
mod demo;
mod killed;
mod publish;
mod stopped;
