//! What happens, one line each, as it becomes durable.

use swarm_protocol::event::Event;
use swarm_protocol::gist::gist;
use swarm_protocol::plan::Status;
use swarm_protocol::time::Timestamp;

use crate::output;

/// Progress is no data: it goes to stderr; with `--json` one object per record.
pub fn print(seq: u64, at: Timestamp, event: &Event, json: bool) {
    if json {
        let body = swarm_protocol::record::body(event, "swarm:coordinator", None);
        output::note(&format!("{{\"seq\":{seq},\"ts\":\"{at}\",{body}}}"));
    } else if let Some(text) = words(event) {
        let task = event.task().map(|t| t.to_string()).unwrap_or_default();
        output::note(&output::harmless(&format!("{}  {task:<8} {text}", clock(at))));
    }
}

fn clock(at: Timestamp) -> String {
    at.to_string()[11..19].to_string()
}

/// The line for a person; what they need not see is left out.
fn words(event: &Event) -> Option<String> {
    Some(match event {
        Event::CoordinatorStarted { epoch, trunk, .. } => {
            format!("the swarm runs (epoch {epoch}), trunk is {trunk}")
        }
        Event::DrainStarted { why } => format!("stopping: {why}; agents go to their boundary"),
        Event::Paused { why, .. } => format!("paused: {why}"),
        Event::Resumed { .. } => "goes on".into(),
        Event::ModeChanged { mode } => format!("the mode is {} now", mode.word()),
        Event::TaskStarted { .. } => "may start".into(),
        Event::Overstep { what, .. } => format!("an agent tried what is not its to do: {what}"),
        Event::ReviewStarted { round: 1, .. } => "in review".into(),
        Event::ReviewStarted { round, .. } => format!("in review, round {round}"),
        Event::ReviewLost { why, next, .. } => format!("the review broke off: {why}; {}", after(next)),
        Event::VerificationRed { .. } => "the merged tree is red; is trunk alone?".into(),
        Event::TrunkJudged { green: false, .. } => "trunk itself is red: nobody is to blame".into(),
        Event::ReviewFailed { output, next, .. } => {
            format!("the review wants changes: {}; {}", gist(output), after(next))
        }
        Event::TaskClaimed { agent, attempt: 1, .. } => format!("{agent} takes it"),
        Event::TaskClaimed { agent, attempt, .. } => format!("{agent} takes it, attempt {attempt}"),
        Event::AgentSpawned { agent, .. } => format!("{agent} works"),
        Event::WorkSubmitted { .. } => "work submitted, checking".into(),
        Event::ChecksFailed { output, .. } => format!("checks failed, back to work: {}", gist(output)),
        Event::TaskApproved { .. } => "checks passed, approved".into(),
        Event::AgentFailed { agent, how, next, .. } => format!("{agent} {}; {}", how.words(), after(next)),
        Event::AgentStopped { agent, why, .. } => format!("{agent} stopped: {why}"),
        Event::TrunkGranted { .. } => "merging".into(),
        Event::VerificationFailed { output, .. } => {
            format!("the merged tree fails its verification, back to work: {}", gist(output))
        }
        Event::PublishWaits { why, hint, .. } => {
            format!("merged, waits for your checkout: {why}; try `{hint}`")
        }
        Event::RaceLost { .. } => "trunk moved meanwhile, building again".into(),
        Event::MergeFailed { why, next, .. } => format!("not merged: {why}; {}", after(next)),
        Event::MergeCompleted { proof, .. } => format!("on {} at {}", proof.trunk, proof.commit.short()),
        Event::WorktreeKept { why, .. } => format!("its worktree is kept: {why}"),
        Event::PhaseCompleted { phase } => format!("phase {phase} is complete"),
        Event::TaskStatusChanged { status, .. } if *status != Status::Done => status.word().into(),
        Event::LedgerLoss { quarantine, .. } => format!("records were damaged; they lie in {quarantine}"),
        _ => return None,
    })
}

fn after(next: &swarm_protocol::outcome::Next) -> String {
    use swarm_protocol::outcome::Next;
    match next {
        Next::Pending { not_before, .. } => format!("again at {}", clock(*not_before)),
        Next::Restart { not_before, .. } => format!("begins again at {}", clock(*not_before)),
        Next::Approved { not_before } => format!("tried again at {}", clock(*not_before)),
        Next::Review { not_before } => format!("reviewed again at {}", clock(*not_before)),
        Next::Blocked { why, .. } => format!("waits for you: {why}"),
        Next::Failed { .. } | Next::Timeout { .. } => "waits for you".into(),
        Next::Deferred => "deferred".into(),
        Next::Cancelled => "cancelled".into(),
    }
}
