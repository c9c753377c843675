//! `swarm demo --tour`: five short scenes, each with what a person would type.

use super::repository::Repository;
use super::second_thoughts::Person;
use crate::error::CliError;
use crate::output;

/// What is wanted, and what the scripted agent does that plans it.
const GOAL: &str =
    "A book of three chapters\n\n```plan-script\nprint I have read the preface.\nsh cat outline.json\n```";

/// What it proposes; an agent reviews what has the tag.
const OUTLINE: &str = r##"{"phases":[{"id":1,"name":"Chapters","tasks":[
{"id":"1.1","title":"Write the chapter on worktrees","size":"small","files":["chapters/01-worktrees.md"],
 "description":"```script\nwrite chapters/01-worktrees.md # Worktrees\ncommit feat: chapter on worktrees\ncomplete\n```"},
{"id":"1.2","title":"Write the chapter on merges","size":"small","files":["chapters/02-merges.md"],
 "description":"```script\nwrite chapters/02-merges.md # Merges\ncommit feat: chapter on merges\ncomplete\n```"},
{"id":"1.3","title":"Write the index","depends":["1.1","1.2"],"tags":["reviewed"],
 "description":"```script\nwrite chapters/03-index.md # Index\ncommit feat: index\ncomplete\n```\n\n```review-script\nprint {\"verdict\":\"approve\",\"summary\":\"both chapters are there\"}\n```"}
]}]}
"##;

const RUN: &[&str] = &["run", "--agent", "script", "--agents", "2", "--mode", "autopilot"];

/// What each scene is about, and what is typed in it.
const SCENES: &[(&str, &[&[&str]])] = &[
    (
        "A goal becomes a plan: an agent reads the repository and proposes it, you approve it, and it says what is ready.",
        &[&["plan", "make", GOAL, "--agent", "script", "--yes"], &["ls"]],
    ),
    (
        "Two agents work, each in a worktree of its own. Their work is checked, the index also reviewed by an agent, merged, and verified.",
        &[RUN],
    ),
    (
        "Everything can be looked at afterwards: the work of a task, what its agent printed, the cost.",
        &[&["diff", "1.1"], &["log", "1.1"], &["task", "show", "1.3"], &["cost"]],
    ),
    (
        "Work is taken back after a look at what that would do, and the undo brings it back.",
        &[
            &["task", "rollback", "1.3", "--dry-run"],
            &["task", "rollback", "1.3", "--yes"],
            &["undo", "--yes"],
        ],
    ),
    (
        "Nothing has to be believed: the ledger is checked against its own hashes, and every step is in it.",
        &[&["plan", "verify"], &["op", "log"]],
    ),
];

pub fn play(repository: &Repository) -> Result<(), CliError> {
    std::fs::write(repository.root.join("outline.json"), OUTLINE.replace('\n', " "))
        .map_err(|error| CliError::environment("Cannot write the outline of the tour").because(error))?;
    let person = Person { repository };
    for (number, (about, typed)) in SCENES.iter().enumerate() {
        output::note(&format!("\n{}. {about}\n", number + 1));
        typed.iter().try_for_each(|words| person.types(words))?;
    }
    Ok(())
}
