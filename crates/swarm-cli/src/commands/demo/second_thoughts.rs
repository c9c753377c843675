//! The second half of the demo: a person intervenes, takes back, and takes back the taking back.

use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};

use super::repository::{Repository, git};
use crate::error::CliError;
use crate::output::{self, layout};

/// Works until somebody gives its agent something else to do; the second time it is quick.
const SLOW: &str = "```script\nwrite chapters/05-undo.md # Undo\non-attempt 1: sleep 60000\n\
    append chapters/05-undo.md Also of itself.\ncommit feat: chapter on undo\ncomplete\n```";
const QUICK: &str =
    "```script\nwrite chapters/06-hooks.md # Hooks\ncommit feat: chapter on hooks\ncomplete\n```";

/// Everything that is typed here could be typed by you.
pub fn play(repository: &Repository) -> Result<(), CliError> {
    let person = Person { repository };
    output::note("\nNow a person steps in. Everything below is typed as you would type it:\n");
    person.types(&["checkpoint", "create", "first-edition"])?;
    person.types(&[
        "task",
        "add",
        "Write the chapter on undo",
        "--id",
        "3.1",
        "--phase",
        "2",
        "--description",
        SLOW,
    ])?;
    person.types(&[
        "task",
        "add",
        "Write the chapter on hooks",
        "--id",
        "3.2",
        "--phase",
        "2",
        "--description",
        QUICK,
    ])?;
    person.redirects()?;
    person.says("The work of one task is taken out of trunk …");
    person.types(&["task", "rollback", "2.2", "--yes"])?;
    person.trunk()?;
    person.says("… and the undo brings it back.");
    person.types(&["undo", "--yes"])?;
    person.trunk()?;
    person.says("Plan, trunk and branches go back to the first edition …");
    person.types(&["rollback", "first-edition", "--yes"])?;
    person.trunk()?;
    person.says("… and forward again. Nothing is deleted, so everything can be restored.");
    person.types(&["undo", "--yes"])?;
    person.trunk()?;
    person.types(&["op", "log"])
}

pub(super) struct Person<'a> {
    pub repository: &'a Repository,
}

impl Person<'_> {
    fn says(&self, text: &str) {
        output::note(&format!("  » {text}"));
    }

    fn swarm(&self, args: &[&str]) -> Result<Command, CliError> {
        let exe = std::env::current_exe()
            .map_err(|error| CliError::environment("Cannot find the swarm program").because(error))?;
        let mut command = Command::new(exe);
        command.current_dir(&self.repository.root).args(args).stdin(Stdio::null());
        // What it prints stands two columns further in.
        if let Some(columns) = layout::columns(std::io::stderr()) {
            command.env("COLUMNS", (columns - 2).to_string());
        }
        Ok(command)
    }

    /// Shows the command and what it answers.
    pub fn types(&self, args: &[&str]) -> Result<(), CliError> {
        let shown: Vec<String> = args.iter().map(|arg| as_typed(arg)).collect();
        output::note(&format!("  $ swarm {}", shown.join(" ")));
        let failed = |error: std::io::Error| CliError::environment("Cannot run swarm").because(error);
        let out = self.swarm(args)?.output().map_err(failed)?;
        for line in String::from_utf8_lossy(&out.stdout).lines() {
            output::note(&format!("  {line}"));
        }
        if out.status.success() {
            return Ok(());
        }
        let said = String::from_utf8_lossy(&out.stderr).trim().to_owned();
        Err(CliError::environment(format!("swarm {} did not work", shown.join(" "))).because(said))
    }

    fn trunk(&self) -> Result<(), CliError> {
        let log = git(&self.repository.root, &["log", "-3", "--format=%h %s", "main"])?;
        output::note("  $ git log -3 main");
        log.lines().for_each(|line| output::note(&format!("  {line}")));
        Ok(())
    }

    /// One agent, two tasks: it is held, let go, and given the other task in the middle of the first.
    fn redirects(&self) -> Result<(), CliError> {
        let failed = |error: std::io::Error| CliError::environment("Cannot start swarm run").because(error);
        let mut run = self.swarm(&["run", "--agent", "script", "--agents", "1", "--mode", "autopilot"])?;
        output::note("  $ swarm run --agents 1 --mode autopilot &");
        let mut run = run.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().map_err(failed)?;
        let lines = run.stderr.take().map(BufReader::new);
        let mut waiting = true;
        for line in lines.into_iter().flat_map(|lines| lines.lines().map_while(Result::ok)) {
            output::note(&format!("  {line}"));
            if waiting && line.ends_with(" is working") {
                waiting = false;
                self.types(&["pause", "--reason", "lunch"])?;
                self.types(&["resume"])?;
                self.types(&["agent", "redirect", "3.1"])?;
                self.types(&["agent", "redirect", "3.1", "3.2"])?;
            }
        }
        let ended = run.wait().map_err(failed)?;
        if ended.success() {
            return Ok(());
        }
        Err(CliError::environment(format!("swarm run ended with {ended}")))
    }
}

/// Of several lines the first, and of a script nothing: a person would have it in a file.
fn as_typed(arg: &str) -> String {
    match arg.split_once('\n') {
        Some((first, _)) if first.starts_with('`') => "…".into(),
        Some((first, _)) => format!("'{first} …'"),
        None => arg.into(),
    }
}
