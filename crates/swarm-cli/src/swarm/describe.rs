//! What an event says to a person, in a few words. Its type, task and time stand beside it.

use swarm_protocol::conflict::shown;
use swarm_protocol::event::{Event, loss_words};
use swarm_protocol::gist::gist;
use swarm_protocol::ids::{Oid, TaskId};
use swarm_protocol::outcome::{Gate, Next};

use crate::output::time::moment;

/// Enough to recognise a text by.
const TEXT_SHOWN: usize = 80;

pub fn describe(event: &Event) -> String {
    let text = plan(event).or_else(|| swarm(event)).or_else(|| attempt(event)).or_else(|| merge(event));
    text.or_else(|| recovery(event)).unwrap_or_default()
}

/// Events about the plan.
fn plan(event: &Event) -> Option<String> {
    Some(match event {
        Event::PlanCreated { goal, .. } | Event::PlanUpdated { goal, .. } => short(goal),
        Event::TaskAdded { spec, phase, .. } => format!("phase {phase}: {}", short(&spec.title)),
        Event::TaskUpdated { patch, .. } => {
            let members = serde_json::to_value(patch).unwrap_or_default();
            let names: Vec<&str> =
                members.as_object().map(|m| m.keys().map(String::as_str).collect()).unwrap_or_default();
            format!("changed {}", names.join(", "))
        }
        Event::TaskStatusChanged { status, why, .. } => {
            join(status.word(), why.as_deref().unwrap_or_default())
        }
        Event::TaskReordered { after, phase, .. } => place(after.as_ref(), *phase),
        Event::PhaseCompleted { phase } => format!("phase {phase}"),
        Event::Snapshot { data } => format!("plan {}", first(&data.payload_hash)),
        Event::PlanRebuilt { source, tasks } => format!("{tasks} tasks from {}", short(source)),
        Event::PlanExported { path } => short(path),
        Event::ExecutionProfileSet { profile } => format!("{} at once", profile.slots()),
        Event::PlanApproved { structure_hash } => format!("structure {}", first(structure_hash)),
        Event::PlanClosed { archive } | Event::PlanReopened { archive } => short(archive),
        _ => return None,
    })
}

/// Events about the ledger and the swarm as a whole.
fn swarm(event: &Event) -> Option<String> {
    Some(match event {
        Event::LedgerLoss { .. } => loss_words(event)?,
        Event::LedgerRepaired { from_seq, to_seq, .. } => {
            format!("records {from_seq} to {to_seq} from the second copy")
        }
        Event::LedgerCut { after_seq, bytes, .. } => {
            format!("{bytes} bytes of an unfinished batch after record {after_seq}")
        }
        Event::LossAcknowledged { salvaged } => format!("{salvaged} brought back"),
        Event::CoordinatorStarted { epoch, trunk, .. } => format!("epoch {epoch}, trunk {}", short(trunk)),
        Event::CoordinatorStopped { epoch } => format!("epoch {epoch}"),
        Event::Paused { reason, why } => join(reason.word(), why),
        Event::Resumed { reason } => reason.word().into(),
        Event::DrainStarted { why } => short(why),
        Event::Operation { kind, answer, .. } => join(kind, answer),
        _ => return None,
    })
}

