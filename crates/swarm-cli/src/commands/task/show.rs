//! `swarm task show TASK`.

use std::fmt::Write;

use swarm_protocol::conflict::shown;
use swarm_protocol::failure::Failure;
use swarm_protocol::ids::TaskId;
use swarm_protocol::plan::Status;
use swarm_protocol::review::Reviewer;
use swarm_protocol::view::{ConflictsWith, MessageView, TaskView};

use super::TaskArg;
use crate::commands::status::screen::spent;
use crate::context::{At, Context};
use crate::error::CliError;
use crate::output::money::{cost, tokens};
use crate::output::paint::{Paint, paint};
use crate::output::time::moment;
use crate::output::{harmless, harmless_lines};
use crate::swarm::Swarm;

/// Show everything about one task
///
/// Its description, state and the reason for it, possible commands, and history.
#[derive(Debug, clap::Args)]
pub struct Args {
    #[command(flatten)]
    pub task: TaskArg,
    #[command(flatten)]
    pub at: At,
}

pub fn run(args: Args, cx: &Context) -> Result<(), CliError> {
    let view = Swarm::open(cx)?.task(&args.task.id, args.at.at)?;
    let colour = cx.out.colour;
    cx.out.view(&view, |view| text(view, colour))
}

fn text(view: &TaskView, colour: bool) -> String {
    let mut text = String::new();
    let head = format!("{}  {}", view.row.id, harmless(&view.row.title));
    let _ = writeln!(text, "{}", paint(colour, Paint::Bold, &head));
    for (name, value) in facts(view) {
        let _ = writeln!(text, "{name:<12}{}", harmless(&value));
    }
    if !view.description.is_empty() {
        let _ = writeln!(text, "\n{}", harmless_lines(&view.description));
    }
    list(&mut text, "Acceptance", view.acceptance.iter().map(String::as_str));
    let messages: Vec<String> = view.messages.iter().map(message).collect();
    list(&mut text, "Messages", messages.iter().map(String::as_str));
    list(&mut text, "Commands", view.commands.iter().map(String::as_str));
    let audit: Vec<String> = view
        .audit
        .iter()
        .map(|entry| format!("{}  {}  {}", moment(entry.at), entry.event, entry.details))
        .collect();
    list(&mut text, "History", audit.iter().map(String::as_str));
    text
}

/// Name and value of what is worth a line; what is empty is left out.
fn facts(view: &TaskView) -> Vec<(&'static str, String)> {
    let row = &view.row;
    let why = view.why.clone().unwrap_or_default();
    let was = if row.status == Status::Gone { "was " } else { "" };
    let proof = view.proof.as_ref().map(|p| format!("{was}{} on {}", p.commit, p.trunk)).unwrap_or_default();
    let waived: Vec<&str> = view.waived.iter().map(|gate| gate.word()).collect();
    let all = [
        ("status", row.status.word().to_owned()),
        ("stage", row.stage.clone()),
        ("blocked by", view.block.map(|block| block.word().to_owned()).unwrap_or_default()),
        ("why", why),
        ("not before", view.not_before.map(moment).unwrap_or_default()),
        ("phase", row.phase.to_string()),
        ("depends on", ids(&row.depends)),
        ("unblocks", ids(&view.unblocks)),
        ("priority", view.priority.to_string()),
        ("size", view.size.map(|size| format!("{size:?}").to_lowercase()).unwrap_or_default()),
        ("files", view.files.join(", ")),
        ("reserve", view.reserve.join(", ")),
        ("share", view.share.join(", ")),
        ("tags", view.tags.join(", ")),
        ("agent", row.agent.as_ref().map(ToString::to_string).unwrap_or_default()),
        ("attempts", count(row.attempts)),
        ("restarts", count(row.restarts)),
        ("retries", count(view.retries)),
        ("crashes", count(view.crashes)),
        ("nudged", view.nudge.clone().unwrap_or_default()),
        ("profile", view.profile.clone()),
        ("part of", view.parent.as_ref().map(ToString::to_string).unwrap_or_default()),
        ("parts", ids(&view.parts)),
        ("budget", view.budget.as_ref().map(spent).unwrap_or_default()),
        ("waited", waited(view.transient_retries)),
        (
            "reviewer",
            Some(view.reviewer.word()).filter(|_| view.reviewer != Reviewer::None).unwrap_or_default().into(),
        ),
        ("reviews", reviews(view.review_rounds)),
        ("used", used(view)),
        ("failure", view.failure.as_ref().map(failure).unwrap_or_default()),
        ("try", view.failure.as_ref().and_then(|failure| failure.hint.clone()).unwrap_or_default()),
        ("red merges", count(view.merge_rounds)),
        ("conflicts", conflicts(&view.conflicts_with)),
        ("resolved", shown(&view.resolved)),
        ("branch", view.branch.clone()),
        ("waived", waived.join(", ")),
        ("proof", proof),
    ];
    all.into_iter().filter(|(_, value)| !value.is_empty()).collect()
}

/// `trunk in src/a.rs; 1.2 in src/b.rs, c.txt`
fn conflicts(all: &[ConflictsWith]) -> String {
    let one = |one: &ConflictsWith| format!("{} in {}", one.with, one.files.join(", "));
    all.iter().map(one).collect::<Vec<_>>().join("; ")
}

/// Tokens and money of all attempts.
fn used(view: &TaskView) -> String {
    let spent = [tokens(&view.usage), cost(&view.usage)];
    spent.into_iter().filter(|text| !text.is_empty()).collect::<Vec<_>>().join(", ")
}

fn failure(failure: &Failure) -> String {
    format!("{} ({})", failure.sentence(), failure.class.word())
}

fn waited(times: u32) -> String {
    match times {
        0 => String::new(),
        1 => "once for a service or the network".into(),
        n => format!("{n} times in a row for a service or the network"),
    }
}

fn reviews(rounds: u32) -> String {
    match rounds {
        0 => String::new(),
        1 => "changes were requested once".into(),
        n => format!("changes were requested {n} times"),
    }
}

/// When, who, what, and whether it has arrived.
fn message(message: &MessageView) -> String {
    let arrived = match (&message.landed, &message.undelivered) {
        (Some(landed), _) => format!("delivered in iteration {} of {}", landed.iteration, landed.run),
        (None, Some(why)) => format!("not delivered: {why}"),
        (None, None) => "queued".into(),
    };
    format!("{}  {}  {} ({arrived})", moment(message.at), message.by, message.text)
}

fn count(number: u32) -> String {
    if number == 0 { String::new() } else { number.to_string() }
}

fn ids(ids: &[TaskId]) -> String {
    ids.iter().map(TaskId::as_str).collect::<Vec<_>>().join(", ")
}

fn list<'a>(text: &mut String, head: &str, entries: impl Iterator<Item = &'a str>) {
    let mut entries = entries.peekable();
    if entries.peek().is_some() {
        let _ = writeln!(text, "\n{head}");
    }
    for entry in entries {
        let _ = writeln!(text, "  {}", harmless(entry));
    }
}
