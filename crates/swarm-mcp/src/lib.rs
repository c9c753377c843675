//! The swarm for clients of the Model Context Protocol: a thin front end, as the command line is one.
//!
//! It asks the coordinator by its socket and the ledger where nobody coordinates. Nothing is kept between two calls, so
//! both eras of the protocol (with a handshake, and without) are served by the same code, and a client that comes back
//! after a crash loses nothing.

pub mod desk;
pub mod source;
pub mod limits;
pub mod arguments;
pub mod tools;
pub mod wish;
pub mod refused;
pub mod told;
pub mod call;
pub mod uri;
pub mod prompts;
mod hello;
mod progress;
pub mod server;
mod frames;
pub mod stdio;
pub mod http;
pub mod attempt;
