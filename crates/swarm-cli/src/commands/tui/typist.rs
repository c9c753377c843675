//! Commands that are typed on the screen: this binary once more, with the words of the person.

use std::io::Read;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use clap::CommandFactory;
use swarm_protocol::api::ApiError;
use swarm_protocol::oplog::PreviewView;
use swarm_tui::typed::{Does, Looked, Typed, Typist};

use crate::cli::Cli;

/// Screens of their own, which cannot stand within this one.
const SCREENS: [&str; 3] = ["tui", "demo", "mcp"];
/// They open an editor.
const HERE: [&str; 1] = ["plan edit"];
/// Longer output is for a shell.
const SAID_MAX: u64 = 256 * 1024;
/// One that follows something would never end.
const PATIENCE: Duration = Duration::from_secs(120);
const LOOK_AGAIN: Duration = Duration::from_millis(5);

pub struct OurOwn {
    pub repo: PathBuf,
}

impl Typist for OurOwn {
    fn commands(&self) -> Vec<Typed> {
        let mut found = Vec::new();
        leaves(&Cli::command(), "", &mut found);
        found
    }

    fn look(&self, words: &[String], does: Does) -> Result<Looked, ApiError> {
        if does != Does::Changes {
            return said_by(&mut self.command(words)?).map(Looked::Text);
        }
        // Most say it as data, with the hash that binds what is done to what was seen.
        if let Ok(text) = said_by(self.command(words)?.args(["--dry-run", "--json"]))
            && let Ok(preview) = serde_json::from_str::<PreviewView>(&text)
        {
            return Ok(Looked::Preview(Box::new(preview)));
        }
        said_by(self.command(words)?.arg("--dry-run")).map(Looked::Text)
    }

    fn call(&self, words: &[String], seen: Option<&str>) -> Result<String, ApiError> {
        let mut command = self.command(words)?;
        if asks(words) {
            command.arg("--yes");
        }
        if let Some(seen) = seen {
            command.arg(format!("--seen-preview={seen}"));
        }
        // One that stays goes into the background; the screen is what shows it.
        if words.first().is_some_and(|word| word == "run") && !words.iter().any(|word| word == "--detach") {
            command.arg("--detach");
        }
        said_by(&mut command)
    }

    fn call_here(&self, words: &[String]) -> Result<(), String> {
        let mut command = self.command(words).map_err(|error| error.message)?;
        let status = command.status().map_err(|error| error.to_string())?;
        match status.success() {
            true => Ok(()),
            false => Err(format!("swarm {} ended with {status}", words.join(" "))),
        }
    }
}

impl OurOwn {
    /// What it is given stands before a bare `--`, behind which an option would be a word.
    fn command(&self, words: &[String]) -> Result<Command, ApiError> {
        let mut command = Command::new(std::env::current_exe().map_err(failed)?);
        command.arg("-C").arg(&self.repo).args(["--typed-on", "tui"]).args(words).env("NO_COLOR", "1");
        Ok(command)
    }
}

fn failed(error: std::io::Error) -> ApiError {
    ApiError::new("failed", format!("Cannot start it: {error}"), "")
}

/// Every command that has none below it, as its help names it.
fn leaves(command: &clap::Command, before: &str, found: &mut Vec<Typed>) {
    for inner in command.get_subcommands().filter(|inner| !inner.is_hide_set()) {
        let words = format!("{before}{}", inner.get_name());
        if SCREENS.contains(&words.as_str()) && !inner.has_subcommands() {
            continue;
        }
        if inner.has_subcommands() {
            leaves(inner, &format!("{words} "), found);
            continue;
        }
        let looks = inner.get_arguments().any(|arg| arg.get_long() == Some("dry-run"));
        let does = match looks {
            _ if HERE.contains(&words.as_str()) => Does::Here,
            true => Does::Changes,
            false => Does::Reads,
        };
        let needed = inner.get_positionals().filter(|arg| arg.is_required_set());
        let named = |arg: &clap::Arg| {
            let names = arg.get_value_names().and_then(|names| names.first()).map(ToString::to_string);
            format!("<{}>", names.unwrap_or_else(|| arg.get_id().to_string().to_uppercase()))
        };
        let takes = needed.map(named).collect::<Vec<_>>().join(" ");
        let about = inner.get_about().map(ToString::to_string).unwrap_or_default();
        found.push(Typed { words, about, takes, does });
    }
}

fn said_by(command: &mut Command) -> Result<String, ApiError> {
    let child = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn();
    ended(child.map_err(failed)?)
}

/// The command would ask, and the person has answered on the screen.
fn asks(words: &[String]) -> bool {
    let tree = Cli::command();
    let mut at = &tree;
    for word in words {
        match at.find_subcommand(word) {
            Some(inner) => at = inner,
            None => break,
        }
    }
    at.get_arguments().any(|arg| arg.get_long() == Some("yes"))
}

/// What it said, or why it was refused.
#[allow(
    clippy::disallowed_methods,
    reason = "the end of a child comes without a signal of its own, and within a limit"
)]
fn ended(mut child: Child) -> Result<String, ApiError> {
    let (out, err) = (child.stdout.take(), child.stderr.take());
    let said = std::thread::spawn(move || text_of(out));
    let complained = std::thread::spawn(move || text_of(err));
    let until = Instant::now() + PATIENCE;
    let status = loop {
        match child.try_wait().map_err(failed)? {
            Some(status) => break status,
            None if Instant::now() >= until => {
                let _ = child.kill();
                let _ = child.wait();
                let message = format!("It did not end within {} s", PATIENCE.as_secs());
                return Err(ApiError::new("failed", message, "Run it in a shell"));
            }
            None => std::thread::sleep(LOOK_AGAIN),
        }
    };
    let (said, complained) = (said.join().unwrap_or_default(), complained.join().unwrap_or_default());
    // What was asked for a judgement, as `swarm doctor` is, has said a bad one on stdout.
    if status.success() || (complained.trim().is_empty() && !said.trim().is_empty()) {
        return Ok(if said.trim().is_empty() { complained } else { said });
    }
    // The last line says what would help, where something would.
    let mut lines: Vec<&str> = complained.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    let hint = lines.pop_if(|line| line.starts_with("Hint: ")).unwrap_or_default();
    let hint = hint.trim_start_matches("Hint: ").trim_start_matches("Run ").trim_matches('`');
    let message = lines.join("\n");
    Err(ApiError::new("refused", message.trim_start_matches("Error: "), hint))
}

fn text_of(from: Option<impl Read>) -> String {
    let mut bytes = Vec::new();
    if let Some(from) = from {
        // What cannot be read was not said.
        let _ = from.take(SAID_MAX).read_to_end(&mut bytes);
    }
    crate::output::harmless_lines(&String::from_utf8_lossy(&bytes))
}
