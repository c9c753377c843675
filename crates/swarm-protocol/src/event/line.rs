//! What happened, in one line for a person who watches.

mod loss;

use super::Event;
use crate::conflict::shown;
use crate::failure::GateCause;
use crate::gist::gist;
use crate::ids::{AgentId, TaskId};
use crate::operation::HookOutcome;
use crate::outcome::{Ended, Gate, Next, PauseReason};
use crate::plan::Status;
use crate::review::Reviewer;
use crate::time::Timestamp;
pub use loss::loss_words;

/// The line for a person; none for what they need not see.
pub fn line(event: &Event) -> Option<String> {
    told(event, &|at: Timestamp| at.clock(at))
}

/// The same for an event that was recorded at `now`: a moment of another day is told with its date.
pub fn line_at(event: &Event, now: Timestamp) -> Option<String> {
    told(event, &|at: Timestamp| at.clock(now))
}

/// The same for somebody whose time zone is known: `clock` writes moments as they stand on that person's wall.
pub fn line_by(event: &Event, clock: Clock<'_>) -> Option<String> {
    told(event, clock)
}

/// How a moment is told.
type Clock<'a> = &'a dyn Fn(Timestamp) -> String;

fn told(event: &Event, clock: Clock<'_>) -> Option<String> {
    Some(match event {
        Event::CoordinatorStarted { epoch, trunk, .. } => {
            format!("started (epoch {epoch}), trunk is {trunk}")
        }
        Event::TrunkChosen { branch } => format!("trunk is {branch} now"),
        Event::DrainStarted { why } => format!("stopping: {why}; agents go to their boundary"),
        Event::Paused { reason, why } => paused(*reason, why),
        Event::Resumed { .. } => "resumed".into(),
        Event::ModeChanged { mode } => format!("the mode is {} now", mode.word()),
        Event::TaskStarted { .. } => "may start".into(),
        Event::Overstep { what, anybody: Some(true), .. } => what.clone(),
        Event::Overstep { what, .. } => format!("an agent tried something it may not do: {what}"),
        Event::VerificationRed { .. } => "the merged tree fails verification; verifying trunk alone".into(),
        Event::TrunkJudged { green: false, .. } => {
            "trunk itself fails verification; no task is blamed".into()
        }
        Event::TaskClaimed { agent, attempt, restart: Some(_), .. } => {
            format!("assigned to {agent}, which goes on with attempt {attempt}")
        }
        Event::TaskClaimed { agent, attempt: 1, .. } => format!("assigned to {agent}"),
        Event::TaskClaimed { agent, attempt, .. } => format!("assigned to {agent}, attempt {attempt}"),
        Event::AgentSpawned { agent, .. } => format!("{agent} is working"),
        Event::WorkSubmitted { .. } => "work submitted, checking".into(),
        Event::ChecksFailed { gate: Some(Gate::Scan), output, .. } => {
            format!("the scan found something, back to work: {}", gist(output))
        }
        Event::ChecksFailed { output, .. } => format!("checks failed, back to work: {}", gist(output)),
        Event::AgentFailed { agent, how, next, .. } => failed(agent, how, next, clock),
        Event::AgentStopped { agent, why, .. } => format!("{agent} stopped: {why}"),
        Event::TrunkGranted { .. } => "merging".into(),
        Event::VerificationFailed { output, .. } => {
            format!("the merged tree fails its verification, back to work: {}", gist(output))
        }
        Event::PublishWaits { why, hint, .. } => {
            format!("ready to merge, waits for your checkout: {why}; try `{hint}`")
        }
        Event::RaceLost { .. } => "trunk has moved, merging again".into(),
        Event::MergeFailed { why, next: Next::Pending { .. }, .. } => {
            format!("not merged: {why}; an agent resolves it")
        }
        Event::MergeFailed { why, next, .. } => format!("not merged: {why}; {}", after(next, clock)),
        Event::MergeCompleted { proof, .. } => format!("on {} at {}", proof.trunk, proof.commit.short()),
        Event::WorktreeKept { why, .. } => format!("worktree kept: {why}"),
        Event::NothingChanged { next, .. } => format!("its branch has no changes; {}", after(next, clock)),
        Event::WorkGone { why, .. } => format!("gone from trunk: {why}"),
        Event::WorkBack { proof, .. } => format!("on {} again", proof.trunk),
        Event::WorkRewritten { proof, .. } => {
            format!("rewritten by a person, now on {} at {}", proof.trunk, proof.commit.short())
        }
        Event::PhaseReopened { phase } => format!("phase {phase} is open again"),
        Event::PhaseCompleted { phase } => format!("phase {phase} is complete"),
        Event::TaskStatusChanged { status, .. } if *status != Status::Done => status.word().into(),
        Event::HookEnded { hook, outcome, .. } if !matches!(outcome, HookOutcome::Ok) => {
            format!("the hook {hook} {}; `swarm hooks list`", outcome.describe())
        }
        Event::LedgerLoss { .. } => format!("the ledger lost records: {}", loss_words(event)?),
        Event::ResolverStarted { profile, paths, why: None, .. } => {
            format!(
                "{profile} is asked to resolve what conflicts when it is taken back: {}",
                paths.join(", ")
            )
        }
        Event::ResolverStarted { profile, why: Some(why), .. } => {
            format!("{profile} is asked again to resolve it: {}", gist(why))
        }
        Event::ResolverEnded { why: Some(why), .. } => format!("not resolved by the agent: {}", gist(why)),
        other => return review(other, clock).or_else(|| recovery(other, clock)),
    })
}

