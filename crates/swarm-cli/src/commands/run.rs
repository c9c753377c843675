//! `swarm run`: the coordinator, in the foreground or the background.

mod background;
mod board;
mod door;
mod fresh;
mod on_screen;
mod printing;
mod progress;
mod summary;
mod trunk;
mod watcher;

use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use clap::builder::{PossibleValuesParser, TypedValueParser};
use swarm_engine::clock::since_boot;
use swarm_engine::coordinator::is_read_only;
use swarm_engine::session::Wishes;
use swarm_protocol::command::{Command, SaveKind};
use swarm_protocol::oplog::PreviewView;
use swarm_protocol::plan::{ExecutionProfile, PlanFile};
use swarm_protocol::review::Reviewer;

use crate::commands::answered;
use crate::commands::mode::ModeArg;
use crate::commands::operate::{Confirm, DryRun, shown};
use crate::commands::plan::{edit, make};
use crate::context::Context;
use crate::error::CliError;
use crate::log::Part;
use crate::output;
use crate::swarm::{READ_ONLY, Swarm, session};
use progress::Progress;
pub use summary::{Summary, ways_on};

/// Run agents on the plan until it is done
///
/// Each ready task gets an agent and a worktree. Finished work is checked, merged outside your checkout, verified there, and
/// only then published to trunk: the branch you were on when the plan first ran, whatever you check out later. In semi-auto
/// mode a ready task waits for `swarm task start`. Submitted work waits for `swarm review approve`, unless the task, the
/// configuration or `--review` names another reviewer or none. The run also waits while the swarm is paused. It ends when
/// nothing more can happen: exit code 0 if every task is done or cancelled, 1 if some failed or are blocked.
///
/// On a terminal it opens `swarm tui` and ends with it; `--no-tui`, `--json`, `-v`, ACCESSIBLE=1 and CI print lines instead.
/// When you quit, it asks whether the agents should stop or continue.
///
/// Ctrl+C stops in good order: agents go to their next boundary and uncommitted work is saved. A second Ctrl+C leaves at once; the
/// agents still stop by themselves. A crashed coordinator is restarted after 1, 2, 4 … seconds, at most four times in ten minutes:
/// live agents are adopted and nothing is done twice. The same holds for a new `swarm run` after the machine crashed.
///
/// Example: swarm run --plan plan.md --agents 4 --mode autopilot
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Make a plan for this goal first, as `swarm plan make` does
    #[arg(value_name = "GOAL", conflicts_with_all = ["plan", "retry", "edit"])]
    goal: Option<String>,
    /// Save this plan first (JSON, or a Markdown checklist; - for stdin)
    #[arg(long, value_name = "FILE")]
    plan: Option<PathBuf>,
    /// Maximum number of agents, 1 to 64 (recorded in the execution profile; default: from the profile)
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=64))]
    agents: Option<u32>,
    /// Profile of the configuration, or agent program (recorded; default: as recorded, else `agent` in the configuration)
    #[arg(long, value_name = "PROFILE")]
    agent: Option<String>,
    /// Whether ready tasks start automatically (recorded; default: as recorded, else `mode` in the configuration)
    #[arg(long, value_enum, value_name = "MODE")]
    mode: Option<ModeArg>,
    /// Who reviews finished work if neither the task nor its tags set it (recorded; default: as recorded, else `review` in
    /// the configuration, else you)
    #[arg(long, value_name = "WHO", value_parser = reviewers())]
    review: Option<Reviewer>,
    /// Branch to merge finished work into; created if missing (default: the plan's trunk, at first the branch you are
    /// on). Changing the trunk of a plan is an operation: it is previewed, confirmed, and reverted with `swarm undo`
    #[arg(long, value_name = "BRANCH")]
    trunk: Option<String>,
    /// Show what would be saved and started, or with --trunk what would change, without doing it
    #[arg(long)]
    dry_run: bool,
    /// With GOAL, --fresh or --trunk: skip the confirmation
    #[arg(long, short = 'y')]
    yes: bool,
    /// Try failed tasks again, and merge again, in order, work that `swarm abort` removed or that is gone from trunk; a run under way does it itself
    #[arg(long)]
    retry: bool,
    /// Start afresh: archive the plan as `swarm close --stop` does, and make a new one from the current trunk, for GOAL or
    /// else for the same goal; with --plan, from that file. Unfinished work of the archived plan is kept
    #[arg(long, conflicts_with_all = ["retry", "edit"])]
    fresh: bool,
    /// With --retry: edit the plan in $VISUAL or $EDITOR first
    #[arg(long, requires = "retry")]
    edit: bool,
    /// Run in the background; watch with `swarm status --watch`, stop with `swarm stop`
    #[arg(long)]
    detach: bool,
    /// Open `swarm tui` on the run; on a terminal that is the default
    #[arg(long, conflicts_with_all = ["detach", "dry_run"])]
    tui: bool,
    /// On a terminal, print a line for each event instead of opening `swarm tui`
    #[arg(long, conflicts_with = "tui")]
    no_tui: bool,
    /// This is the one in the background.
    #[arg(long, hide = true, conflicts_with_all = ["detach", "tui"])]
    detached: bool,
    /// This is the coordinator itself, watched by the one that a person started.
    #[arg(long, hide = true, conflicts_with = "detach")]
    coordinate: bool,
    /// The branch that the person was on when they began, whatever is checked out since.
    #[arg(long, hide = true, requires = "coordinate")]
    here: Option<String>,
    /// Bring to rest what an earlier coordinator left, and start nothing.
    #[arg(long, hide = true, requires = "coordinate")]
    rest: bool,
    /// When the person began, in milliseconds since the machine did, however often the coordinator had to be started since.
    #[arg(long, hide = true, requires = "coordinate")]
    began: Option<u64>,
}

