//! Bugs put into the ledger on purpose: a simulator that does not find them proves nothing.
//!
//! The switch is one for the whole process, so each bug gets a process of its own.

#![cfg(debug_assertions)]

use std::process::Command;

fn check(bug: &str) {
    let output = Command::new(env!("CARGO_BIN_EXE_swarm-sim"))
        .args(["--world", "ledger", "--seeds", "2000", "--planted", bug])
        .output()
        .expect("the simulator starts");
    let told = String::from_utf8_lossy(&output.stdout);
    assert_eq!(output.status.code(), Some(1), "{bug} was not found in 2000 seeds:\n{told}");
    assert!(told.starts_with("ledger seed "), "{told}");
}

#[test]
fn a_sync_left_out_is_found() {
    check("sync-left-out");
}

#[test]
fn an_answer_before_the_sync_is_found() {
    check("answer-before-sync");
}

#[test]
fn half_a_batch_kept_is_found() {
    check("half-a-batch-kept");
}

#[test]
fn an_epoch_that_is_not_checked_is_found() {
    check("epoch-not-checked");
}