/// What reviewers are asked and say.
fn review(event: &Event, clock: Clock<'_>) -> Option<String> {
    Some(match event {
        Event::ReviewStarted { round, profile, member, .. } => {
            let by = member.as_ref().or(profile.as_ref());
            let by = by.as_ref().map_or_else(String::new, |profile| format!(" by {profile}"));
            if *round == 1 { format!("in review{by}") } else { format!("in review{by}, round {round}") }
        }
        Event::ReviewAnswered { said, .. } if said.is_empty() => return None,
        Event::CouncilSpoke { member, voice, said, .. } => {
            format!("{member} {}: {}", voice.word(), gist(said))
        }
        Event::ReviewAnswered { said, .. } => format!("the reviewer says: {}", gist(said)),
        Event::ReviewLost { why, next, .. } => {
            format!("the review had no verdict: {why}; {}", after(next, clock))
        }
        Event::ReviewFailed { output, next, .. } => {
            format!("the review requests changes: {}; {}", gist(output), after(next, clock))
        }
        Event::ReviewAsked { .. } => "checks passed, submitted for review".into(),
        Event::ChangesRequested { notes, next, run, .. } => {
            let notes: Vec<String> = notes.iter().map(ToString::to_string).collect();
            let who = if run.is_some() { "the reviewer" } else { "a person" };
            format!("{who} requests changes: {}; {}", notes.join("; "), after(next, clock))
        }
        Event::ApprovalVoided { task, approved, tip, next, .. } => {
            let (was, is) = (approved.short(), tip.short());
            let what =
                format!("its branch was changed after its approval ({was}, now {is}): it is reviewed again");
            match next {
                Next::Blocked { why, .. } => format!("{what}; blocked: {why}; `swarm review show {task}`"),
                _ => format!("{what}; `swarm review show {task}` says what changed"),
            }
        }
        Event::MergeResolved { tip, resolved, .. } => format!(
            "rules resolved its conflicts with trunk in {}; its approval is void: {} is reviewed",
            shown(resolved),
            tip.short()
        ),
        Event::TaskApproved { policy, .. } if policy == Reviewer::Human.word() => {
            "approved by a person".into()
        }
        Event::TaskApproved { policy, .. } if policy == Reviewer::Agent.word() => {
            "approved by the reviewer".into()
        }
        Event::TaskApproved { policy, .. } if policy == Reviewer::Council.word() => {
            "approved by the council".into()
        }
        Event::TaskApproved { .. } => "checks passed, approved".into(),
        _ => return None,
    })
}