impl Args {
    /// What this process is going to be.
    pub fn part(&self) -> Part {
        match self {
            Self { coordinate: true, .. } => Part::Coordinator,
            Self { dry_run: true, .. } | Self { detach: true, .. } | Self { tui: true, .. } => Part::Command,
            _ => Part::Watcher,
        }
    }

    /// A person at a terminal gets the screen. `lines`: whatever happens is wanted as lines.
    pub fn look_at_terminal(&mut self, lines: bool) {
        let elsewhere = self.coordinate || self.detached || self.detach || self.dry_run;
        self.tui |= !elsewhere && !lines && !self.no_tui && !self.reads_stdin() && on_screen::is_possible();
    }

    fn reads_stdin(&self) -> bool {
        self.plan.as_ref().is_some_and(|plan| plan.as_os_str() == "-")
    }

    /// Nothing is asked for that only a new coordinator could do.
    fn is_retry_alone(&self) -> bool {
        let Self { goal, plan, agents, agent, mode, review, trunk, .. } = self;
        let more = goal.is_some()
            || plan.is_some()
            || agents.is_some()
            || agent.is_some()
            || mode.is_some()
            || review.is_some()
            || trunk.is_some();
        self.retry && !more && !self.coordinate && !self.detached
    }
}

/// The words of `review.policy`.
fn reviewers() -> impl TypedValueParser<Value = Reviewer> {
    PossibleValuesParser::new(Reviewer::ALL.map(Reviewer::word))
        .try_map(|word| Reviewer::of_word(&word).ok_or("it is not a reviewer"))
}

pub fn run(args: Args, cx: &Context) -> Result<ExitCode, CliError> {
    let is_first = !args.detached && !args.coordinate;
    let goal = match args.fresh && is_first {
        true => match fresh::begin(&args, cx)? {
            Some(afresh) => afresh.goal,
            None => return Ok(output::done()),
        },
        false => args.goal.clone(),
    };
    if let Some(name) = args.trunk.as_deref().filter(|_| is_first) {
        let sure = Confirm { dry_run: args.dry_run, yes: args.yes };
        if !trunk::choose(name, sure, cx)? {
            return Ok(output::done());
        }
    }
    if let Some(goal) = goal.as_deref().filter(|_| is_first) {
        let swarm = Swarm::open(cx)?;
        if args.dry_run {
            make::would_ask(cx, "run", &swarm.planner_for(goal, args.agent.as_deref())?, make::DRAFT)?;
            return Ok(output::done());
        }
        make::can_be_approved(cx, &swarm, args.yes)?;
        let mut draft = swarm.make_draft(goal, args.agent.as_deref())?;
        // Approved with what it will run with: set afterwards, it would be a change of what was approved.
        draft.plan.execution_profile = args.agents.map(|agents| ExecutionProfile {
            parallelization_enabled: agents > 1,
            max_concurrent_tasks: agents,
            ..ExecutionProfile::default()
        });
        if !make::approve(cx, &swarm, &draft, args.yes)? {
            return Ok(output::done());
        }
    }
    if args.edit && is_first {
        let dry = DryRun { dry_run: args.dry_run };
        edit::run(edit::Args { markdown: true, dry }, cx)?;
    }
    if args.dry_run {
        would_run(&args, cx)?;
        return Ok(output::done());
    }
    if args.plan.is_none() && !args.detached && !args.coordinate {
        Swarm::open(cx)?.refuse_without_a_plan()?;
    }
    if args.is_retry_alone() && retried_there(cx)? {
        return Ok(output::done());
    }
    if args.retry && is_first && Swarm::open(cx)?.has_coordinator() {
        let said = "A coordinator is already running, with the agents and the mode it was started with";
        return Err(CliError::owned(said).run_instead("swarm run --retry"));
    }
    if args.retry && is_first {
        // An abort that was killed comes to its end first: it is what the retry goes on from.
        Swarm::open(cx)?.finish_interrupted()?;
    }
    if args.detach || args.tui {
        let begun = background::start(cx, args.goal.as_deref(), args.tui)?;
        return if args.tui { on_screen::show(begun, cx) } else { begun.tell(cx) };
    }
    if args.detached {
        // A session of its own, so that closing the terminal is nothing to it. Refused only where it has one.
        let _ = rustix::process::setsid();
    }
    if !args.coordinate {
        return watcher::run(&args, cx);
    }
    // So too the coordinator: the keys of the terminal are for the one that watches it.
    let _ = rustix::process::setsid();
    coordinate(args, cx)
}

