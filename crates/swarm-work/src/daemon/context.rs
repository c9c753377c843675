//! The daemon's part of the handover: what the agent says and does is remembered as it happens and written now and
//! then, what git says of it at the end of an iteration.

use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use swarm_protocol::channel::{IterationOutcome, RunKind};
use swarm_protocol::ids::Oid;

use super::iteration::idle::{Idle, Remains};
use super::run_context::RunContext;
use super::spec::DaemonSpec;
use crate::left_behind::{Place, ground};
use crate::rescue::wip_ref;
use swarm_agents::handover::{ContextFiles, Ground, Handover, now};
use swarm_process::complain;

/// While an iteration goes on the pages are at most this old, whenever something happens: a daemon that is killed
/// leaves this behind.
const WRITE_EVERY: Duration = Duration::from_secs(5);

/// When what was remembered is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Write {
    /// When the last time is long enough ago.
    Soon,
    Now,
    /// So that a power cut does not take it away.
    Durably,
}

/// The handover of the task that this run works on.
#[derive(Debug)]
pub struct Context {
    files: ContextFiles,
    kept: Mutex<Kept>,
    idle: Mutex<Idle>,
}

#[derive(Debug)]
struct Kept {
    handover: Handover,
    written: Option<Instant>,
}

impl Context {
    /// Goes on with what the last attempt left. None for runs that work on nothing.
    pub fn open(spec: &DaemonSpec) -> Option<Self> {
        if spec.kind != RunKind::Work {
            return None;
        }
        let files = ContextFiles::new(&spec.swarm_dir(), &spec.task);
        let mut handover = files.read().filter(|left| left.task == spec.task.as_str()).unwrap_or_default();
        let agent = spec.agent.as_ref().map_or("", |agent| agent.as_str());
        handover.attempt_begins(spec.task.as_str(), agent, spec.run.as_str(), spec.attempt);
        Some(Self { files, kept: Mutex::new(Kept { handover, written: None }), idle: Mutex::default() })
    }

    fn change<T>(&self, write: Write, change: impl FnOnce(&mut Handover) -> T) -> T {
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        let answer = change(&mut kept.handover);
        let due = kept.written.is_none_or(|written| written.elapsed() >= WRITE_EVERY);
        if write != Write::Soon || due {
            kept.handover.written = now();
            // A disk that does not take it costs the next attempt a page, not this one its work.
            complain("write the context", self.files.write(&kept.handover, write == Write::Durably));
            kept.written = Some(Instant::now());
        }
        answer
    }
}

impl RunContext {
    /// Changes what the next attempt will be told.
    pub fn remember(&self, write: Write, change: impl FnOnce(&mut Handover)) {
        if let Some(context) = &self.context {
            context.change(write, change);
        }
    }

    /// What the life of this session is known to have cost.
    pub fn session_cost(&self, session: &str) -> Option<swarm_protocol::failure::Usage> {
        let context = self.context.as_ref()?;
        let kept = context.kept.lock().unwrap_or_else(PoisonError::into_inner);
        kept.handover.sessions.get(session).copied()
    }

    /// An iteration has ended; `quiet` when nothing was said in it. What that is, when too many in a row were like it.
    pub(super) async fn idle_turn(
        &self,
        quiet: bool,
        enough: u32,
        tip: Option<&Oid>,
        wip: Option<&Oid>,
    ) -> Option<IterationOutcome> {
        let context = self.context.as_ref()?;
        let unsaved = match wip.filter(|_| quiet) {
            Some(wip) => async { self.git().await?.tree_of(wip).await.map(Some) }.await,
            None => Ok(None),
        };
        let mut idle = context.idle.lock().unwrap_or_else(PoisonError::into_inner);
        match unsaved {
            Ok(unsaved) if quiet => {
                let percent = *self.progress.borrow();
                idle.ended(Remains { tip: tip.cloned(), unsaved, percent }, enough)
            }
            _ => {
                idle.over();
                None
            }
        }
    }

    /// An iteration ended and everything of it is gone: `wip` is what it left uncommitted.
    pub(super) async fn hand_over(&self, outcome: &IterationOutcome, tip: Option<&Oid>, wip: Option<&Oid>) {
        let ground = self.ground(tip, wip).await;
        let (how, why) = describe(outcome);
        let (how, why) = (self.redactor.redact(&how), why.map(|why| self.redactor.redact(&why).into_owned()));
        self.remember(Write::Durably, |left| left.iteration_ended(ground, &how, why.as_deref()));
    }

    /// The daemon ends: an iteration that was still under way has been broken off.
    pub(super) async fn hand_over_last(&self, wip: Option<&Oid>) {
        let Some(context) = &self.context else { return };
        let under_way = context.kept.lock().unwrap_or_else(PoisonError::into_inner).handover.under_way;
        if under_way {
            let tip = self.tip().await.ok().flatten();
            let ground = self.ground(tip.as_ref(), wip).await;
            self.remember(Write::Durably, |left| left.iteration_ended(ground, "it was stopped", None));
        }
    }

    async fn ground(&self, tip: Option<&Oid>, wip: Option<&Oid>) -> Ground {
        let Some(tip) = tip else { return Ground::default() };
        let DaemonSpec { task, run, worktree, .. } = &self.spec;
        let found = async {
            let git = self.git().await?;
            ground(git, Place { task, run, worktree }, tip, wip).await
        };
        match found.await {
            Ok(ground) => ground,
            Err(error) => {
                complain::<(), _>("see what was changed", Err(error));
                Ground { kept_at: wip.map(|_| wip_ref(task, run)), ..Ground::default() }
            }
        }
    }
}

/// How it ended, and why where that was no good end.
pub(super) fn describe(outcome: &IterationOutcome) -> (String, Option<String>) {
    match outcome {
        IterationOutcome::Complete => ("the agent said that everything is done".into(), None),
        IterationOutcome::NoSignal => ("the agent did not say whether the task is done".into(), None),
        IterationOutcome::AsksHuman { text } => (format!("the agent waits for a person: {text}"), None),
        IterationOutcome::CannotDo { text } => (format!("the agent cannot do it: {text}"), None),
        IterationOutcome::Crashed { code, signal, text } => {
            let how = match (code, signal) {
                (Some(code), _) => format!("exit code {code}"),
                (None, Some(signal)) => format!("signal {signal}"),
                (None, None) => "no exit code".into(),
            };
            let why = format!("{how} {text}").trim_end().to_owned();
            (format!("it crashed: {why}"), Some(why))
        }
        IterationOutcome::Failed { failure } => (failure.sentence(), Some(failure.sentence())),
        IterationOutcome::NotStarted { text } => {
            (format!("it could not be started: {text}"), Some(text.clone()))
        }
    }
}
