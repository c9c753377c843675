//! Input → events, or a refusal. One match on what came in; each arc of a task's life is a file below.

mod approval;
mod command;
mod work;
mod failure;
mod aftermath;
mod reserve;
mod reserve_more;
mod restart;
mod retry;
mod quota;
mod overflow;
mod nudge;
mod denied;
mod budget;
mod checks;
mod message;
mod disk;
mod split;
mod review;
mod council;
mod merge;
mod empty;
mod worktree;
mod conflict;
mod proof;
mod operate;
mod steps;
mod resolve;
mod intervene;
mod trunk;
mod base;
mod same;
mod plan;
mod save;
mod profile;
mod propose;
mod edit;
mod hook;
mod task;
mod put_off;
mod start;
mod submit;
mod seen;
mod validate;

pub(crate) use base::trial as base_trial;
pub(crate) use budget::{instead_of_start, pauses as budget_pauses};
pub(crate) use message::undelivered;
pub use operate::requested;
pub(crate) use operate::undo_refused;
pub use plan::checkpoint_of_close;
pub(crate) use propose::too_old as proposal_too_old;
pub(crate) use put_off::{hears_first, put_off};
pub(crate) use quota::due as quota_due;
pub(crate) use retry::retry;
pub(crate) use review::{after_changes, approved};
pub(crate) use split::{done_at_once, parts_are_done, stuck_part};
pub(crate) use task::{answer_to, asks, commands, leave, review_commands};
pub(crate) use work::out_of_time;

use swarm_protocol::event::Event;
use swarm_protocol::ids::{Oid, RunId};
use swarm_protocol::refusal::Refusal;
use swarm_protocol::time::Timestamp;

use crate::input::{Input, Report};
use crate::planted::{self, Bug};
use crate::state::State;

/// What an agent that asks for files is told; the same question as a report makes it so.
pub fn more_files(
    state: &State,
    run: &RunId,
    files: &[String],
    shared: bool,
    now: Timestamp,
) -> Result<String, Refusal> {
    reserve_more::more(state, run, files, shared, now).map(|granted| granted.answer)
}

/// What an input leads to. Nothing is changed here.
pub fn react(state: &State, input: Input, now: Timestamp) -> Result<Vec<Event>, Refusal> {
    match input {
        Input::Command(envelope) => command::react(state, envelope, now),
        Input::Report(report) => Ok(on_report(state, report, now)),
        Input::Tick => Ok(vec![]),
        Input::Started { epoch, version, host, trunk, policy } => {
            if epoch <= state.epoch {
                let why = format!("epoch {epoch} is over, the swarm is at epoch {}", state.epoch);
                return Err(Refusal::ReadOnly { why });
            }
            // Trunk belongs to the plan: what is checked out counts only until it first runs.
            let follows = planted::is(Bug::TrunkFollowsCheckout);
            let trunk = state.pinned_trunk().filter(|_| !follows).map_or(trunk, String::from);
            // Nobody has watched the checkouts meanwhile: what waited for one is tried at once.
            let tried = state.index.approved().flat_map(|id| merge::checkout_changed(state, id.clone()));
            let tried: Vec<Event> = tried.filter(|_| policy.dispatch).collect();
            let started =
                Event::CoordinatorStarted { epoch, version, host, trunk, policy, explicit: Some(true) };
            let interrupted = resolve::interrupted(state, now);
            Ok(std::iter::once(started).chain(tried).chain(interrupted).collect())
        }
        Input::Leaving => Ok(vec![Event::CoordinatorStopped { epoch: state.epoch }]),
        Input::Found(event) => Ok(vec![event]),
    }
}

fn trunk_changed(state: &State, commit: &Oid, at: &Oid) -> Vec<Event> {
    let moved = proof::trunk_moved(state, commit, at);
    trunk::changed(state, commit, at).into_iter().chain(moved).collect()
}

