//! The audit log of a task: one line for each event that is about it.

use swarm_protocol::conflict::shown;
use swarm_protocol::event::Event;
use swarm_protocol::gist::gist;
use swarm_protocol::ids::TaskId;
use swarm_protocol::outcome::{Ended, Gate, Next};
use swarm_protocol::time::Timestamp;

use super::keep;
use crate::limits::AUDIT_KEPT;
use crate::state::{Audit, State};

impl State {
    pub(super) fn note(&mut self, event: &Event, at: Timestamp) {
        let Some((id, details)) = details(event) else { return };
        self.change(id, |task| {
            keep(&mut task.audit, AUDIT_KEPT, Audit { at, event: name(event).into(), details });
        });
    }
}

/// The word in the audit log: a task that lost its owner is named by what is done about it.
fn name(event: &Event) -> &'static str {
    match event {
        Event::AgentFailed { how: Ended::Orphaned { .. }, .. } => "crash_recovery",
        other => other.kind(),
    }
}

/// What the audit log of a task says about an event; silent about the plan's own bookkeeping.
fn details(event: &Event) -> Option<(&TaskId, String)> {
    let text = of_its_work(event).or_else(|| of_its_merge(event))?;
    event.task().map(|id| (id, text))
}

fn of_its_work(event: &Event) -> Option<String> {
    let text = match event {
        Event::TaskClaimed { agent, run, attempt, restart: Some(_), .. } => {
            format!("attempt {attempt} goes on with {agent} ({run})")
        }
        Event::TaskClaimed { agent, run, attempt, .. } => format!("attempt {attempt} by {agent} ({run})"),
        Event::WorkspaceReady { branch, tip, .. } => format!("{branch} at {}", tip.short()),
        Event::AgentSpawned { agent, host, .. } => format!("{agent} on {host}"),
        Event::Iteration { iteration, note, class, .. } => {
            let said = note.as_deref().or(class.map(|c| c.describe()));
            said.map_or_else(|| format!("iteration {iteration}"), |s| format!("iteration {iteration}: {s}"))
        }
        Event::Signal { signal, text, .. } => format!("{signal} {text}").trim_end().into(),
        Event::WorkSubmitted { tip, .. } => format!("at {}", tip.short()),
        Event::ChecksPassed { tree, .. } => format!("tree {}", tree.short()),
        Event::ChecksFailed { gate: Some(Gate::Scan), output, .. } => format!("scan: {}", gist(output)),
        Event::ChecksFailed { output, .. } => gist(output),
        Event::CheckingResumed { tip, .. } => format!("checked again at {}", tip.short()),
        Event::WorkReopened { why, .. } => format!("one more iteration: {why}"),
        Event::BaseSuspected { commit, .. } => format!("are the checks red at {} too?", commit.short()),
        Event::BaseCheckStarted { commit, run, .. } => format!("the checks at {} ({run})", commit.short()),
        Event::BaseChecked { commit, green, .. } => {
            format!("the checks are {} at {}", if *green { "green" } else { "red" }, commit.short())
        }
        Event::BaseCheckLost { why, .. } => why.clone(),
        Event::MessageUndelivered { why, .. } => format!("not delivered: {why}"),
        Event::GateWaived { gate, reason, .. } => format!("{}: {reason}", gate.word()),
        Event::TaskApproved { policy, .. } => format!("review: {policy}"),
        Event::ReviewStarted { run, round, .. } => format!("round {round} ({run})"),
        Event::ReviewAnswered { said, .. } => gist(said),
        Event::CouncilSpoke { member, voice, said, .. } => {
            format!("{member} {}: {}", voice.word(), gist(said))
        }
        Event::ReviewFailed { output, .. } => gist(output),
        Event::ChangesRequested { notes, .. } => {
            let notes: Vec<String> = notes.iter().map(|note| gist(&note.to_string())).collect();
            gist(&notes.join("; "))
        }
        Event::ReviewLost { why, .. } | Event::ReviewInterrupted { why, .. } => why.clone(),
        Event::Overstep { what, .. } => what.clone(),
        Event::OverstepsSeen { .. } => "seen by a person".into(),
        Event::RewindFailed { why, .. } | Event::RevivalFailed { why, .. } => why.clone(),
        Event::TaskStarted { .. } => "started by a person".into(),
        Event::StartWithheld { why, .. } => format!("{why}; waits for a person's word"),
        Event::AgentCompleted { agent, .. } => agent.to_string(),
        Event::AgentFailed { agent, how, next, .. } => match next {
            Next::Restart { not_before, restart } => {
                // Of UTC, as old ledgers replay to it: these words are a part of the state.
                let (how, at) = (how.describe(), not_before.to_string());
                format!("{agent} {how}; restart {restart} at {}", &at[11..19])
            }
            _ => format!("{agent} {}", how.describe()),
        },
        Event::AgentNudged { class, .. } => format!("told that {}", class.describe()),
        Event::AgentNoted { what, .. } => what.clone(),
        Event::ProfileAssigned { profile, why, .. } => format!("{profile}: {why}"),
        Event::QuotaExhausted { group, why, .. } => format!("{group}: {why}"),
        Event::QuotaProbeStarted { group, run, .. } => format!("{group} ({run})"),
        Event::QuotaProbeFailed { group, why, .. } => format!("{group}: {why}"),
        Event::TaskSplit { parts, .. } => parts.iter().map(TaskId::as_str).collect::<Vec<_>>().join(", "),
        Event::MessageQueued { by, .. } => format!("from {by}"),
        Event::MessageLanded { iteration, run, .. } => format!("in iteration {iteration} of {run}"),
        _ => return None,
    };
    Some(text)
}

