//! The front ends of a running swarm over one Unix socket: commands, views and the feed of events as HTTP, and
//! both ends of the work channel. Nothing here knows git or rules; it turns bytes into commands,
//! looks and frames, and what comes back into bytes.
//!
//! `listener` accepts, `peer` says who is calling, `places` how many may, `api` has one file per group of
//! routes, `pace` and `looks` bound what agents and tabs may cost, `hub` gives each record once to all who follow. `client` and `work_channel` are the
//! other end. `telemetry` follows the ledger for a collector of spans.

pub mod socket;
pub mod limits;
pub mod frames;
pub mod patient;
pub mod peer;
mod places;
pub mod sse;
mod hub;
mod past;
mod api_state;
pub mod unattended;
pub mod api;
mod fault;
mod hands;
mod looks;
mod once;
mod pace;
mod tended;
pub mod ledger;
pub mod either;
pub mod listener;
pub mod work_channel;
pub mod client;
pub mod daemon_process;
pub mod telemetry;