/// What went wrong, and what is done about it.
fn recovery(event: &Event, clock: Clock<'_>) -> Option<String> {
    Some(match event {
        Event::AgentNudged { why, .. } => format!("{why}; the agent is told and continues"),
        Event::AgentNoted { what, .. } => format!("noted: {what}"),
        Event::AgentDegraded { agent, why } => {
            format!("{agent} is out of service: {why}; `swarm agent revive {agent}`")
        }
        Event::AgentRevived { agent } => format!("{agent} is back in service"),
        Event::ProfileAssigned { profile, why, .. } => format!("continues with profile {profile}: {why}"),
        Event::QuotaExhausted { group, resets_at, next_probe, cause, .. } => {
            gate(cause.unwrap_or_default(), group, *resets_at, *next_probe, clock)
        }
        Event::QuotaProbeStarted { group, .. } => format!("probing the service of {group}"),
        Event::QuotaProbeFailed { group, resets_at, next_probe, why, cause, .. } => {
            format!("{}; {why}", gate(cause.unwrap_or_default(), group, *resets_at, *next_probe, clock))
        }
        Event::QuotaRestored { group, by, cause } => {
            let what = cause.unwrap_or_default().what(group);
            match by.as_str() {
                "person" => format!("{what} was opened by a person; waiting tasks go first"),
                "probe" if *cause == Some(GateCause::Key) => {
                    format!("{what} is accepted again; waiting tasks go first")
                }
                "probe" => format!("{what} is back; waiting tasks go first"),
                _ => format!("{what} is open again; no task waits for it"),
            }
        }
        Event::QuotaHeld { group } => {
            format!("the quota of {group} stays closed until `swarm quota open {group}`")
        }
        Event::TaskSplit { parts, .. } => format!("split into {}", list(parts)),
        Event::MessageQueued { by, .. } => format!("message from {by} queued for the next iteration"),
        Event::MessageLanded { run, iteration, .. } => {
            format!("the message was delivered in iteration {iteration} of {run}")
        }
        Event::MessageUndelivered { why, .. } => format!("the message was not delivered: {why}"),
        Event::StartWithheld { task, why } => format!("{why}; waits for `swarm task start {task}`"),
        Event::CheckingResumed { tip, .. } => format!("checking its work at {} again", tip.short()),
        Event::WorkReopened { why, .. } => format!("one more iteration: {why}"),
        Event::BaseCheckStarted { commit, .. } => {
            format!("running its checks at {}, where the task started", commit.short())
        }
        Event::BaseChecked { commit, green: true, .. } => {
            format!("the checks pass at {}, where the task started", commit.short())
        }
        Event::BaseChecked { commit, output, .. } => {
            format!("the checks fail at {} too, before any work: {}", commit.short(), gist(output))
        }
        Event::MergeHeld { why, .. } => format!("not merged yet: {why}"),
        Event::ReservationPassed { paths, .. } => {
            format!("merged although others have reserved {}", paths.join(", "))
        }
        Event::ReservationGranted { task: None, by, files, shared, .. } => {
            let files: Vec<&str> = files.iter().chain(shared).map(String::as_str).collect();
            format!("{} reserved by {}", files.join(", "), by.as_deref().unwrap_or("somebody"))
        }
        Event::ReservationGranted { task: Some(_), number, beside, .. } if !beside.is_empty() => {
            let others: Vec<String> = beside.iter().map(u64::to_string).collect();
            format!(
                "works on files that others have reserved too (reservation {number} beside {})",
                others.join(", ")
            )
        }
        Event::ReservationReleased { task: None, number, why } => {
            format!("reservation {number} ended: {why}")
        }
        Event::ProposalMade { proposal } => {
            let typed = proposal.command.typed();
            let what = typed.as_deref().unwrap_or(proposal.command.kind());
            format!("{} proposes `{what}`; `swarm attention --accept {}`", proposal.by, proposal.number)
        }
        Event::ProposalEnded { number, end } => format!("proposal {number} is {}", end.words()),
        Event::BudgetExtended { task: Some(_) } => "budget extended".into(),
        Event::BudgetExtended { task: None } => "budget of the swarm extended".into(),
        _ => return None,
    })
}

/// `paused: lunch; `swarm resume` goes on`: that, why, and what ends it.
pub fn paused(reason: PauseReason, why: &str) -> String {
    // What a command said follows the sentence in lines of its own; here its gist is enough.
    let why = match why.split_once('\n') {
        Some((sentence, output)) => format!(": {sentence} {}", gist(output)),
        None if why.is_empty() => String::new(),
        None => format!(": {why}"),
    };
    let command = reason.ended_by();
    let on = match reason {
        PauseReason::Disk => "goes on when the disk allows it".into(),
        PauseReason::Close => "goes on by itself if the plan is not closed".into(),
        PauseReason::Trunk => format!("goes on when trunk moves, or with `{command}`"),
        _ => format!("`{command}` goes on"),
    };
    format!("paused{why}; {on}")
}

