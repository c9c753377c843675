//! Every command has its call, and what is dangerous is known as such.

use std::collections::BTreeSet;

use serde_json::json;

use super::*;

/// A call for each command that has a tool, and the command that it is.
fn calls() -> Vec<(&'static str, Value, &'static str)> {
    vec![
        ("save_plan", json!({ "plan": { "goal": "g", "phases": [] } }), "save_plan"),
        ("update_task_status", json!({ "task": "1.1", "status": "pending" }), "unblock_task"),
        ("update_task_status", json!({ "task": "1.1", "status": "active" }), "start_tasks"),
        ("update_task_status", json!({ "task": "1.1", "status": "blocked", "reason": "r" }), "block_task"),
        ("update_task_status", json!({ "task": "1.1", "status": "deferred" }), "defer_task"),
        ("update_task_status", json!({ "task": "1.1", "status": "cancelled" }), "cancel_task"),
        ("phase_complete", json!({ "phase": 1 }), "complete_phase"),
        ("swarm_edit", json!({ "do": "add", "task": "1.9", "title": "t" }), "add_task"),
        ("swarm_edit", json!({ "do": "edit", "task": "1.1", "title": "t" }), "edit_task"),
        ("swarm_edit", json!({ "do": "move", "task": "1.1" }), "move_task"),
        ("swarm_edit", json!({ "do": "remove", "task": "1.1" }), "remove_task"),
        ("swarm_edit", json!({ "do": "split", "task": "1.1", "parts": [] }), "split_task"),
        ("swarm_edit", json!({ "do": "waive", "task": "1.1", "gate": "check", "reason": "r" }), "waive_gate"),
        ("swarm_edit", json!({ "do": "accept", "task": "1.1", "reason": "r" }), "accept_task"),
        ("swarm_plan", json!({ "do": "approve" }), "approve_plan"),
        ("swarm_plan", json!({ "do": "lock" }), "lock_profile"),
        ("swarm_plan", json!({ "do": "reset" }), "reset_plan"),
        ("swarm_run", json!({ "do": "start" }), "start_tasks"),
        ("swarm_run", json!({ "do": "resume" }), "resume"),
        ("swarm_run", json!({ "do": "mode", "mode": "autopilot" }), "set_mode"),
        ("swarm_run", json!({ "do": "message", "task": "1.1", "text": "t" }), "message_agent"),
        ("swarm_run", json!({ "do": "revive", "agent": "ed-001" }), "revive_agent"),
        ("swarm_run", json!({ "do": "extend_budget" }), "extend_budget"),
        ("swarm_run", json!({ "do": "open_quota", "group": "g" }), "open_quota"),
        ("swarm_run", json!({ "do": "seen", "entry": "e" }), "acknowledge_attention"),
        ("swarm_run", json!({ "do": "retry" }), "retry"),
        ("swarm_run", json!({ "do": "release", "number": 3 }), "release_reservation"),
        ("swarm_stop", json!({ "do": "pause" }), "pause"),
        ("swarm_stop", json!({ "do": "stop", "task": "1.1" }), "stop_agent"),
        ("swarm_stop", json!({ "do": "kill", "task": "1.1" }), "kill_agent"),
        ("swarm_stop", json!({ "do": "redirect", "task": "1.1", "to": "1.2" }), "redirect"),
        ("swarm_stop", json!({ "do": "hold_quota", "group": "g" }), "hold_quota"),
        ("swarm_stop", json!({ "do": "reserve", "files": ["src/**"] }), "reserve"),
        ("swarm_stop", json!({ "do": "drain" }), "drain"),
        ("swarm_checkpoint", json!({ "do": "make" }), "make_checkpoint"),
        ("swarm_checkpoint", json!({ "do": "delete", "name": "n" }), "delete_checkpoint"),
        ("swarm_rollback", json!({ "to": "checkpoint", "name": "n" }), "rollback"),
        ("swarm_rollback", json!({ "to": "task", "task": "1.1" }), "rollback_task"),
        ("swarm_rollback", json!({ "to": "abort" }), "abort"),
        ("swarm_undo", json!({}), "undo"),
        ("swarm_undo", json!({ "redo": true }), "redo"),
        (
            "swarm_review",
            json!({ "task": "1.1", "verdict": "needs_changes", "issues": [{ "text": "t" }] }),
            "review",
        ),
    ]
}

/// Commands that need something looked up first, or are for the program itself.
const OTHERWISE: &[&str] = &[
    "set_profile",      // swarm_plan, on top of the present profile
    "submit_work",      // swarm_complete, with what lies in the worktree
    "close_plan",       // swarm_plan, in steps
    "record_removal",   // swarm_worktree_cleanup, after the proof
    "record_export",    // by `swarm plan export`
    "reopen_plan",      // by `swarm plan reopen`, which moves files
    "set_trunk",        // by `swarm run --trunk`
    "acknowledge_loss", // by `swarm plan salvage`
    "propose",          // what a tool does where a person confirms
    "accept_proposal",  // that person's answer, which is not the program's to give
    "decline_proposal",
    "checkpoint_and_drain", // by `swarm stop --checkpoint`; a program makes the checkpoint first, and stops if it has one
];

#[test]
fn every_command_of_the_api_has_a_tool_or_a_reason() {
    let mut reached: BTreeSet<String> = OTHERWISE.iter().map(|word| (*word).to_owned()).collect();
    for (tool, arguments, word) in calls() {
        let arguments = arguments.as_object().cloned().unwrap_or_default();
        let wish = wish(tool, arguments.clone()).expect("it is understood").expect("it changes something");
        let What::Command(command) = wish.what else { panic!("{tool} {arguments:?}: {:?}", wish.what) };
        let said = serde_json::to_value(&command).expect("plain data")["do"].clone();
        assert_eq!(said, word, "{tool} {arguments:?}");
        reached.insert(word.to_owned());
    }
    let described: Value =
        serde_json::from_str(include_str!("../../../../docs/reference/openapi.json")).expect("JSON");
    let commands = described["components"]["schemas"]["Command"]["oneOf"].as_array().expect("commands");
    let known: BTreeSet<String> = commands
        .iter()
        .filter_map(|command| Some(command["properties"]["do"]["const"].as_str()?.to_owned()))
        .collect();
    assert!(known.len() > 40, "{known:?}");
    assert_eq!(reached, known);
}

#[test]
fn what_takes_something_back_is_careful_and_names_what_a_person_types() {
    for (tool, arguments, word) in calls() {
        let taken_back = ["rollback", "rollback_task", "abort", "undo", "redo", "reset_plan"].contains(&word);
        let wish = wish(tool, arguments.as_object().cloned().unwrap_or_default());
        let wish = wish.expect("it is understood").expect("it changes something");
        assert_eq!((wish.careful, typed(&wish.what).is_some()), (taken_back, taken_back), "{tool} {word}");
    }
}
