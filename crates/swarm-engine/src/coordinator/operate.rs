//! The effects of operations, checkpoints, killed iterations and hooks → their executors.

use std::collections::{BTreeMap, BTreeSet};

use swarm_core::State;
use swarm_core::effect::Effect;
use swarm_core::input::Report;
use swarm_core::state::operations::BY_PERSON;
use swarm_core::trace::traceparent;
use swarm_git::GitError;
use swarm_protocol::api::ApiError;
use swarm_protocol::channel::RunKind;
use swarm_protocol::command::Command;
use swarm_protocol::diff::DiffView;
use swarm_protocol::ids::{CommandId, Oid, RunId, TaskId};
use swarm_protocol::operation::{HookRule, Plan, Saved, SurveyAsk};
use swarm_protocol::oplog::PreviewView;
use swarm_protocol::time::Timestamp;
use swarm_protocol::trunk::{TrunkAsk, TrunkView};
use tokio::sync::oneshot;
use tokio_util::sync::CancellationToken;

use super::Coordinator;
use super::decided::refuted;
use super::executors::describe;
use super::resolving::{Asking, resolve};
use super::reviewing::ReviewSetting;
use super::world::World;
use crate::preview;
use crate::store::Store;
use crate::trunk_lines::trunk_lines;
use crate::work_diff::{Part, work_diff};
use swarm_process::caller::HOOK_MARK;
use swarm_process::complain;
use swarm_process::end_tree_by_nonce;
use swarm_work::hooks::{self, Found, Occasion};
use swarm_work::operation::checkpoint::{self, Checkpointing};
use swarm_work::operation::checkpoint_file::{self, AgentAt, CheckpointFile, LedgerHead};
use swarm_work::operation::moving::{self, MoveOutcome, Places};
use swarm_work::operation::rewind::{Rewind, rewind};

/// What an executor must know of the state in which it was asked: only for the effects of this file, so that nothing
/// is copied for the others.
pub(super) enum Background {
    Nothing,
    /// The look before an operation compares with it; an agent that is asked in one hears of the plan.
    State(Box<State>),
    /// For the file of a checkpoint.
    Moment(Box<Moment>),
    /// What whoever reviews is told of the plan.
    Review(Box<ReviewSetting>),
    /// The span that a hook belongs to.
    Within(Option<String>),
}

/// The swarm at the moment of a checkpoint.
pub(super) struct Moment {
    seq: u64,
    head: Option<LedgerHead>,
    /// A person asked for it by name.
    by_hand: bool,
    trigger: String,
    tasks: BTreeMap<TaskId, String>,
    agents: Vec<AgentAt>,
    /// Tasks whose agent may be writing.
    writing: BTreeSet<TaskId>,
    plan: serde_json::Value,
}

impl Background {
    pub(super) fn of(store: &Store, effect: &Effect) -> Self {
        let head = || store.head().map(|head| LedgerHead { seq: head.seq, hash: head.hash.to_string() });
        match effect {
            Effect::Survey { .. } | Effect::Resolve { .. } => Self::State(Box::new(store.state().clone())),
            Effect::Save { name, .. } => {
                Self::Moment(Box::new(Moment::of(store.state(), name, head(), true)))
            }
            Effect::Mark { name, .. } => {
                Self::Moment(Box::new(Moment::of(store.state(), name, head(), false)))
            }
            Effect::Review { task, by: Some(_), .. } => {
                let setting = ReviewSetting::of(store.state(), task);
                setting.map_or(Self::Nothing, |setting| Self::Review(Box::new(setting)))
            }
            Effect::Hook { .. } => Self::Within(traceparent(store.state(), effect)),
            _ => Self::Nothing,
        }
    }
}

impl Moment {
    fn of(state: &State, name: &str, head: Option<LedgerHead>, full: bool) -> Self {
        let due = state.ops.due.iter().find(|due| due.name == name);
        let running = state.ops.running.as_ref().filter(|_| due.is_none());
        let by_hand = running.is_some_and(|running| running.makes_checkpoint())
            || due.is_some_and(|due| due.trigger == BY_PERSON);
        let trigger = match (due, running) {
            (Some(due), _) => due.trigger.clone(),
            (None, Some(_)) if by_hand => BY_PERSON.into(),
            (None, running) => running.map_or_else(String::new, |running| running.kind.clone()),
        };
        let at_work = state.runs.values().filter(|run| run.kind == RunKind::Work);
        let agent_at = |run: &swarm_core::state::Run| {
            let iteration = state.task(&run.task).map_or(0, |task| task.stage.iteration());
            Some(AgentAt { id: run.agent.clone()?, task_id: Some(run.task.clone()), iteration })
        };
        Self {
            seq: due.map_or_else(|| running.map_or(state.seq, |running| running.before), |due| due.seq),
            head,
            by_hand,
            trigger,
            tasks: state
                .tasks
                .iter()
                .map(|(id, task)| (id.clone(), task.stage.status().word().into()))
                .collect(),
            agents: at_work.clone().filter_map(agent_at).collect(),
            // One that is held at its boundary writes nothing.
            writing: at_work.filter(|run| run.busy_since.is_some()).map(|run| run.task.clone()).collect(),
            plan: if full {
                serde_json::to_value(swarm_core::export::plan_file(state)).unwrap_or_default()
            } else {
                serde_json::Value::Null
            },
        }
    }

