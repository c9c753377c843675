//! What happens, one line each, as it becomes durable.

use swarm_protocol::event::Event;
use swarm_protocol::gist::gist;
use swarm_protocol::ids::TaskId;
use swarm_protocol::plan::Status;
use swarm_protocol::time::Timestamp;

use crate::output;

/// Progress is no data: it goes to stderr; with `--json` one object per record.
pub fn print(seq: u64, at: Timestamp, event: &Event, json: bool) {
    if json {
        let body = swarm_protocol::record::body(event, "swarm:coordinator", None);
        output::note(&format!("{{\"seq\":{seq},\"ts\":\"{at}\",{body}}}"));
    } else if let Some(text) = describe(event) {
        let task = event.task().map(|t| t.to_string()).unwrap_or_default();
        output::note(&output::harmless(&format!("{}  {task:<8} {text}", clock(at))));
    }
}

fn clock(at: Timestamp) -> String {
    at.to_string()[11..19].to_string()
}

/// The line for a person; what they need not see is left out.
fn describe(event: &Event) -> Option<String> {
    Some(match event {
        Event::CoordinatorStarted { epoch, trunk, .. } => {
            format!("the swarm runs (epoch {epoch}), trunk is {trunk}")
        }
        Event::TrunkChosen { branch } => format!("trunk is {branch} now"),
        Event::DrainStarted { why } => format!("stopping: {why}; agents go to their boundary"),
        Event::Paused { why, .. } if why.is_empty() => "paused".into(),
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
        Event::AgentFailed { agent, how, next, .. } => format!("{agent} {}; {}", how.describe(), after(next)),
        Event::AgentStopped { agent, why, .. } => format!("{agent} stopped: {why}"),
        Event::TrunkGranted { .. } => "merging".into(),
        Event::VerificationFailed { output, .. } => {
            format!("the merged tree fails its verification, back to work: {}", gist(output))
        }
        Event::PublishWaits { why, hint, .. } => {
            format!("ready for trunk, and waits for your checkout: {why}; try `{hint}`")
        }
        Event::RaceLost { .. } => "trunk moved meanwhile, building again".into(),
        Event::MergeFailed { why, next, .. } => format!("not merged: {why}; {}", after(next)),
        Event::MergeCompleted { proof, .. } => format!("on {} at {}", proof.trunk, proof.commit.short()),
        Event::WorktreeKept { why, .. } => format!("its worktree is kept: {why}"),
        Event::NothingChanged { next, .. } => format!("its branch changes nothing; {}", after(next)),
        Event::WorkGone { why, .. } => format!("gone from trunk: {why}"),
        Event::WorkBack { proof, .. } => format!("on {} again", proof.trunk),
        Event::WorkRewritten { proof, .. } => {
            format!("rewritten by somebody, on {} at {}", proof.trunk, proof.commit.short())
        }
        Event::PhaseReopened { phase } => format!("phase {phase} is open again"),
        Event::PhaseCompleted { phase } => format!("phase {phase} is complete"),
        Event::TaskStatusChanged { status, .. } if *status != Status::Done => status.word().into(),
        Event::LedgerLoss { quarantine, .. } => format!("records were damaged; they lie in {quarantine}"),
        other => return recovery(other),
    })
}

/// What went wrong, and what is done about it.
fn recovery(event: &Event) -> Option<String> {
    Some(match event {
        Event::AgentNudged { class, why, .. } => {
            format!("{}: {why}; it is told so and goes on", class.describe())
        }
        Event::AgentNoted { what, .. } => format!("noted: {what}"),
        Event::AgentDegraded { agent, why } => {
            format!("{agent} is out of service: {why}; `swarm agent revive {agent}`")
        }
        Event::AgentRevived { agent } => format!("{agent} may work again"),
        Event::ProfileAssigned { profile, why, .. } => format!("goes on under the profile {profile}: {why}"),
        Event::QuotaExhausted { group, resets_at, next_probe, .. } => quota(group, *resets_at, *next_probe),
        Event::QuotaProbeStarted { group, .. } => format!("asks whether the quota of {group} is back"),
        Event::QuotaProbeFailed { group, resets_at, next_probe, why, .. } => {
            format!("{}; {why}", quota(group, *resets_at, *next_probe))
        }
        Event::QuotaRestored { group, by } => match by.as_str() {
            "person" => format!("the quota of {group} was opened by a person; what waited goes first"),
            "probe" => format!("the quota of {group} is back; what waited goes first"),
            _ => format!("the quota of {group} is open again; nothing waits for it"),
        },
        Event::QuotaHeld { group } => {
            format!("the quota of {group} stays closed until `swarm quota open {group}`")
        }
        Event::TaskSplit { parts, .. } => format!("split into {}", list(parts)),
        Event::MessageQueued { by, .. } => format!("a message of {by} waits for its next iteration"),
        Event::MessageLanded { run, iteration, .. } => {
            format!("the message was delivered in iteration {iteration} of {run}")
        }
        Event::MessageUndelivered { why, .. } => format!("the message was not delivered: {why}"),
        Event::StartWithheld { task, why } => format!("{why}; waits for `swarm task start {task}`"),
        Event::CheckingResumed { tip, .. } => format!("its work at {} is checked again", tip.short()),
        Event::WorkReopened { why, .. } => format!("goes on for one more iteration: {why}"),
        Event::BaseCheckStarted { commit, .. } => {
            format!("its checks are tried at {}, where it began", commit.short())
        }
        Event::BaseChecked { commit, green: true, .. } => {
            format!("the checks pass at {}, where it began", commit.short())
        }
        Event::BaseChecked { commit, output, .. } => {
            format!("the checks fail at {} too, before any work: {}", commit.short(), gist(output))
        }
        Event::BudgetExtended { task: Some(_) } => "may spend as much again".into(),
        Event::BudgetExtended { task: None } => "the swarm may spend as much again".into(),
        _ => return None,
    })
}

/// The time of day, for the person who looks.
fn quota(group: &str, resets_at: Option<Timestamp>, next_probe: Timestamp) -> String {
    let resets = resets_at.map(|at| format!("resets at {}, ", clock(at))).unwrap_or_default();
    format!(
        "the quota of {group} is used up; {resets}next look {}; `swarm quota open {group}`",
        clock(next_probe)
    )
}

fn list(ids: &[TaskId]) -> String {
    ids.iter().map(TaskId::as_str).collect::<Vec<_>>().join(", ")
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
