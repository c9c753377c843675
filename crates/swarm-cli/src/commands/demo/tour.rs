//! `swarm demo --tour`: five short scenes, each with what a person would type.

use super::repository::Repository;
use super::second_thoughts::Person;
use crate::error::CliError;
use crate::output;

const PLAN: &str = "# A book of three chapters

- [ ] 1.1 Write the chapter on worktrees
  ```script
  write chapters/01-worktrees.md # Worktrees
  commit feat: chapter on worktrees
  complete
  ```
- [ ] 1.2 Write the chapter on merges
  ```script
  write chapters/02-merges.md # Merges
  commit feat: chapter on merges
  complete
  ```
- [ ] 1.3 Write the index
  depends: 1.1, 1.2
  ```script
  write chapters/03-index.md # Index
  commit feat: index
  complete
  ```
";

const RUN: &[&str] = &["run", "--agent", "script", "--agents", "2", "--mode", "autopilot"];

/// What each scene is about, and what is typed in it.
const SCENES: &[(&str, &[&[&str]])] = &[
    (
        "A plan is a file. It is saved into the ledger, and says what is ready.",
        &[&["plan", "save", "plan.md"], &["ls"]],
    ),
    ("Two agents work, each in a worktree of its own. Their work is checked, merged, and verified.", &[RUN]),
    (
        "Everything can be looked at afterwards: the work of a task, what its agent printed, the cost.",
        &[&["diff", "1.1"], &["log", "1.1"], &["cost"]],
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
    std::fs::write(repository.root.join("plan.md"), PLAN)
        .map_err(|error| CliError::environment("Cannot write the plan of the tour").because(error))?;
    let person = Person { repository };
    for (number, (about, typed)) in SCENES.iter().enumerate() {
        output::note(&format!("\n{}. {about}\n", number + 1));
        typed.iter().try_for_each(|words| person.types(words))?;
    }
    Ok(())
}
