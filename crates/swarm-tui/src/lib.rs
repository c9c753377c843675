//! The terminal's view of a swarm: a client of the coordinator's API. Views in, commands out, no rule of its own.
//!
//! `model` is all that the screen knows, `update` how it changes (pure, time is an argument), `draw` how it looks (pure),
//! `keys` the one table of keys. `session` is the thin loop that touches the terminal and the API; `source` the two ways
//! to see a swarm: its coordinator, or its ledger where nobody coordinates.

pub mod input;
pub mod keys;
pub mod field;
pub mod filter;
pub mod theme;
pub mod said;
pub mod typed;
pub mod dialog;
pub mod model;
pub mod palette;
pub mod update;
pub mod visit;
pub mod draw;
pub mod source;
pub mod session;
pub mod plain;