    fn file(self, name: &str, at: Timestamp, saved: &Saved) -> CheckpointFile {
        CheckpointFile {
            name: name.into(),
            created_at: at.to_string(),
            git_commit: saved.trunk.clone(),
            task_states: self.tasks,
            state_snapshot: self.plan,
            agent_states: self.agents,
            kind: if self.by_hand { "manual" } else { "auto" }.into(),
            trigger: self.trigger,
            seq: self.seq,
            ledger_head: self.head,
            tips: saved.tips.clone(),
            dirty: saved.dirty.clone(),
            moving: saved.moving.iter().cloned().collect(),
        }
    }
}

/// Carries one of these effects out.
pub(super) async fn operate(
    world: &World,
    effect: Effect,
    background: Background,
    cancel: &CancellationToken,
) -> Result<Report, String> {
    match effect {
        Effect::Survey { op, ask } => survey(world, background, op, &ask).await,
        Effect::Save { name, at, .. } => save(world, background, name, at, true).await,
        Effect::Mark { name, at } => save(world, background, name, at, false).await,
        Effect::Move { op, plan } => carry_plan_out(world, op, &plan).await,
        Effect::Resolve { op, plan, task, profile, round, why } => {
            let asking = Asking { op, plan, task, profile, round, why };
            resolve(world, background, asking, cancel).await
        }
        Effect::Forget { name } => forget(world, name).await,
        Effect::Rewind { task, run, to } => rewind_worktree(world, task, &run, to.as_ref()).await,
        Effect::Hook { n, hook, subject, variables } => {
            let occasion = occasion_of(world, &hook, subject.as_deref(), variables, background);
            Ok(run_hook(world, n, &occasion).await)
        }
        other => Err(format!("{} is the work of another executor", other.verb())),
    }
}

async fn survey(
    world: &World,
    background: Background,
    op: CommandId,
    ask: &SurveyAsk,
) -> Result<Report, String> {
    let Background::State(now) = background else { return Err("nothing is known of the present".into()) };
    let trunk = world.trunk();
    let survey = preview::survey(&world.previewed(&trunk), &now, ask).await.map_err(describe)?;
    Ok(Report::Surveyed { op, survey: Box::new(survey) })
}

/// Refs first; the file is for people, and a disk that will not take it does not undo the checkpoint.
async fn save(
    world: &World,
    background: Background,
    name: String,
    at: Timestamp,
    full: bool,
) -> Result<Report, String> {
    let Background::Moment(moment) = background else { return Err("nothing is known of the present".into()) };
    let tag = moment.by_hand && world.config.checkpoints.tags;
    let trunk = world.trunk();
    let asked = Checkpointing { name: &name, trunk: &trunk, moving: &moment.writing, tag };
    let saved = if full {
        checkpoint::save(&world.git, &asked).await
    } else {
        checkpoint::mark(&world.git, &asked).await
    };
    let saved = saved.map_err(describe)?;
    let (file, dir) = (moment.file(&name, at, &saved), world.checkpoints());
    // Nothing waits for it.
    tokio::task::spawn_blocking(move || {
        complain("write the file of a checkpoint", checkpoint_file::write(&dir, &file));
    });
    Ok(Report::Saved { name, saved })
}

async fn carry_plan_out(world: &World, op: CommandId, plan: &Plan) -> Result<Report, String> {
    if let Some(refuted) = refuted(world, &op, plan).await? {
        return Ok(refuted);
    }
    let places = Places {
        worktrees: &world.paths.worktrees,
        disposable: &world.config.worktree.disposable,
        max_file_bytes: world.config.worktree.max_file << 20,
        regenerate: &world.config.merge.regenerate,
    };
    Ok(match moving::carry_out(&world.git, &op, plan, &places).await.map_err(describe)? {
        MoveOutcome::Moved(moved) => Report::Moved { op, moved },
        MoveOutcome::Conflict { paths, .. } => Report::MoveConflict { op, paths, why: None, asks: false },
        MoveOutcome::Refused { why, hint } => {
            Report::MoveRefused { op, why: world.without_root(&why), hint: world.without_root(&hint) }
        }
    })
}

