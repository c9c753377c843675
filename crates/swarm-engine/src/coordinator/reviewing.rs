//! An agent reviews: what it is told, and the run in which it reads and answers.

use swarm_core::State;
use swarm_core::effect::ReviewingAgent;
use swarm_core::input::Report;
use swarm_protocol::channel::{Answered, CommandLine, RunKind};
use swarm_protocol::failure::{Failure, FailureClass};
use swarm_protocol::ids::{Oid, RunId, TaskId};

use super::attend::{Attended, attend};
use super::executors::{ExecutorContext, describe};
use super::operate::Background;
use super::outfit::Outfit;
use super::prompt::{neighbour, task_words};
use super::world::World;
use swarm_agents::prompts::ReviewPrompt;
use swarm_git::{DiffKind, GitError};
use swarm_work::daemon::{DaemonSpec, Form, Question};

/// The task as the plan has it at the moment of the review.
pub(super) struct ReviewSetting {
    words: ReviewPrompt,
    /// Where the task's own commits begin.
    base: Option<Oid>,
    /// What the last round saw.
    before: Option<Oid>,
}

impl ReviewSetting {
    pub(super) fn of(state: &State, id: &TaskId) -> Option<Self> {
        let task = state.task(id)?;
        let again = task.review_rounds > 0;
        let words = ReviewPrompt {
            task: task_words(task),
            goal: state.plan.as_ref().map_or_else(String::new, |plan| plan.goal.clone()),
            builds_on: task.spec.depends.iter().map(|id| neighbour(state, id)).collect(),
            unblocks: state.dependents(id).iter().map(|id| neighbour(state, id)).collect(),
            round: task.review_rounds + 1,
            rounds: state.policy.review_rounds,
            last_notes: task.last_failure.clone().filter(|_| again),
            ..ReviewPrompt::default()
        };
        Some(Self { words, base: task.base.clone(), before: task.sent_back.clone().filter(|_| again) })
    }
}

/// Which review, of what.
pub(super) struct Reviewed {
    pub run: RunId,
    pub task: TaskId,
    pub nonce: String,
    pub tip: Oid,
}

/// Asks the agent. What it answered has been news before; without an answer the run was lost.
pub(super) async fn review_by_agent(
    context: &mut ExecutorContext,
    Reviewed { run, task, nonce, tip }: Reviewed,
    by: ReviewingAgent,
) -> Result<Report, String> {
    let world = context.world.clone();
    let Background::Review(setting) = std::mem::replace(&mut context.background, Background::Nothing) else {
        return Ok(Report::ReviewLost { run, task, why: "the task is not in the plan".into() });
    };
    let outfit = match Outfit::of(&world.config, &by.profile) {
        Ok(outfit) => outfit,
        Err(none) => {
            let failure = Some(Failure::new(FailureClass::Configuration, none.to_string()));
            let answered = Answered { failure, ..Answered::default() };
            return Ok(Report::ReviewAnswered { run, task, answered });
        }
    };
    let mut setting = *setting;
    setting.words.council = by.member.is_some();
    setting.words.focus = by.member.as_ref().and_then(|name| {
        let members = &world.config.review.council.members;
        members.iter().find(|member| member.name == *name)?.focus.clone()
    });
    let prompt = question(&world, setting, &tip).await.map_err(describe)?;
    let spec = DaemonSpec {
        worktree: world.worktree_of(&task),
        attempt: by.round,
        agent_setup: Some(outfit.setup),
        guard: outfit.guard,
        question: Some(Question { prompt, session: by.session, form: Form::Judgement, member: by.member }),
        ..world.spec(&run, RunKind::Review, &task, &nonce)
    };
    Ok(match attend(context, &world.with_place(spec, false).await).await? {
        Attended::Cancelled => Report::Cancelled { task },
        Attended::Ended { how } => Report::ReviewLost { run, task, why: how.describe() },
    })
}

/// With what the work changes, told by git.
async fn question(world: &World, setting: ReviewSetting, tip: &Oid) -> Result<String, GitError> {
    let git = &world.git;
    let base = setting.base.unwrap_or_else(|| tip.clone());
    let base = git.own_work_begins(&world.trunk(), &base, tip).await?;
    let text = async |from: &Oid, kind| {
        git.diff_text(from, tip, kind).await.map(|bytes| String::from_utf8_lossy(&bytes).into_owned())
    };
    let since = match &setting.before {
        // What it saw may be gone: a person can take a branch away.
        Some(before) => text(before, DiffKind::Patch).await.ok(),
        None => None,
    };
    let (files, diff) = (text(&base, DiffKind::Files).await?, text(&base, DiffKind::Patch).await?);
    let most = usize::try_from(world.config.review.max_diff).unwrap_or(usize::MAX);
    let submitted = world.config.commands_at_submission(true, true);
    let words = ReviewPrompt {
        checks: submitted.commands.iter().map(CommandLine::shown).collect(),
        base: base.to_string(),
        tip: tip.to_string(),
        since_commit: setting.before.as_ref().map(ToString::to_string).unwrap_or_default(),
        ..setting.words
    };
    Ok(world.prompts.review(&words.with_changes(&files, &diff, since.as_deref(), most)))
}
