//! The door from outside: raw sockets, a real ledger, a coordinator's socket behind it that comes and goes.

// A coordinator without agents, as the server's own tests have it.
#[allow(dead_code, reason = "each program of tests uses its own part of it")]
#[path = "../../swarm-server/tests/api/served.rs"]
mod served;
#[path = "web/house.rs"]
mod house;
#[path = "web/guards.rs"]
mod guards;
#[path = "web/handed_on.rs"]
mod handed_on;
#[path = "web/lives.rs"]
mod lives;
#[path = "web/crowds.rs"]
mod crowds;
#[path = "web/strangers.rs"]
mod strangers;
