//! Effect → executor → report. Each arm looks first, acts second, and always ends in a report.

mod preparing;
mod stopping;
pub(super) mod trunk;

use std::collections::BTreeMap;
use std::path::PathBuf;

use swarm_core::effect::{self, Effect, Key, ReviewingAgent};
use swarm_core::input::{KeyName, Report};
use swarm_protocol::channel::{FromDaemon, RunKind};
use swarm_protocol::event::Proof;
use swarm_protocol::failure::{Failure, FailureClass};
use swarm_protocol::ids::{Oid, RunId, TaskId};
use swarm_protocol::outcome::Ended;
use tokio::sync::{mpsc, watch};
use tokio_util::sync::CancellationToken;

use super::attend::{Attended, attend};
use super::operate::{Background, operate};
use super::reviewing::{Reviewed, review_by_agent};
use super::traced;
use super::without_room::{is_full, not_begun};
use super::workplace::with_causes;
use super::world::{About, Attempt, SharedWorld, World};
use preparing::prepare;
use stopping::stop;
use swarm_process::complain;
use swarm_work::approval::Approval;
use swarm_work::build::Work;
use swarm_work::daemon::{OVERSTEP, RIGHTED};
use swarm_work::prove;
use swarm_work::publish::Intent;
use trunk::{a_checkout_changes, build_approved, publish_merge, trunk_leaves, trunk_tip};

/// Pauses between the tries of a removal.
const REMOVE_AGAIN_AFTER: [std::time::Duration; 2] =
    [std::time::Duration::from_millis(200), std::time::Duration::from_secs(2)];

/// What an executor tells the loop.
#[derive(Debug)]
pub enum FromExecutor {
    /// News on the way; the effect goes on.
    News(Report),
    /// Nothing to record: it is time to look whether the ledger is still ours.
    Look,
    /// The effect is over, and this is its report.
    Over { key: Key, report: Report },
}

/// What an executor may look at while it works.
pub struct ExecutorContext {
    pub world: SharedWorld,
    pub cancel: CancellationToken,
    pub out: mpsc::Sender<FromExecutor>,
    pub about: About,
    /// Whether the daemon of this run is connected.
    pub connected: watch::Receiver<bool>,
    /// The run was claimed before this coordinator took over.
    pub inherited: bool,
    /// The state, as far as the effect must know it.
    pub background: Background,
}

/// Carries one effect out and sends its report.
pub async fn execute_and_report(effect: Effect, context: ExecutorContext) {
    let key = effect.key();
    let task = effect.task().cloned();
    let out = context.out.clone();
    let world = context.world.clone();
    tracing::info!("begins");
    let done = execute(effect, context).await;
    // Other effects work at the same time, in other worktrees.
    for notice in world.git.take_notices() {
        let what = world.without_root(&notice.text);
        match notice.task.or_else(|| task.clone()) {
            Some(task) => {
                let told = Report::Overstep { task, run: None, what };
                let _ = out.send(FromExecutor::News(told)).await;
            }
            None => complain::<(), _>("leave everything as it was found", Err(what)),
        }
    }
    let report = match done {
        Ok(report) => report,
        Err(why) => {
            let (key, why) = (KeyName::from(&key), world.without_root(&why));
            // Told first: while the disk is full nobody is to blame for it, and nothing new begins.
            if let Some(told) = is_full(&why) {
                let _ = out.send(FromExecutor::News(told)).await;
            }
            match task {
                Some(task) => Report::EffectFailed { key, task, why },
                None => Report::Broke { key, why },
            }
        }
    };
    traced::reported(&report);
    // The loop is gone only when the process ends.
    let _ = out.send(FromExecutor::Over { key, report }).await;
}