/// Events of an attempt.
fn attempt(event: &Event) -> Option<String> {
    Some(match event {
        Event::TaskClaimed { run, agent, attempt, .. } => format!("{agent} as {run}, attempt {attempt}"),
        Event::WorkspaceReady { branch, tip, .. } => format!("{branch} at {}", tip.short()),
        Event::AgentSpawned { run, agent, .. } | Event::AgentCompleted { run, agent, .. } => {
            format!("{agent} as {run}")
        }
        Event::Iteration { iteration, note, .. } => {
            join(&format!("iteration {iteration}"), note.as_deref().unwrap_or_default())
        }
        Event::Signal { signal, text, .. } => join(signal, text),
        Event::WorkSubmitted { iteration, tip, .. } => {
            format!("iteration {iteration}, commit {}", tip.short())
        }
        Event::ChecksPassed { tip, .. } => format!("commit {}", tip.short()),
        Event::ChecksFailed { gate: Some(Gate::Scan), output, .. } => {
            short(&format!("scan: {}", gist(output)))
        }
        Event::ChecksFailed { output, .. } => short(&gist(output)),
        Event::ReviewStarted { run, round, member: Some(member), .. } => {
            format!("round {round} by {member} of the council as {run}")
        }
        Event::CouncilSpoke { member, voice, said, .. } => {
            format!("{member} {}: {}", voice.word(), short(&gist(said)))
        }
        Event::ReviewStarted { run, round, profile: Some(profile), .. } => {
            format!("round {round} by {profile} as {run}")
        }
        Event::ReviewStarted { run, round, .. } => format!("round {round} as {run}"),
        Event::ReviewAnswered { said, .. } => short(&gist(said)),
        Event::ReviewFailed { output, next, .. } => format!("{}, then {}", short(&gist(output)), then(next)),
        Event::ReviewAsked { tip, .. } => format!("commit {}", tip.short()),
        Event::ChangesRequested { notes, next, .. } => {
            let notes: Vec<String> = notes.iter().map(ToString::to_string).collect();
            format!("{}, then {}", short(&notes.join("; ")), then(next))
        }
        Event::ReviewLost { why, next, .. } => format!("{}, then {}", short(why), then(next)),
        Event::Overstep { what, .. } => short(what),
        Event::OverstepsSeen { oversteps, .. } => format!("the first {oversteps}"),
        Event::GateWaived { gate, reason, .. } => join(gate.word(), reason),
        Event::TaskApproved { tip, policy, .. } => join(&format!("commit {}", tip.short()), policy),
        Event::AgentFailed { how, next, .. } => format!("{}, then {}", short(&how.describe()), then(next)),
        Event::AgentStopped { why, next, .. } => format!("{}, then {}", short(why), then(next)),
        Event::AttemptStopped { run, wip, .. } => match wip {
            Some(wip) => format!("{run}, work saved as {}", wip.short()),
            None => run.to_string(),
        },
        _ => return None,
    })
}

/// Events on the way to trunk.
fn merge(event: &Event) -> Option<String> {
    Some(match event {
        Event::MergeBuilt { result, commits, resolved, .. } => {
            let commits =
                if commits.len() == 1 { "1 commit".into() } else { format!("{} commits", commits.len()) };
            let resolved = resolved.as_deref().map(|resolved| format!("resolved {}", shown(resolved)));
            join(&format!("{commits} as {}", result.short()), &resolved.unwrap_or_default())
        }
        Event::MergeResolved { tip, level, resolved, .. } => {
            format!("level {level}, commit {}: resolved {}", tip.short(), short(&shown(resolved)))
        }
        Event::ApprovalVoided { approved, tip, next, .. } => {
            format!(
                "{} was approved, the branch is at {}, then {}",
                approved.short(),
                tip.short(),
                then(next)
            )
        }
        Event::ProtectedTouched { paths, .. } => {
            format!("waits for a person: changes {}", short(&paths.join(", ")))
        }
        Event::MergeHeld { why, .. } => short(why),
        Event::ReservationPassed { paths, .. } => format!("changes {}", short(&paths.join(", "))),
        Event::VerificationStarted { run, .. } => run.to_string(),
        Event::VerificationPassed { commit, .. } => format!("commit {}", commit.short()),
        Event::VerificationFailed { output, .. } | Event::VerificationRed { output, .. } => {
            short(&gist(output))
        }
        Event::TrunkJudged { commit, green: true, .. } => format!("commit {} is green", commit.short()),
        Event::TrunkJudged { commit, output, .. } => {
            format!("commit {} is red: {}", commit.short(), short(&gist(output)))
        }
        Event::PublishWaits { why, .. } | Event::MergeInterrupted { why, .. } => short(why),
        Event::RaceLost { trunk_now, .. } => format!("trunk is at {} now", trunk_now.short()),
        Event::MergeFailed { why, next, .. } => format!("{}, then {}", short(why), then(next)),
        Event::MergeCompleted { proof, .. } => {
            format!("{} at {}", short(&proof.trunk), Oid::short(&proof.commit))
        }
        Event::WorktreeKept { why, .. } => short(why),
        _ => return None,
    })
}

