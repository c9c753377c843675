//! `swarm review show TASK`.

use std::fmt::Write;

use serde::Serialize;
use swarm_git::DiffKind;
use swarm_protocol::diff::{DiffAsk, RoundView};
use swarm_protocol::ids::TaskId;
use swarm_protocol::view::{MemberView, ReviewView, TaskView};

use crate::commands::task::TaskArg;
use crate::context::Context;
use crate::error::CliError;
use crate::output::paint::{Paint, paint};
use crate::output::time::moment;
use crate::output::{harmless, harmless_lines};
use crate::swarm::Swarm;

/// Show what was submitted, what was asked for, and earlier verdicts
///
/// The files that changed are listed; `swarm task diff TASK` shows the changes themselves.
///
/// Example: swarm review show 1.2
#[derive(Debug, clap::Args)]
pub struct Args {
    #[command(flatten)]
    pub task: TaskArg,
}

/// What a reviewer needs.
#[derive(Debug, Serialize)]
struct Shown {
    #[serde(flatten)]
    review: ReviewView,
    description: String,
    acceptance: Vec<String>,
    depends: Vec<String>,
    unblocks: Vec<String>,
    /// Earlier rounds and this one.
    rounds: Vec<RoundView>,
    /// The files that changed, in words of git.
    files: String,
    /// The same since the last round; empty in the first.
    since_last_round: String,
    /// The branch is there now, when it has moved on since.
    branch_now: Option<String>,
    /// Whether the submitted commit is in what the branch is now.
    branch_goes_on: Option<bool>,
}

pub fn run(args: Args, cx: &Context) -> Result<(), CliError> {
    let swarm = Swarm::open(cx)?;
    let id = &args.task.id;
    let review = swarm.review(id)?;
    let task = swarm.task(id, None)?;
    let rounds = swarm.rounds(id)?;
    let files = swarm.diff_of(&swarm.work_of(&DiffAsk::of(id.clone()))?, DiffKind::Stat)?;
    let since_last_round = since_last(&swarm, id, &rounds)?;
    let tip = swarm.tip_of(id)?.filter(|tip| *tip != review.submitted);
    let goes_on = tip.as_ref().map(|tip| swarm.is_in(&review.submitted, tip)).transpose()?;
    let shown = Shown {
        description: task.description.clone(),
        acceptance: task.acceptance.clone(),
        depends: named(&swarm, &task.row.depends)?,
        unblocks: named(&swarm, &task.unblocks)?,
        rounds,
        files: String::from_utf8_lossy(&files).into_owned(),
        since_last_round,
        branch_now: tip.map(|tip| tip.to_string()),
        branch_goes_on: goes_on,
        review,
    };
    let colour = cx.out.colour;
    cx.out.view(&shown, |shown| text(shown, &task, colour))
}

/// What changed since the work was submitted the last time; where trunk was merged in between, its part is left out.
fn since_last(swarm: &Swarm, id: &TaskId, rounds: &[RoundView]) -> Result<String, CliError> {
    let [.., before, now] = rounds else { return Ok(String::new()) };
    if before.commit == now.commit {
        return Ok("nothing: the same commit was submitted again".into());
    }
    let (round, since) = (Some(now.round), Some(before.round));
    let stretch = swarm.work_of(&DiffAsk { round, since, ..DiffAsk::of(id.clone()) })?;
    if stretch.mixed {
        let n = before.round;
        return Ok(format!("trunk was merged in between; compare with `swarm task diff {id} --round {n}`"));
    }
    Ok(String::from_utf8_lossy(&swarm.diff_of(&stretch, DiffKind::Stat)?).into_owned())
}

/// Ids with their titles.
fn named(swarm: &Swarm, ids: &[TaskId]) -> Result<Vec<String>, CliError> {
    ids.iter().map(|id| Ok(format!("{id}  {}", swarm.task(id, None)?.row.title))).collect()
}

fn text(shown: &Shown, task: &TaskView, colour: bool) -> String {
    let Shown { review, .. } = shown;
    let mut text = String::new();
    let head = format!("{}  {}", review.task, harmless(&task.row.title));
    let _ = writeln!(text, "{}", paint(colour, Paint::Bold, &head));
    let facts = [
        ("reviewer", review.reviewer.word().into()),
        ("round", format!("{} of {}", review.round, review.rounds)),
        (
            "submitted",
            format!(
                "{} ({}), submission {}",
                review.submitted.short(),
                moment(review.since),
                shown.rounds.len()
            ),
        ),
        ("branch", review.branch.clone()),
    ];
    for (name, value) in facts {
        let _ = writeln!(text, "{name:<12}{}", harmless(&value));
    }
    if let Some(now) = &shown.branch_now {
        let short: String = now.chars().take(8).collect();
        let (id, submitted) = (&review.task, review.submitted.short());
        let way = match shown.branch_goes_on {
            Some(true) => format!(
                "`git diff {submitted} {short}` shows the rest, `swarm worktree merge {id}` merges all of it, `swarm review approve {id} --commit {submitted}` what was submitted"
            ),
            _ => format!("`swarm review approve {id} --commit {submitted}` merges what was submitted"),
        };
        let _ = writeln!(text, "{:<12}the branch is at {short} now; {way}", "moved");
    }
    if !shown.description.is_empty() {
        let _ = writeln!(text, "\n{}", harmless_lines(&shown.description));
    }
    list(&mut text, "Acceptance", &shown.acceptance);
    list(&mut text, "Builds on", &shown.depends);
    list(&mut text, "Waiting for it", &shown.unblocks);
    list(&mut text, "Changes protected files", &review.protected);
    list(&mut text, "Council", &review.council.iter().flat_map(voice).collect::<Vec<_>>());
    for round in shown.rounds.iter().filter(|round| round.verdict.is_some()) {
        let verdict = round.verdict.as_deref().unwrap_or_default();
        let name = format!("Submission {} ({}, {verdict})", round.round, round.commit.short());
        list(&mut text, &name, &round.notes);
    }
    let files = if shown.files.is_empty() { "the branch changes nothing" } else { &shown.files };
    let _ = writeln!(text, "\nChanges\n{}", indented(files));
    if !shown.since_last_round.is_empty() {
        let _ = writeln!(text, "\nChanges since the last submission\n{}", indented(&shown.since_last_round));
    }
    let mut commands = vec![format!("swarm task diff {}", review.task)];
    commands.extend(review.commands.iter().filter(|command| !command.contains(" review show ")).cloned());
    list(&mut text, "Commands", &commands);
    text
}

/// What a member of the council says, and its remarks below.
fn voice(member: &MemberView) -> Vec<String> {
    let said = match member.voice {
        Some(voice) => format!("{}: {}", voice.word(), member.said),
        None => "has not spoken".into(),
    };
    vec![format!("{} ({}) {said}", member.member, member.profile)]
}

fn indented(text: &str) -> String {
    text.lines().map(|line| format!("  {}", harmless(line.trim()))).collect::<Vec<_>>().join("\n")
}

fn list(text: &mut String, name: &str, entries: &[String]) {
    if entries.is_empty() {
        return;
    }
    let _ = writeln!(text, "\n{name}");
    for entry in entries {
        let _ = writeln!(text, "  {}", harmless_lines(entry).replace('\n', "\n    "));
    }
}
