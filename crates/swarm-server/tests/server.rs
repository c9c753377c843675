//! Everything about the front ends over the network, and the daemons behind them.

mod world;

mod api;
mod daemon_context;
mod daemon_orders;
mod daemon_reconnect;
mod daemon_watch;
mod supervisor_table;