/// When it comes back and when it is asked, for the person who looks.
fn gate(
    cause: GateCause,
    group: &str,
    resets_at: Option<Timestamp>,
    next_probe: Timestamp,
    clock: Clock<'_>,
) -> String {
    let resets = resets_at.map(|at| format!("resets at {}, ", clock(at))).unwrap_or_default();
    format!("{}; {resets}next probe {}; `swarm quota open {group}`", cause.says(group), clock(next_probe))
}

/// The reason is said once: an agent that asks is blocked with the same words.
fn failed(agent: &AgentId, how: &Ended, next: &Next, clock: Clock<'_>) -> String {
    let said = how.describe();
    let link = if matches!(how, Ended::Failed { .. }) { ":" } else { "" };
    let then = match next {
        Next::Blocked { why, .. } if said.contains(why.as_str()) => "waits for you".into(),
        next => after(next, clock),
    };
    format!("{agent}{link} {said}; {then}")
}

fn list(ids: &[TaskId]) -> String {
    ids.iter().map(TaskId::as_str).collect::<Vec<_>>().join(", ")
}

fn after(next: &Next, clock: Clock<'_>) -> String {
    match next {
        Next::Pending { not_before, .. } => format!("retry at {}", clock(*not_before)),
        Next::Restart { not_before, .. } => format!("restarts at {}", clock(*not_before)),
        Next::Approved { not_before } => format!("retry at {}", clock(*not_before)),
        Next::Review { not_before } => format!("review again at {}", clock(*not_before)),
        Next::Blocked { why, .. } => format!("waits for you: {why}"),
        Next::Failed { .. } | Next::Timeout { .. } => "waits for you".into(),
        Next::Deferred => "deferred".into(),
        Next::Cancelled => "cancelled".into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pause_is_one_line_with_its_reason_and_the_command_that_goes_on() {
        let check = |reason, why, line| assert_eq!(paused(reason, why), line);
        check(PauseReason::User, "", "paused; `swarm resume` goes on");
        check(PauseReason::User, "lunch", "paused: lunch; `swarm resume` goes on");
        // It may be full, or take nothing at all.
        check(
            PauseReason::Disk,
            "the file system where the worktrees lie is read-only",
            "paused: the file system where the worktrees lie is read-only; goes on when the disk allows it",
        );
        check(
            PauseReason::Checks,
            "the checks fail at abc, before any work is done:\n$ make\nerror: no rule\n[exit code 2]",
            "paused: the checks fail at abc, before any work is done: error: no rule (exit code 2); \
             `swarm resume --reason checks` goes on",
        );
    }

    #[test]
    fn a_moment_of_another_day_has_its_date_where_the_day_is_known() {
        let at = |text: &str| Timestamp::parse(text).expect("a time");
        let event = Event::QuotaExhausted {
            task: "1.1".parse().expect("an id"),
            group: "codex".into(),
            run: crate::ids::RunId::nth(1),
            why: String::new(),
            resets_at: Some(at("2026-11-19T19:50:00.000Z")),
            next_probe: at("2026-11-17T23:50:00.000Z"),
            cause: None,
        };
        let said = |resets: &str, probe: &str| {
            Some(format!(
                "the quota of codex is used up; resets at {resets}, next probe {probe}; `swarm quota open codex`"
            ))
        };
        let now = at("2026-11-17T10:00:00.000Z");
        assert_eq!(line_at(&event, now), said("2026-11-19 19:50:00 UTC", "23:50:00 UTC"));
        assert_eq!(
            line_at(&event, at("2026-11-19T00:00:00.000Z")),
            said("19:50:00 UTC", "2026-11-17 23:50:00 UTC")
        );
        assert_eq!(line(&event), said("19:50:00 UTC", "23:50:00 UTC"));
        let next = Next::Pending { not_before: at("2026-11-18T00:00:01.000Z"), counts: false };
        assert_eq!(after(&next, &|at: Timestamp| at.clock(now)), "retry at 2026-11-18 00:00:01 UTC");
        // Whoever knows the zone of the reader writes the moments.
        let by_the_wall = line_by(&event, &|_: Timestamp| "teatime".to_owned());
        assert_eq!(by_the_wall, said("teatime", "teatime"));
    }
}
