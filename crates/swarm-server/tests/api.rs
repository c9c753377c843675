//! The API of the coordinator over its socket, with a real ledger behind it.

#[path = "api/served.rs"]
mod served;

#[path = "api/bad_input.rs"]
mod bad_input;
#[path = "api/by_hand.rs"]
mod by_hand;
#[path = "api/commands.rs"]
mod commands;
#[path = "api/described.rs"]
mod described;
#[path = "api/events.rs"]
mod events;
#[path = "api/hung_up.rs"]
mod hung_up;
#[path = "api/logs.rs"]
mod logs;
#[path = "api/schemas.rs"]
mod schemas;
#[path = "api/roles.rs"]
mod roles;
#[path = "api/views.rs"]
mod views;
