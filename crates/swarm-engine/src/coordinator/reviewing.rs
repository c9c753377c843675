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
            last_notes: task.changes_wanted.clone().filter(|_| again),
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

#[cfg(test)]
mod tests {
    use swarm_protocol::event::Event;
    use swarm_protocol::outcome::Next;
    use swarm_protocol::plan::{Status, TaskSpec};
    use swarm_protocol::review::ReviewNote;
    use swarm_protocol::time::Timestamp;

    use super::super::prompt::went_wrong;
    use super::*;

    #[test]
    fn what_a_review_wanted_is_told_also_where_something_else_has_failed_since() {
        let task = TaskId::new("1.1").expect("an id");
        let tip = Oid::new("b".repeat(40)).expect("hex digits");
        let spec = TaskSpec::new(task.clone(), "First");
        let added = Event::TaskAdded { task: task.clone(), phase: 1, after: None, spec };
        let notes = vec![ReviewNote { text: "off by one".into(), ..ReviewNote::default() }];
        let next = Next::Pending { not_before: Timestamp::ZERO, counts: false };
        let status = Status::Pending;
        let sent_back =
            Event::ChangesRequested { task: task.clone(), status, tip, round: 1, notes, next, run: None };
        let red = Event::ChecksFailed {
            task: task.clone(),
            status: Status::Active,
            run: RunId::nth(1),
            iteration: 1,
            output: "two tests failed".into(),
            digest: None,
            gate: None,
        };
        let mut state = State::default();
        [added, sent_back, red].iter().for_each(|event| state.apply(event, Timestamp(1)));
        let wanted = ReviewSetting::of(&state, &task).and_then(|setting| setting.words.last_notes);
        let wanted = wanted.expect("the last round wanted something");
        assert!(wanted.contains("off by one") && !wanted.contains("two tests failed"), "{wanted}");
        let told = state.task(&task).and_then(went_wrong).expect("something went wrong");
        assert!(told.starts_with("two tests failed") && told.contains("off by one"), "{told}");
    }
}
