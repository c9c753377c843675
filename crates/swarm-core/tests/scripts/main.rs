//! Scripts: what happens to tasks, told in steps. Each test is data around one `check`.

mod script;
mod words;
mod quotas;
mod reservation_requests;
mod reservations;
mod restarts;
mod splits;
mod wardens;
mod attempts;
mod claims;
mod councils;
mod checks;
mod failures;
mod grants;
mod merges;
mod modes;
mod plans;
mod proposals;
mod proofs;
mod reverts;
mod reviews;
mod trunk;
mod undo;

use script::{check, play as played};
