//! An agent is asked what is to become of files in which the reverts of an operation conflict. It reads in the merge
//! worktree, behind the walls of a question, and changes nothing: its answer is kept for the move, which verifies it.

use std::time::Duration;

use swarm_agents::prompts::{ResolveFile, ResolvePrompt};
use swarm_agents::{Surroundings, ready};
use swarm_core::State;
use swarm_core::input::Report;
use swarm_core::operation::Step;
use swarm_process::containment::end_run;
use swarm_protocol::channel::{Answered, CommandLine, RunKind};
use swarm_protocol::failure::{Failure, FailureClass, Usage};
use swarm_protocol::ids::{CommandId, RunId, TaskId};
use swarm_protocol::operation::Plan;
use swarm_work::daemon::{DaemonSpec, Form, Question, ask_beside_others};
use swarm_work::operation::moving::rebuild::{Open, Rebuilt};
use swarm_work::operation::moving::resolver::Shown;
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

use super::decided::with_made;
use super::executors::describe;
use super::operate::Background;
use super::outfit::Outfit;
use super::prompt::task_words;
use super::world::World;

/// Stretches of commits that it is asked about in one round; who has more to say of is a person.
const ASKED_MAX: usize = 5;
/// Of what is to go so much is quoted; the folder has all of it.
const GOES_MAX_BYTES: usize = 64 * 1024;

/// What is asked, and of whom.
pub(super) struct Asking {
    pub op: CommandId,
    pub plan: Plan,
    pub task: TaskId,
    pub profile: String,
    pub round: u32,
    pub why: Option<String>,
}

/// Asks until nothing is open, or an answer is of no use. What was kept before is not asked for again.
pub(super) async fn resolve(
    world: &World,
    background: Background,
    asking: Asking,
    cancel: &CancellationToken,
) -> Result<Report, String> {
    let Background::State(state) = background else { return Err("nothing is known of the plan".into()) };
    let (op, mut usage) = (asking.op.clone(), Usage::default());
    let over = |why: Option<String>, failure, usage| {
        let why = why.map(|why| world.without_root(&why));
        Ok(Report::Resolved { op: op.clone(), why, failure, usage, stopped: cancel.is_cancelled() })
    };
    for _ in 0..ASKED_MAX {
        let open = match with_made(world, &op, &asking.plan).await? {
            Err(Report::MoveConflict { why, .. }) => return over(why, None, usage),
            Err(other) => return Ok(other),
            Ok(Some(Rebuilt::Conflict { open: Some(open), .. })) => open,
            // It is decided, or it is not for an agent: the move says which.
            Ok(_) => return over(None, None, usage),
        };
        let Some(shown) = open.shown(&world.git).await.map_err(describe)? else {
            return over(Some("only a person can decide it".into()), None, usage);
        };
        let Some(answered) = ask(world, &state, &asking, &shown, cancel).await? else {
            return over(Some("it was told to stop".into()), None, usage);
        };
        usage = usage.plus(answered.usage);
        if let Some(failure) = answered.failure {
            return over(None, Some(failure), usage);
        }
        if let Err(why) = keep(world, &asking, &open, &shown, &answered.text).await? {
            return over(Some(why), None, usage);
        }
    }
    over(Some("it conflicts in too many places".into()), None, usage)
}

async fn keep(
    world: &World,
    asking: &Asking,
    open: &Open,
    shown: &Shown,
    answer: &str,
) -> Result<Result<(), String>, String> {
    let kept = open.keep(&world.git, &asking.op, shown, answer).await.map_err(describe)?;
    Ok(kept.map_err(|why| format!("its answer cannot be used: {why}")))
}

/// Puts the question. None: it was told to stop.
async fn ask(
    world: &World,
    state: &State,
    asking: &Asking,
    shown: &Shown,
    cancel: &CancellationToken,
) -> Result<Option<Answered>, String> {
    let failed = |failure| Some(Answered { failure: Some(failure), ..Answered::default() });
    let outfit = match Outfit::of(&world.config, &asking.profile) {
        Ok(outfit) => outfit,
        Err(none) => return Ok(failed(Failure::new(FailureClass::Configuration, none.to_string()))),
    };
    if let Err(failure) = ready(&outfit.setup, &Surroundings::of_this_process()) {
        return Ok(failed(failure));
    }
    world.show_merge(&shown.commit).await?;
    let nonce = world.nonce_of_resolver(&asking.op);
    let prompt = world.prompts.resolve(&words(world, state, asking, shown));
    let question = Question { prompt, session: None, form: Form::Resolution, member: None };
    let spec = DaemonSpec {
        worktree: world.merge_worktree(),
        attempt: asking.round,
        start: Some(asking.round),
        agent_setup: Some(outfit.setup),
        guard: outfit.guard,
        question: Some(question),
        ..world.spec(&RunId::nth(0), RunKind::Review, &asking.task, &nonce)
    };
    let spec = world.with_place(spec, true).await;
    let grace = spec.stop_grace();
    let (tell, mut stop) = watch::channel(None);
    let answering = ask_beside_others(spec, world.config.max_task_duration.secs, &mut stop);
    tokio::pin!(answering);
    let answered = tokio::select! {
        answered = &mut answering => answered,
        () = cancel.cancelled() => {
            tell.send_replace(Some(grace));
            answering.await
        }
    };
    end_run(&nonce, Duration::ZERO).await;
    answered.map_err(describe)
}

/// What is left of a question whose coordinator died is ended, whether it is put again or not.
pub(super) async fn end_old_question(world: &World, state: &State) {
    if let Some(running) = state.ops.running.as_ref().filter(|r| matches!(r.step, Step::Resolving { .. })) {
        end_run(&world.nonce_of_resolver(&running.id), Duration::ZERO).await;
    }
}

impl World {
    /// Marks what the question of an operation starts, also for a later coordinator.
    fn nonce_of_resolver(&self, op: &CommandId) -> String {
        let name = op.as_str().replace(|c: char| !c.is_ascii_alphanumeric(), "-");
        format!("resolve-{}-{name}", self.plan)
    }
}

fn words(world: &World, state: &State, asking: &Asking, shown: &Shown) -> ResolvePrompt {
    let verify = world.config.verify_commands();
    let words = ResolvePrompt {
        task: state.task(&asking.task).map(task_words).unwrap_or_default(),
        goal: state.plan.as_ref().map_or_else(String::new, |plan| plan.goal.clone()),
        trunk: world.trunk(),
        checks: verify.commands.iter().map(CommandLine::shown).collect(),
        refused: asking.why.clone().unwrap_or_default(),
        ..ResolvePrompt::default()
    };
    let file = |file: &swarm_work::operation::moving::resolver::ShownFile| ResolveFile {
        path: file.path.clone(),
        text: file.text.clone(),
        gone_from_trunk: file.gone_from_trunk,
        new_with_them: file.new_with_them,
    };
    words.with_conflict(&shown.goes, shown.files.iter().map(file).collect(), GOES_MAX_BYTES)
}