/// Where somebody coordinates already, the retry is a wish to them: after an abort one command goes on, whether the run is
/// still there or not.
fn retried_there(cx: &Context) -> Result<bool, CliError> {
    let swarm = Swarm::open(cx)?;
    let there = swarm.has_coordinator();
    if there {
        answered(cx, &swarm.ask(Command::Retry)?)?;
    }
    Ok(there)
}

/// The plan that would be saved, and with what the first agents would begin.
fn would_run(args: &Args, cx: &Context) -> Result<(), CliError> {
    let swarm = Swarm::open(cx)?;
    let mut view = match read_plan(args, &swarm)? {
        Some((plan, source)) => {
            let kind = SaveKind::Save;
            swarm.preview(&Command::SavePlan { plan, kind, source, reset_statuses: false, planning: None })?
        }
        None => PreviewView::of_lines("run", &[]),
    };
    (view.kind, view.nothing) = ("run".into(), false);
    if args.retry {
        match swarm.preview(&Command::Retry) {
            Ok(retry) => {
                view.says.work.push(retry.text);
                view.facts.extend(retry.facts);
            }
            Err(error) if error.kind == "nothing_to_change" => {}
            Err(error) => return Err(error),
        }
    }
    let mode = args.mode.map_or_else(|| swarm.mode(), |mode| Ok(mode.into()))?;
    view.says.work.extend(swarm.would_begin(args.trunk.as_deref(), args.agents, mode)?);
    shown(cx, &view)
}

fn read_plan(args: &Args, swarm: &Swarm) -> Result<Option<(PlanFile, String)>, CliError> {
    let read = |file: &PathBuf| crate::swarm::plan_file::read(file, &swarm.known_tasks());
    args.plan.as_ref().map(read).transpose()
}

/// A file system that takes nothing any more takes no record that says so: the person at the terminal hears it from here.
async fn says_that_nothing_is_recorded(place: std::path::PathBuf) {
    const LOOK_EVERY: Duration = Duration::from_secs(3);
    let mut was = false;
    loop {
        let looked = place.clone();
        let look = tokio::task::spawn_blocking(move || is_read_only(&looked));
        let Ok(is) = look.await else { return };
        if is && !was {
            output::note(READ_ONLY);
        }
        was = is;
        tokio::time::sleep(LOOK_EVERY).await;
    }
}

fn coordinate(args: Args, cx: &Context) -> Result<ExitCode, CliError> {
    // Whoever started us starts us again.
    crate::bug::without_threads(watcher::FELL);
    let plan = match &args.plan {
        Some(_) => read_plan(&args, &Swarm::open(cx)?)?,
        None => None,
    };
    // The plan may have come in one of them. Daemons outlive us, and what they start is nobody's of this terminal.
    swarm_process::complain("keep open files to ourselves", swarm_process::hand_on_no_files());
    let mode = args.mode.map(Into::into);
    let starts_agents = !args.rest;
    let began = args.began;
    let Args { agents, agent, review, trunk, here, retry, .. } = args;
    let wishes = Wishes { plan, agents, agent, mode, review, starts_agents, trunk, here, retry };
    let runtime = session::runtime()?;
    let mut progress = Progress::new(cx.out);
    let session = runtime.block_on(session::open(&cx.repo, wishes))?;
    let folder = session.paths().swarm.clone();
    let ran = runtime.block_on(async {
        let place = cx.repo.clone();
        let _said = tokio::spawn(says_that_nothing_is_recorded(place));
        match args.rest {
            true => session::bring_to_rest(session).await,
            false => session::run(session, &mut progress).await,
        }
    });
    match ran {
        Ok(ran) => {
            let took = began.and_then(|began| since_boot().checked_sub(Duration::from_millis(began)));
            let summary = Summary::of(&ran.state, ran.drained, ran.untested)
                .took(took.map(|took| took.as_secs()))
                .leaving(ran.unsaved);
            let summary = summary.seen(&ran.state, &folder);
            cx.out.view(&summary, Summary::text)?;
            Ok(summary.exit())
        }
        // Started again it would only find the other one.
        Err(error) if error.is_replaced() => Err(error),
        Err(error) => {
            output::report(&error, cx.out.json);
            let how = if error.not_begun { watcher::NOT_BEGUN } else { watcher::FELL };
            Ok(how.into())
        }
    }
}
