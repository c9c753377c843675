//! The door that browsers come in by: pages, sessions, the API and one live connection per tab, on loopback only.
//!
//! A process of its own beside the coordinator, which keeps no TCP surface. `door` opens it, `listener` accepts,
//! `guard` says what a request must look like and `holder` whose process sent it, `front` is the table of routes.
//! `tail` follows the ledger once for all tabs, `live` gives each tab its share, `forward` hands requests on.
//! `scrape` lets a monitoring program read the numbers. `control` is the socket by which the command line asks for links and ends sessions.

pub mod limits;
mod assets;
mod guard;
mod holder;
mod sessions;
mod scrape;
mod places;
mod tail;
mod forward;
mod live;
mod front;
pub mod mcp;
pub mod tokens;
mod listener;
pub mod control;
pub mod door;
