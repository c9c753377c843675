//! `swarm run` as a person has it: the real binary, real git, real processes.

mod arena;
mod background;
mod demo;
mod killed;
mod logs;
mod publish;
mod stopped;