async fn execute(effect: Effect, mut context: ExecutorContext) -> Result<Report, String> {
    let world = context.world.clone();
    // One that slept through the coming of another must not start, stop or remove anything.
    world.git.may_act().map_err(describe)?;
    match effect {
        Effect::Prepare { run, task, from, base, shared } => {
            Ok(prepare(&context, run, task, (from, base), shared).await)
        }
        Effect::Work { run, task, agent, attempt, start, nonce, profile, .. } => {
            let attempt = Attempt {
                run: &run,
                task: &task,
                agent: &agent,
                number: attempt,
                start,
                nonce: &nonce,
                title: &context.about.title,
                profile: profile.as_deref().or(context.about.profile.as_deref()),
            };
            work(&context, &attempt).await
        }
        Effect::Verify { run, task, nonce, commit, .. } => verify(&context, run, task, &nonce, &commit).await,
        Effect::Probe { run, task, nonce, profile, .. } => probe(&context, run, task, &nonce, &profile).await,
        Effect::Review { run, task, nonce, tip, by } => {
            review(&mut context, Reviewed { run, task, nonce, tip }, by).await
        }
        Effect::Stop { run, task, nonce, work } => stop(&world, run, task, &nonce, work).await,
        Effect::Build { task, agent, base, tip, at, reviewed, approval } => {
            let at_secs = i64::try_from(at.0 / 1000).unwrap_or(i64::MAX);
            let trunk = trunk_tip(&world).await?;
            let regenerate = world.config.merge.regenerate.clone();
            let approval = approval_of(&task, approval);
            let work = Work { task, agent, base, tip, trunk, at_secs, reviewed, regenerate };
            build_approved(&world, work, approval, &context.about.written_under, &context.cancel).await
        }
        Effect::Publish { task, base, result, commits, approval } => {
            let trunk = world.trunk();
            let intent = Intent { trunk: trunk.clone(), old: base, new: result.clone() };
            let proof = Proof::new(trunk, result, commits);
            let approval = approval_of(&task, approval);
            publish_merge(&world, task, &intent, proof, approval).await
        }
        Effect::Release { task } => Ok(Report::Released { task }),
        Effect::Watch { task, paths } => {
            tokio::select! {
                changed = a_checkout_changes(&world, &task, paths) => changed?,
                () = context.cancel.cancelled() => return Ok(Report::Cancelled { task }),
            }
            Ok(Report::CheckoutChanged { task })
        }
        Effect::WatchTrunk { commit, .. } => {
            let now = tokio::select! {
                now = trunk_leaves(&world, &commit) => now?,
                () = context.cancel.cancelled() => commit.clone(),
            };
            Ok(Report::TrunkChanged { now, commit })
        }
        Effect::Prove { tasks } => prove(&world, &tasks).await,
        other @ (Effect::Survey { .. }
        | Effect::Save { .. }
        | Effect::Mark { .. }
        | Effect::Move { .. }
        | Effect::Resolve { .. }
        | Effect::Forget { .. }
        | Effect::Rewind { .. }
        | Effect::Hook { .. }) => operate(&world, other, context.background, &context.cancel).await,
        Effect::Revive { task, left } => world.bring_workplace_back(task, &left).await,
        Effect::Remove { task, remember, merged } => {
            let report = give_up_patiently(&world, task, remember, merged).await?;
            tokio::spawn(async move { world.tend_pool().await });
            Ok(report)
        }
    }
}

fn approval_of(task: &TaskId, approval: Option<effect::Approval>) -> Option<Approval> {
    approval.map(|effect::Approval { tip, base, left_out }| Approval {
        task: task.clone(),
        tip,
        base,
        left_out,
    })
}

async fn verify(
    context: &ExecutorContext,
    run: RunId,
    task: TaskId,
    nonce: &str,
    commit: &Oid,
) -> Result<Report, String> {
    let world = &context.world;
    world.show_merge(commit).await?;
    let spec =
        world.with_place(world.verify_spec(&run, &task, nonce, &context.about.written_under), true).await;
    Ok(match attend(context, &spec).await? {
        Attended::Cancelled => Report::Cancelled { task },
        // A verdict has been news before; without one the run was lost.
        Attended::Ended { how } => Report::VerifyLost { run, task, why: how.describe() },
    })
}

async fn work(context: &ExecutorContext, attempt: &Attempt<'_>) -> Result<Report, String> {
    let (world, run) = (&context.world, attempt.run.clone());
    let spec = match world.work_spec(attempt) {
        Ok(spec) => spec,
        Err(none) => return Ok(Report::WorkEnded { run, how: Ended::NotStarted { text: none.to_string() } }),
    };
    let how = match attend(context, &world.with_place(spec, false).await).await {
        Ok(Attended::Cancelled) => return Ok(Report::Cancelled { task: attempt.task.clone() }),
        Ok(Attended::Ended { how }) => how,
        Err(why) => not_begun(context.world.without_root(&why))?,
    };
    // Told first: while the disk is full no task is to blame for it.
    if let Ended::NoWorkspace { text } = &how
        && let Some(told) = is_full(&context.world.without_root(text))
    {
        let _ = context.out.send(FromExecutor::News(told)).await;
    }
    Ok(Report::WorkEnded { run, how })
}

