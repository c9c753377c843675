//! Everything that leaves the process: names, ledger records, commands, views, frames, configuration.
//!
//! Types only. What a thing *means* is decided in `swarm-core`; what is done about it, in
//! `swarm-engine`. A name or a number that is read here is already checked, so that nothing behind
//! the front ends has to check it again.

pub mod ids;
pub mod time;
pub mod plan;
pub mod planning;
pub mod answer;
pub mod judgement;
pub mod resolution;
pub mod globs;
pub mod reservation;
pub mod review;
pub mod council;
pub mod proof;
pub mod conflict;
pub mod planfile;
pub mod failure;
pub mod gist;
pub mod near;
pub mod outcome;
pub mod aftermath;
pub mod policy;
pub mod operation;
pub mod oplog;
pub mod event;
pub mod record;
pub mod command;
pub mod proposal;
pub mod refusal;
pub mod attempt;
pub mod channel;
pub mod view;
pub mod api;
pub mod board;
pub mod patch;
pub mod diff;
pub mod over_time;
pub mod trunk;
pub mod doctor;
pub mod deed;
pub mod any_view;
pub mod config;