/// The same of its merge, and of where its work stands.
fn of_its_merge(event: &Event) -> Option<String> {
    let text = match event {
        Event::AgentStopped { agent, why, .. } => format!("{agent}: {why}"),
        Event::MergeBuilt { result, commits, resolved, .. } => {
            let built = format!("{} commits, {}", commits.len(), result.short());
            match resolved {
                Some(resolved) => format!("{built}; conflicts resolved: {}", shown(resolved)),
                None => built,
            }
        }
        Event::MergeResolved { tip, resolved, .. } => {
            format!("{} for review; conflicts resolved: {}", tip.short(), shown(resolved))
        }
        Event::ApprovalVoided { approved, tip, .. } => {
            format!("{} was approved, the branch is at {}", approved.short(), tip.short())
        }
        Event::MergeHeld { why, .. } => why.clone(),
        Event::ReservationPassed { paths, .. } => format!("changes reserved files: {}", paths.join(", ")),
        Event::ProtectedTouched { paths, .. } => format!("changes protected files: {}", paths.join(", ")),
        Event::VerificationFailed { output, .. } | Event::VerificationRed { output, .. } => gist(output),
        Event::TrunkTrialStarted { commit, .. } => format!("trunk alone at {}", commit.short()),
        Event::TrunkJudged { commit, green, .. } => {
            format!("trunk alone at {} is {}", commit.short(), if *green { "green" } else { "red" })
        }
        Event::ResolverStarted { profile, round, paths, .. } => {
            format!("{profile} is asked what is to become of {}, round {round}", paths.join(", "))
        }
        Event::ResolverEnded { why, .. } => why.clone().unwrap_or_else(|| "resolved, to be verified".into()),
        Event::MergeInterrupted { why, .. } => why.clone(),
        Event::PublishWaits { why, .. } => why.clone(),
        Event::RaceLost { trunk_now, .. } => format!("trunk is now at {}", trunk_now.short()),
        Event::MergeFailed { why, .. } => why.clone(),
        Event::MergeCompleted { proof, .. } => format!("{} at {}", proof.trunk, proof.commit.short()),
        Event::WorktreeKept { why, .. } => why.clone(),
        Event::NothingChanged { why, .. } | Event::WorkGone { why, .. } => why.clone(),
        Event::WorkBack { proof, .. } | Event::WorkRewritten { proof, .. } => {
            format!("{} at {}", proof.trunk, proof.commit.short())
        }
        Event::TaskStatusChanged { status, why, .. } => match why {
            Some(why) => format!("{}: {why}", status.word()),
            None => status.word().into(),
        },
        _ => return None,
    };
    Some(text)
}