async fn review(
    context: &mut ExecutorContext,
    reviewed: Reviewed,
    by: Option<ReviewingAgent>,
) -> Result<Report, String> {
    let world = context.world.clone();
    let branch = reviewed.task.branch();
    let now = world.git.ref_value(&format!("refs/heads/{branch}")).await.map_err(describe)?;
    if now.as_ref() != Some(&reviewed.tip) {
        let why = format!("the branch {branch} is not at {} any more", reviewed.tip.short());
        return Ok(Report::ReviewLost { run: reviewed.run, task: reviewed.task, why });
    }
    if let Some(agent) = by {
        return review_by_agent(context, reviewed, agent).await;
    }
    let Reviewed { run, task, nonce, .. } = reviewed;
    let spec = world.review_spec(&run, &task, &nonce, &context.about.written_under);
    let spec = world.with_place(spec, false).await;
    Ok(match attend(context, &spec).await? {
        Attended::Cancelled => Report::Cancelled { task },
        Attended::Ended { how } => Report::ReviewLost { run, task, why: how.describe() },
    })
}

/// A removal that fails for a passing reason (a git that was killed, a full disk) is tried again before the
/// worktree is kept and a person told: nothing waits for it.
async fn give_up_patiently(
    world: &World,
    task: TaskId,
    remember: Option<u64>,
    merged: Option<Oid>,
) -> Result<Report, String> {
    for pause in REMOVE_AGAIN_AFTER {
        match world.give_up_workplace(task.clone(), remember, merged.as_ref()).await {
            Ok(report) => return Ok(report),
            Err(_) => tokio::time::sleep(pause).await,
        }
    }
    world.give_up_workplace(task, remember, merged.as_ref()).await
}

/// What is done, looked up on trunk as it is now.
async fn prove(world: &World, tasks: &BTreeMap<TaskId, Proof>) -> Result<Report, String> {
    let commit = trunk_tip(world).await?;
    let found = prove::look(&world.git, &world.trunk(), &commit, tasks).await.map_err(describe)?;
    Ok(crate::present::told(found, commit))
}

/// With its reason: whether the disk is full is told by that.
pub(super) fn describe(error: impl std::error::Error) -> String {
    with_causes(&error)
}

pub(super) fn shown(paths: &[PathBuf]) -> Vec<String> {
    paths.iter().map(|p| p.to_string_lossy().into_owned()).collect()
}

/// One small question to the service. What it answered has been news before; without an answer nothing is known.
async fn probe(
    context: &ExecutorContext,
    run: RunId,
    task: TaskId,
    nonce: &str,
    profile: &str,
) -> Result<Report, String> {
    let world = &context.world;
    let spec = match world.probe_spec(&run, &task, nonce, profile) {
        Ok(spec) => spec,
        Err(none) => {
            let failure = Failure::new(FailureClass::Configuration, none.to_string());
            return Ok(Report::Probed { run, failure: Some(failure) });
        }
    };
    std::fs::create_dir_all(&spec.worktree).map_err(describe)?;
    Ok(match attend(context, &spec).await? {
        Attended::Cancelled => Report::Cancelled { task },
        Attended::Ended { how } => {
            let failure = Failure::new(FailureClass::Unknown, how.describe());
            Report::Probed { run, failure: Some(failure) }
        }
    })
}

/// A daemon's frame as the core understands it; some concern nobody but screens.
pub fn report_of(run: &RunId, kind: RunKind, task: &TaskId, said: FromDaemon) -> Option<Report> {
    let run = run.clone();
    match said {
        FromDaemon::Boundary { iteration, outcome, tip, note, usage, session, known } => {
            Some(Report::Boundary { run, iteration, outcome, tip, note, usage, session, known })
        }
        FromDaemon::Checked { iteration, passed, tip, tree, output, gate } => {
            Some(Report::Checked { run, iteration, passed, tip, tree, output, gate })
        }
        FromDaemon::Verified { passed, output } if kind == RunKind::Review => {
            Some(Report::Reviewed { run, task: task.clone(), passed, output })
        }
        FromDaemon::Verified { passed, output } => {
            Some(Report::Verified { run, task: task.clone(), passed, output })
        }
        FromDaemon::Signal { signal, text } if signal == OVERSTEP => {
            Some(Report::Overstep { task: task.clone(), run: None, what: text })
        }
        FromDaemon::Signal { signal, text } if signal == RIGHTED => {
            Some(Report::Righted { task: task.clone(), what: text })
        }
        FromDaemon::Signal { signal, text } if signal.starts_with("LEARNING") => {
            Some(Report::Learned { run, signal, text })
        }
        FromDaemon::Noted { text } => Some(Report::Noted { run, text }),
        FromDaemon::Answered(answered) => Some(Report::ReviewAnswered { run, task: task.clone(), answered }),
        FromDaemon::Probed { failure } => Some(Report::Probed { run, failure }),
        // Its end is reported by the executor that waits for it, when the process is really gone.
        FromDaemon::Signal { .. } | FromDaemon::Ended { .. } => None,
    }
}