/// Events of failures and what is done about them.
fn recovery(event: &Event) -> Option<String> {
    Some(match event {
        Event::AgentNudged { run, iteration, class, why, .. } => {
            join(&format!("{run}, iteration {iteration}, {}", class.describe()), why)
        }
        Event::AgentNoted { run, what, .. } => join(run.as_str(), what),
        Event::AgentDegraded { agent, why } => join(&format!("{agent} is out of service"), why),
        Event::AgentRevived { agent } => agent.to_string(),
        Event::ProfileAssigned { profile, why, .. } => join(profile, why),
        Event::QuotaExhausted { group, resets_at, next_probe, why, .. }
        | Event::QuotaProbeFailed { group, resets_at, next_probe, why, .. } => {
            let resets = resets_at.map(|at| format!("resets {}, ", moment(at))).unwrap_or_default();
            join(&format!("{group}, {resets}next probe {}", moment(*next_probe)), why)
        }
        Event::QuotaProbeStarted { group, run, profile, .. } => format!("{group}, {run} under {profile}"),
        Event::QuotaRestored { group, by, .. } => format!("{group}, by {by}"),
        Event::QuotaHeld { group } => group.clone(),
        Event::TaskSplit { parts, why, .. } => {
            join(&parts.iter().map(TaskId::as_str).collect::<Vec<_>>().join(", "), why)
        }
        Event::MessageQueued { by, text, .. } => join(by, text),
        Event::MessageLanded { run, iteration, .. } => format!("iteration {iteration} of {run}"),
        other => return of_claims(other),
    })
}

/// What keeps a task from being worked on again and again.
fn of_claims(event: &Event) -> Option<String> {
    Some(match event {
        Event::MessageUndelivered { why, .. }
        | Event::StartWithheld { why, .. }
        | Event::WorkReopened { why, .. } => short(why),
        Event::CheckingResumed { tip, .. } => format!("at {}", tip.short()),
        Event::BaseSuspected { commit, .. } => commit.short().into(),
        Event::BaseCheckStarted { commit, run, .. } => format!("{} ({run})", commit.short()),
        Event::BaseChecked { commit, green, output, .. } => {
            let verdict = if *green { "green" } else { "red" };
            join(&format!("{} is {verdict}", commit.short()), &gist(output))
        }
        Event::BaseCheckLost { commit, why, .. } => join(commit.short(), why),
        Event::ReservationGranted { task, by, number, files, shared, .. } => {
            let holder = task.as_ref().map(|task| format!("task {task}")).or_else(|| by.clone());
            let files: Vec<&str> = files.iter().chain(shared).map(String::as_str).collect();
            join(&format!("{number} for {}", holder.unwrap_or_default()), &files.join(", "))
        }
        Event::ReservationReleased { number, why, .. } => join(&number.to_string(), why),
        Event::BudgetExtended { task } => {
            task.as_ref().map_or_else(|| "the whole swarm".into(), ToString::to_string)
        }
        _ => return None,
    })
}

fn then(next: &Next) -> &'static str {
    next.status().word()
}

fn place(after: Option<&TaskId>, phase: u32) -> String {
    after.map_or_else(|| format!("first in phase {phase}"), |after| format!("after {after} in phase {phase}"))
}

fn join(head: &str, text: &str) -> String {
    if text.is_empty() { head.to_owned() } else { format!("{head}: {}", short(text)) }
}

fn first(hash: &str) -> &str {
    hash.get(..12).unwrap_or(hash)
}

fn short(text: &str) -> String {
    let line = text.lines().next().unwrap_or_default();
    match line.char_indices().nth(TEXT_SHOWN) {
        Some((end, _)) => format!("{}…", &line[..end]),
        None => line.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_texts_are_cut_between_characters() {
        assert_eq!(short(&"ü".repeat(81)), format!("{}…", "ü".repeat(80)));
        assert_eq!(short("one\ntwo"), "one");
    }
}
