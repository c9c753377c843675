//! What the ledger costs against the bare machine: ratios inside one run, limit and product
//! interleaved, medians of rounds. Never a bare millisecond.

pub mod report;
pub mod place;
pub mod counting;
pub mod sample;
pub mod append;
pub mod replay;
pub mod start;
pub mod crash;
