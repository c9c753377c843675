//! `swarm plan make GOAL`: an agent proposes a plan, a person approves it.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use serde::Serialize;
use swarm_protocol::failure::Usage;
use swarm_protocol::plan::{PlanFile, TaskFile};
use tokio::signal::unix::{SignalKind, signal};

use crate::commands::operate::{Confirm, says_yes, shown_lines, unconfirmed};
use crate::context::Context;
use crate::error::CliError;
use crate::output::table::table;
use crate::output::{self, harmless, money};
use crate::swarm::Swarm;
use crate::swarm::planning::Draft;

/// Make a plan from a goal
///
/// An agent reads the repository, which it cannot change, and proposes tasks with their dependencies. You see the plan and
/// approve it before it is saved; `swarm plan refine` changes it. Until then the proposal is kept in .swarm/plan-draft.json.
///
/// Example: swarm plan make "Add a --json flag to every command"
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Goal of the plan
    #[arg(value_name = "GOAL")]
    pub goal: String,
    /// Profile or agent program that plans (default: `plan.profile`, else `agent` in the configuration)
    #[arg(long, value_name = "PROFILE")]
    pub agent: Option<String>,
    #[command(flatten)]
    pub sure: Confirm,
}

/// Where a proposed plan is kept.
pub const DRAFT: &str = ".swarm/plan-draft.json";

/// What a shell calls the end by Ctrl+C.
const INTERRUPTED: i32 = 130;

/// What is shown for approval, and what became of it.
#[derive(Debug, Serialize)]
struct DraftView<'a> {
    plan: &'a PlanFile,
    draft: &'a str,
    usage: Usage,
    approved: bool,
}

pub fn run(args: Args, cx: &Context) -> Result<(), CliError> {
    let swarm = Swarm::open(cx)?;
    if args.sure.dry_run {
        return would_ask(cx, "plan make", &swarm.planner_for(&args.goal, args.agent.as_deref())?, DRAFT);
    }
    let draft = swarm.make_draft(&args.goal, args.agent.as_deref())?;
    approve(cx, &swarm, &draft, args.sure.yes).map(drop)
}

/// Without asking anybody: a question to an agent costs money.
pub fn would_ask(cx: &Context, kind: &str, profile: &str, file: &str) -> Result<(), CliError> {
    let lines = [
        format!("ask {profile}, which can read the repository and change nothing"),
        format!("save its proposal in {file}"),
        "show it, and ask whether to use it".to_owned(),
    ];
    shown_lines(cx, kind, &lines)
}

/// Refused where a draft alone is not what is wanted, and nobody could approve it: it would be paid for in vain.
pub fn can_be_approved(cx: &Context, swarm: &Swarm, yes: bool) -> Result<(), CliError> {
    match cx.out.json && !yes && !swarm.approves_plans_itself()? {
        true => Err(unconfirmed("--json asks nothing")),
        false => Ok(()),
    }
}

/// Shows it, asks, saves it. False: it stays a draft.
pub fn approve(cx: &Context, swarm: &Swarm, draft: &Draft, yes: bool) -> Result<bool, CliError> {
    let view =
        |approved| DraftView { plan: &draft.plan, draft: &draft.file, usage: draft.talk.usage, approved };
    let ways = format!(
        "Kept in {}: `swarm plan save {}` saves it, `swarm plan refine WISH` changes it",
        draft.file,
        swarm.pasted(&swarm.root().join(&draft.file))
    );
    if !cx.out.json {
        cx.out.prose(&text(draft))?;
    }
    let sure_already = yes || swarm.approves_plans_itself()?;
    // As JSON nobody is asked: it stays the draft that was asked for.
    let wanted = sure_already || (!cx.out.json && asked(cx, "\nSave and approve this plan?", &ways)?);
    if wanted {
        let answer = swarm.take_draft(draft)?;
        if !cx.out.json {
            cx.out.prose(&answer)?;
        }
    } else if cx.out.json {
        output::note(&ways);
    } else {
        cx.out.prose(&ways)?;
    }
    if cx.out.json {
        cx.out.json_value(&view(wanted))?;
    }
    Ok(wanted)
}

/// Whether a person wants it; `ways` say how to go on where nobody can be asked.
pub fn asked(cx: &Context, question: &str, ways: &str) -> Result<bool, CliError> {
    let _leave = LeaveOnInterrupt::new();
    says_yes(cx, question).map_err(|error| error.say(ways))
}

fn text(draft: &Draft) -> String {
    let mut all = format!("{}\n", harmless(draft.plan.goal.lines().next().unwrap_or_default()));
    for phase in &draft.plan.phases {
        all.push_str(&format!("\nPhase {}: {}\n", phase.id, harmless(&phase.name)));
        all.push_str(&tasks(phase.tasks.iter()));
        all.push('\n');
    }
    all.push_str(&spent(&draft.talk.usage));
    all
}

/// What planning has cost, where that is known.
pub fn spent(usage: &Usage) -> String {
    let said = [money::tokens(usage), money::cost(usage)];
    let said: Vec<&str> = said.iter().map(String::as_str).filter(|text| !text.is_empty()).collect();
    if said.is_empty() { String::new() } else { format!("\nPlanning cost {}\n", said.join(", ")) }
}

/// Tasks that are proposed.
pub fn tasks<'a>(all: impl Iterator<Item = &'a TaskFile>) -> String {
    table(&["task", "title", "size", "after", "files"], all.map(row))
}

fn row(task: &TaskFile) -> Vec<String> {
    let after: Vec<&str> = task.depends.iter().map(|id| id.as_str()).collect();
    let size = task.size.map_or("", |size| size.word());
    vec![task.id.to_string(), task.title.clone(), size.into(), after.join(", "), task.files.join(", ")]
}

/// While the question stands Ctrl+C ends the command, as it would have if nothing had listened to it before.
struct LeaveOnInterrupt(Arc<AtomicBool>);

impl LeaveOnInterrupt {
    fn new() -> Self {
        let stands = Arc::new(AtomicBool::new(true));
        let seen = Arc::clone(&stands);
        std::thread::spawn(move || {
            let Ok(runtime) = tokio::runtime::Builder::new_current_thread().enable_all().build() else {
                return;
            };
            runtime.block_on(async {
                let Ok(mut interrupts) = signal(SignalKind::interrupt()) else { return };
                if interrupts.recv().await.is_some() && seen.load(Ordering::SeqCst) {
                    std::process::exit(INTERRUPTED);
                }
            });
        });
        Self(stands)
    }
}

impl Drop for LeaveOnInterrupt {
    fn drop(&mut self) {
        self.0.store(false, Ordering::SeqCst);
    }
}
