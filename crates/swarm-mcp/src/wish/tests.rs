//! Every command has its call, and what is dangerous is known as such.

use std::collections::BTreeSet;

use super::*;

/// A call for each command that has a tool, and the command that it is: the table that is also held against every role.
fn calls() -> Vec<(String, Value, String)> {
    let table = include_str!("../../../swarm-cli/tests/mcp/calls.json");
    let table: Vec<Value> = serde_json::from_str(table).expect("JSON");
    let row = |row: &Value| {
        let word = |name: &str| row[name].as_str().map(str::to_owned);
        Some((word("tool")?, row["arguments"].clone(), word("command")?))
    };
    table.iter().filter_map(row).collect()
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
        let wish = wish(&tool, arguments.clone()).expect("it is understood").expect("it changes something");
        let What::Command(command) = wish.what else { panic!("{tool} {arguments:?}: {:?}", wish.what) };
        let said = serde_json::to_value(&command).expect("plain data")["do"].clone();
        assert_eq!(said, word.as_str(), "{tool} {arguments:?}");
        reached.insert(word);
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
        let taken_back =
            ["rollback", "rollback_task", "abort", "undo", "redo", "reset_plan"].contains(&word.as_str());
        let wish = wish(&tool, arguments.as_object().cloned().unwrap_or_default());
        let wish = wish.expect("it is understood").expect("it changes something");
        assert_eq!((wish.careful, typed(&wish.what).is_some()), (taken_back, taken_back), "{tool} {word}");
    }
}
