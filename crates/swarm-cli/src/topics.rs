//! `swarm help TOPIC`: the guides, for whoever has the binary and not the source. One source: the pages of `docs/`.

use std::process::ExitCode;

use crate::exit::Exit;
use crate::output::{self, Output, layout};

struct Topic {
    name: &'static str,
    about: &'static str,
    page: &'static str,
}

macro_rules! topics {
    ($($name:literal, $about:literal, $page:literal;)*) => {
        &[$(Topic { name: $name, about: $about, page: include_str!(concat!("../guides/", $page)) }),*]
    };
}

/// In the order in which a new user needs them.
const TOPICS: &[Topic] = topics! {
    "first-run", "from an empty folder to merged work", "first-run.md";
    "plan", "the plan format, and how to write a good plan", "plans.md";
    "planning", "let an agent write the plan", "planning.md";
    "goal-to-trunk", "one goal, real programs, and what a person sees", "goal-to-trunk.md";
    "config", "every key of the configuration", "configuration.md";
    "agents", "real agent programs", "real-agents.md";
    "script", "agents that follow a script, for trying things out", "script-agent.md";
    "recipes", "checks and set-up for Rust, Node, Python, Go, Java", "recipes.md";
    "hooks", "your own programs, run when something happens", "hooks.md";
    "review", "who looks at work before it is merged", "reviewing.md";
    "conflicts", "when two tasks change the same lines", "conflicts.md";
    "taking-back", "rollback, undo, checkpoints", "taking-back.md";
    "recovery", "what happens when something fails", "recovery.md";
    "terminal", "the terminal UI", "terminal.md";
    "web-ui", "the swarm in a browser", "web.md";
    "mcp", "control the swarm from other programs", "mcp.md";
    "observability", "metrics, logs, cost", "observability.md";
    "security", "what an agent may do, and what it may not", "security.md";
    "platforms", "what other systems lack", "platforms.md";
    "troubleshooting", "by symptom", "troubleshooting.md";
    "glossary", "the words we use", "glossary.md";
};

/// Prints the page that `help WORD` asks for; none where it asks for something else, a command for example.
pub fn answer(arguments: &[std::ffi::OsString]) -> Option<ExitCode> {
    let [help, word] = arguments else { return None };
    if help != "help" {
        return None;
    }
    let text = match word.to_str()? {
        "topics" => list(),
        name => shown(TOPICS.iter().find(|topic| topic.name == name)?),
    };
    Some(match Output::new(false).text(&text) {
        Ok(()) => Exit::Done.into(),
        Err(error) => output::report(&error, false),
    })
}

fn list() -> String {
    let lines = TOPICS.iter().map(|topic| format!("  {:<16} {}\n", topic.name, topic.about));
    format!("Guides, to be read with `swarm help TOPIC`:\n\n{}", lines.collect::<String>())
}

/// The page without its marks for the tests; where a command has the same name, its help is named.
fn shown(topic: &Topic) -> String {
    let is_mark = |line: &&str| line.trim_start().starts_with("<!-- ") && line.ends_with(" -->");
    let mut text: String =
        topic.page.lines().filter(|line| !is_mark(line)).map(|line| format!("{line}\n")).collect();
    let is_command =
        <crate::cli::Cli as clap::CommandFactory>::command().find_subcommand(topic.name).is_some();
    if is_command {
        text.push_str(&format!("\nThe command of this name: `swarm {} --help`\n", topic.name));
    }
    layout::page(&text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_topic_fits_an_ordinary_terminal_and_shows_no_marks() {
        for topic in TOPICS {
            let text = shown(topic);
            assert!(!text.contains("<!-- run"), "{}", topic.name);
            assert!(text.starts_with("# "), "{}", topic.name);
        }
        assert!(list().lines().all(|line| line.chars().count() <= 80), "{}", list());
    }

    #[test]
    fn every_guide_is_a_topic() {
        let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("guides");
        let pages = std::fs::read_dir(folder).expect("the guides").count();
        assert_eq!(pages, TOPICS.len());
    }
}