fn on_report(state: &State, report: Report, now: Timestamp) -> Vec<Event> {
    match report {
        Report::Prepared { run, branch, base, tip } => work::prepared(state, &run, branch, base, tip),
        Report::PrepareFailed { run, why, setup } => work::not_prepared(state, &run, why, setup, now),
        Report::Spawned { run, host } => work::spawned(state, &run, host),
        Report::Boundary { run, iteration, outcome, tip, note, usage, session, known } => {
            let boundary = work::Boundary { iteration, outcome, tip, note, usage, session, known };
            work::boundary(state, &run, boundary, now)
        }
        Report::Checked { run, iteration, passed, tip, tree, output, gate } => {
            checks::checked(state, &run, checks::Checked { iteration, passed, tip, tree, output, gate }, now)
        }
        Report::WorkEnded { run, how } => work::ended(state, &run, how, now),
        Report::Stopped { run, wip, session } => work::stopped(state, &run, wip, session),
        Report::Built { task, base, result, commits, squashed, resolved, protected, changed, found } => {
            let merged =
                merge::Merged { base, result, commits, squashed, resolved, protected, changed, found };
            merge::built(state, task, merged)
        }
        Report::BuildJoined { task, base, tip, tree, resolved } => {
            conflict::joined(state, task, conflict::Joined { base, tip, tree, resolved })
        }
        Report::BranchChanged { task, tip, tree, base } => {
            approval::changed(state, task, approval::Branch { tip, tree, base }, now)
        }
        Report::BuildConflict { task, paths, why } => conflict::left(state, task, paths, why, now),
        Report::BuildEmpty { task, trunk, commit, found } => {
            empty::nothing_to_merge(state, task, empty::Empty { trunk, commit, found }, now)
        }
        Report::Verified { run, task, passed, output } => {
            merge::verified(state, &run, task, passed, output, now)
        }
        Report::VerifyLost { run, task, why } => merge::verification_lost(state, &run, task, why, now),
        Report::Reviewed { run, task, passed, output } => {
            review::reviewed(state, &run, task, passed, output, now)
        }
        Report::ReviewAnswered { run, task, answered } => review::answered(state, &run, task, answered, now),
        Report::ReviewLost { run, task, why } => review::lost(state, &run, task, why, now),
        Report::Published { task, proof } => merge::published(state, task, proof),
        Report::PublishWaits { task, why, paths, hint } => {
            merge::waits(state, task, merge::Waits { why, paths, hint }, now)
        }
        Report::TrunkMoved { task, now: trunk_now } => merge::race_lost(state, task, trunk_now, now),
        Report::Released { task } => merge::released(state, task),
        Report::CheckoutChanged { task } => merge::checkout_changed(state, task),
        Report::TrunkChanged { commit, now: at } => trunk_changed(state, &commit, &at),
        Report::Proven { commit, missing, standing } => proof::proven(state, commit, &missing, &standing),
        Report::WorktreeRemoved { task, left } => worktree::removed(state, task, left),
        Report::Revived { task, base } => worktree::revived(state, task, base),
        Report::NotRevived { task, why, hint } => worktree::not_revived(state, task, why, hint),
        Report::WorktreeKept { task, why } => worktree::kept(state, task, why),
        Report::EffectFailed { key, task, why } => merge::effect_failed(state, &key, task, why, now),
        Report::Overstep { task, run, what } => work::overstep(state, task, run, what, None),
        Report::Righted { task, what } => work::overstep(state, task, None, what, Some(true)),
        Report::Noted { run, text } => nudge::noted(state, &run, text),
        Report::NeedsFiles { run, files, shared } => reserve_more::more(state, &run, &files, shared, now)
            .map_or_else(|_| vec![], |granted| granted.events),
        Report::Learned { run, signal, text } => nudge::learned(state, &run, signal, &text),
        Report::Probed { run, failure } => quota::probed(state, &run, failure, now),
        Report::Disk { low, why } => disk::disk(state, low, why),
        Report::Cancelled { .. } => vec![],
        Report::Surveyed { op, survey } => steps::surveyed(state, &op, &survey, now),
        Report::Saved { name, saved } => steps::saved(state, name, saved, now),
        Report::NotSaved { name, why } => steps::not_saved(state, name, why),
        Report::Moved { op, moved } => steps::moved(state, &op, moved),
        Report::MoveConflict { op, paths, why, asks } => {
            resolve::conflict(state, &op, resolve::Conflict { paths, why, asks })
        }
        Report::Resolved { op, why, failure, usage, stopped } => {
            resolve::answered(state, &op, resolve::Answered { why, failure, usage, stopped }, now)
        }
        Report::MoveRefused { op, why, hint } => steps::refused(state, &op, why, hint),
        Report::Forgotten { name } => steps::forgotten(state, name),
        Report::Rewound { task, saved } => steps::rewound(state, task, saved),
        Report::HookEnded { n, outcome, output } => hook::ended(state, n, outcome, output),
        Report::Broke { key, why } => steps::broke(state, &key, why, now),
    }
}