async fn forget(world: &World, name: String) -> Result<Report, String> {
    checkpoint::delete(&world.git, &name).await.map_err(describe)?;
    complain("remove the file of a checkpoint", checkpoint_file::remove(&world.checkpoints(), &name));
    Ok(Report::Forgotten { name })
}

async fn rewind_worktree(
    world: &World,
    task: TaskId,
    run: &RunId,
    to: Option<&Oid>,
) -> Result<Report, String> {
    let asked = Rewind { task: &task, run, dir: &world.paths.worktrees, to, dirty: None };
    let saved = rewind(&world.git, &asked).await.map_err(describe)??;
    Ok(Report::Rewound { task, saved })
}

fn occasion_of(
    world: &World,
    hook: &str,
    subject: Option<&str>,
    mut variables: BTreeMap<String, String>,
    background: Background,
) -> Occasion {
    if let Some(task) = subject.and_then(|text| TaskId::new(text).ok()) {
        variables.entry("WORKTREE".into()).or_insert_with(|| world.worktree_of(&task).display().to_string());
        variables.entry("TASK_ID".into()).or_insert_with(|| task.to_string());
    }
    let mut occasion = Occasion::new(hook, &variables);
    if let Background::Within(parent) = background {
        occasion.traceparent = parent;
    }
    occasion
}

async fn run_hook(world: &World, n: u64, occasion: &Occasion) -> Report {
    let nonce = world.nonce_of_hook(n);
    let found = hooks::find(&world.paths.root, &occasion.hook, &hooks::configured(&world.config.hooks));
    let ended = hooks::run(&world.paths.root, &found, occasion, &nonce).await;
    Report::HookEnded { n, outcome: ended.outcome, output: ended.output }
}

/// Hooks that exist now: those of the configuration and the files. One that comes later counts from the next start on.
pub(super) fn hooks_found(world: &World) -> Vec<HookRule> {
    let all = hooks::list(&world.paths.root, &hooks::configured(&world.config.hooks));
    let blocks = |found: &Found| match found {
        Found::Hook(hook) => hook.blocking,
        Found::Unfit { blocking, .. } => *blocking,
        Found::Nothing => false,
    };
    all.iter().map(|(name, found)| HookRule { name: (*name).into(), blocking: blocks(found) }).collect()
}

impl Coordinator {
    /// Looks beside the loop; the answer is about the state of now, which the disk may not have yet.
    pub(super) fn preview(
        &self,
        command: Box<Command>,
        reply: oneshot::Sender<Result<PreviewView, preview::NoPreview>>,
    ) {
        let (world, state, now) = (self.world.clone(), self.store.state().clone(), self.clock.now());
        tokio::spawn(async move {
            let _one_at_a_time = world.previewing.lock().await;
            let trunk = world.trunk();
            let _ = reply.send(preview::preview(&world.previewed(&trunk), &state, &command, now).await);
        });
    }

    /// What the work of a task changes, looked up beside the loop; as many at once as previews.
    pub(super) fn work_diff(
        &self,
        task: TaskId,
        part: Part,
        reply: oneshot::Sender<Result<Option<DiffView>, GitError>>,
    ) {
        let (world, state) = (self.world.clone(), self.store.state().clone());
        tokio::spawn(async move {
            let _one_at_a_time = world.previewing.lock().await;
            let _ = reply.send(work_diff(&world.git, &world.trunk(), &state, &task, &part).await);
        });
    }
}

impl Coordinator {
    /// What stands on trunk and what brought it, looked up beside the loop: whoever asks waits for it, previews do not.
    pub(super) fn trunk_lines(&self, ask: TrunkAsk, reply: oneshot::Sender<Result<TrunkView, ApiError>>) {
        let (world, state) = (self.world.clone(), self.store.state().clone());
        tokio::spawn(async move {
            let _ = reply.send(trunk_lines(&world.git, &world.trunk(), &state, &ask).await);
        });
    }
}

/// Hooks of a coordinator that is gone are gone, too: nobody would hear what they say.
pub(super) async fn end_old_hooks(world: &World, state: &State) {
    for hook in state.ops.hooks.values().filter(|hook| hook.started.is_some()) {
        end_tree_by_nonce(&world.nonce_of_hook(hook.n), std::time::Duration::ZERO).await;
    }
}

impl World {
    fn checkpoints(&self) -> std::path::PathBuf {
        self.paths.swarm.join("checkpoints")
    }

    /// Marks what a hook starts, also for a later coordinator of the same ledger in the same place.
    fn nonce_of_hook(&self, n: u64) -> String {
        let place = self.place().unwrap_or_default();
        format!("{HOOK_MARK}{}-{place}-{n}", self.plan)
    }

    pub(super) fn previewed<'a>(&'a self, trunk: &'a str) -> preview::Place<'a> {
        preview::Place {
            git: &self.git,
            paths: &self.paths,
            trunk,
            regenerate: &self.config.merge.regenerate,
        }
    }
}
