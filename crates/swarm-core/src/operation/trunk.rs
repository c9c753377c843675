//! How trunk moves, back or forward again: by setting it where nobody else's work and nobody's clone
//! would notice, else by reverting what is ours and bringing back what is wanted.

use std::collections::BTreeSet;

use swarm_protocol::ids::Oid;
use swarm_protocol::operation::{Force, Says, Survey, TrunkCommit, TrunkHow, TrunkMove};
use swarm_protocol::refusal::Refusal;

use crate::planted::{self, Bug};
use crate::stage::Stage;
use crate::state::State;

/// Commits on trunk that the swarm published.
pub fn ours(state: &State) -> BTreeSet<&Oid> {
    let proven = state.tasks.values().filter_map(|task| task.stage.proof());
    // The commit that a proof names is somebody else's where the task brought none.
    proven.flat_map(|proof| proof.own()).chain(&state.ops.made).collect()
}

/// Commits of tasks whose work has gone from trunk since it was merged.
pub fn gone(state: &State) -> BTreeSet<Oid> {
    let lost = state.tasks.values().filter_map(|task| match &task.stage {
        Stage::Gone { proof, work: Some(work), .. } => Some((proof, work)),
        _ => None,
    });
    lost.flat_map(|(proof, work)| proof.own().iter().filter(|oid| !work.stands.contains(oid)))
        .cloned()
        .collect()
}

/// The move that brings trunk to `to`, or as near as the work of others allows. `rewritten`: commits to take back that
/// somebody has amended or rebased, newest first.
pub fn towards(
    state: &State,
    survey: &Survey,
    (to, rewritten): (&Oid, &[Oid]),
    force: Force,
    says: &mut Says,
    command: &str,
) -> Result<Option<TrunkMove>, Refusal> {
    let Some(old) = Some(there(survey)?).filter(|now| now != to) else { return Ok(None) };
    may_move(survey, to)?;
    let ours = ours(state);
    let is_ours = |c: &&TrunkCommit| ours.contains(&c.oid) || planted::is(Bug::ForeignDropped);
    let foreign: Vec<&TrunkCommit> = survey.since.iter().filter(|c| !is_ours(c)).collect();
    let pushed = survey.since.iter().any(|c| c.pushed);
    let sets = force.drop_foreign || (foreign.is_empty() && !pushed);
    if sets {
        say_set(survey, &foreign, says);
        may_follow(survey, force, command)?;
        let how = TrunkHow::Set { new: to.clone() };
        return Ok(Some(TrunkMove { branch: survey.trunk.clone(), old, how }));
    }
    let goes = |c: &&TrunkCommit| is_ours(c) && !survey.stay.contains(&c.oid);
    let mut revert: Vec<Oid> = survey.since.iter().filter(goes).map(|c| c.oid.clone()).collect();
    revert.extend(rewritten.iter().filter(|oid| !survey.since.iter().any(|c| c.oid == **oid)).cloned());
    let pick: Vec<Oid> = survey.ahead.iter().map(|c| c.oid.clone()).collect();
    rebuild(state, survey, (revert, pick), force, says, command)
}

/// Where trunk is. Nothing is taken back from a branch that is gone: the plan would change and git would not.
pub fn there(survey: &Survey) -> Result<Oid, Refusal> {
    survey.now.clone().ok_or_else(|| {
        let why = format!("the branch {} is gone", survey.trunk);
        Refusal::CannotMove { why, hint: "swarm status".into() }
    })
}

/// Whether trunk could come there at all.
pub fn may_move(survey: &Survey, to: &Oid) -> Result<(), Refusal> {
    if survey.missing.contains(to) {
        return Err(super::plan::thrown_away(&[to]));
    }
    if survey.unrelated {
        let why = format!("{} has no commit in common with {} any more", survey.trunk, to.short());
        return Err(Refusal::CannotMove { why, hint: format!("git log {}", to.short()) });
    }
    Ok(())
}

/// Only these merges out of trunk again, whatever else has come to it since: set back where nothing has.
pub fn without(
    state: &State,
    survey: &Survey,
    to: &Oid,
    (merges, rewritten): (&BTreeSet<Oid>, &[Oid]),
    force: Force,
    says: &mut Says,
    command: &str,
) -> Result<Option<TrunkMove>, Refusal> {
    let Some(old) = Some(there(survey)?).filter(|now| now != to) else { return Ok(None) };
    may_move(survey, to)?;
    let others: Vec<&TrunkCommit> = survey.since.iter().filter(|c| !merges.contains(&c.oid)).collect();
    let pushed = survey.since.iter().any(|c| c.pushed);
    let sets = others.is_empty() && rewritten.is_empty() && survey.ahead.is_empty() && !pushed;
    if force.drop_foreign || sets {
        let ours = ours(state);
        let foreign: Vec<&TrunkCommit> =
            others.into_iter().filter(|commit| !ours.contains(&commit.oid)).collect();
        say_set(survey, &foreign, says);
        may_follow(survey, force, command)?;
        let how = TrunkHow::Set { new: to.clone() };
        return Ok(Some(TrunkMove { branch: survey.trunk.clone(), old, how }));
    }
    let taken = survey.since.iter().map(|c| c.oid.clone()).filter(|oid| merges.contains(oid));
    let revert = taken.chain(rewritten.iter().cloned()).collect();
    rebuild(state, survey, (revert, vec![]), force, says, command)
}

/// The move that takes back what an operation did to trunk. Work that came on top of it since stays, and `kept_out` does
/// not come back: its tasks have other work by now.
pub fn unmoved(
    state: &State,
    survey: &Survey,
    (before, after): (&Oid, &Oid),
    kept_out: &BTreeSet<Oid>,
    force: Force,
    says: &mut Says,
    command: &str,
) -> Result<Option<TrunkMove>, Refusal> {
    // Newest first: whatever stands before the operation's own result is later than it.
    let own = survey.since.iter().position(|c| c.oid == *after).unwrap_or(survey.since.len());
    let nothing_since = survey.now.as_ref() == Some(after) || own == 0;
    if survey.unrelated || nothing_since && kept_out.is_empty() {
        return towards(state, survey, (before, &[]), force, says, command);
    }
    let ours = ours(state);
    let brings = |c: &&TrunkCommit| !c.reverts.iter().any(|oid| kept_out.contains(oid));
    let made = survey.since[own..].iter().filter(|c| ours.contains(&c.oid)).filter(brings);
    let revert = made.map(|c| c.oid.clone()).collect();
    let pick = survey.ahead.iter().map(|c| c.oid.clone()).filter(|oid| !kept_out.contains(oid)).collect();
    rebuild(state, survey, (revert, pick), force, says, command)
}

/// What builds on other work is taken out before it, also where somebody has rewritten either.
fn newest_first(survey: &Survey, revert: &mut [Oid]) {
    let place = |oid: &Oid| survey.order.iter().position(|other| other == oid).unwrap_or(usize::MAX);
    revert.sort_by_cached_key(place);
}

/// Reverts and picks on top of what is there. What somebody has taken back already is not taken back again.
pub fn rebuild(
    state: &State,
    survey: &Survey,
    (asked, pick): (Vec<Oid>, Vec<Oid>),
    force: Force,
    says: &mut Says,
    command: &str,
) -> Result<Option<TrunkMove>, Refusal> {
    let mut revert = survey.still_in_effect(&asked, &gone(state));
    newest_first(survey, &mut revert);
    let is_out =
        |c: &&TrunkCommit| asked.contains(&c.oid) && !revert.contains(&c.oid) && c.reverts.is_empty();
    let out: BTreeSet<&Oid> = survey.since.iter().filter(is_out).map(|c| &c.oid).collect();
    let of_out = survey.since.iter().filter(|c| out.contains(&c.oid));
    says.commits.extend(of_out.map(|c| format!("taken back before: {}", said(c))));
    if revert.is_empty() && pick.is_empty() {
        return Ok(None);
    }
    let (old, ours) = (there(survey)?, ours(state));
    let known = survey.since.iter().chain(&survey.ahead);
    for commit in known.filter(|commit| !out.contains(&commit.oid)) {
        let line = said(commit);
        if revert.contains(&commit.oid) {
            says.commits.push(format!("reverted: {line}"));
        } else if pick.contains(&commit.oid) {
            says.commits.push(format!("brought back: {line}"));
        } else if survey.since.contains(commit) && ours.contains(&commit.oid) {
            // A revert that an undo made, or what it reverted: nobody else's.
            says.commits.push(format!("stays: {line}"));
        } else if survey.since.contains(commit) {
            says.foreign.push(format!("stays: {line}"));
        }
    }
    let known: BTreeSet<&Oid> = survey.since.iter().chain(&survey.ahead).map(|c| &c.oid).collect();
    for oid in revert.iter().filter(|oid| !known.contains(oid)) {
        says.commits.push(format!("reverted: {}, which was rewritten since", oid.short()));
    }
    may_follow(survey, force, command)?;
    let how = TrunkHow::Rebuild { revert, pick };
    Ok(Some(TrunkMove { branch: survey.trunk.clone(), old, how }))
}

/// The ref and where it goes. What is built anew has no name before it is there.
pub fn moves(moved: &TrunkMove) -> String {
    let TrunkMove { branch, old, how } = moved;
    match how {
        TrunkHow::Set { new } => format!("{branch} moves from {} to {}", old.short(), new.short()),
        TrunkHow::Rebuild { revert, pick } => {
            let counted = |n: usize, one: &str, many: &str| match n {
                0 => None,
                1 => Some(format!("1 {one}")),
                n => Some(format!("{n} {many}")),
            };
            let made = [
                counted(revert.len(), "revert", "reverts"),
                counted(pick.len(), "commit brought back", "commits brought back"),
            ];
            let made: Vec<String> = made.into_iter().flatten().collect();
            format!("{branch} moves on from {} by {}", old.short(), made.join(" and "))
        }
    }
}

fn say_set(survey: &Survey, foreign: &[&TrunkCommit], says: &mut Says) {
    for commit in &survey.since {
        if foreign.contains(&commit) {
            says.foreign.push(format!(
                "goes from {}, kept in the checkpoint: {}",
                survey.trunk,
                said(commit)
            ));
        } else {
            says.commits.push(format!("goes from {}: {}", survey.trunk, said(commit)));
        }
    }
    says.commits.extend(survey.ahead.iter().map(|c| format!("comes back: {}", said(c))));
}

fn said(commit: &TrunkCommit) -> String {
    format!("{} {}", commit.oid.short(), commit.subject)
}

/// The person's checkout must be able to come along.
fn may_follow(survey: &Survey, force: Force, command: &str) -> Result<(), Refusal> {
    if let Some((busy, hint)) = &survey.busy {
        let why = format!("Cannot update your checkout of {}: {busy}", survey.trunk);
        return Err(Refusal::CannotMove { why, hint: hint.clone() });
    }
    if survey.local.is_empty() || force.save_local {
        return Ok(());
    }
    let shown: Vec<&str> = survey.local.iter().take(3).map(String::as_str).collect();
    let more = survey.local.len().saturating_sub(shown.len());
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    let why = format!("Your local changes would be in the way: {}{more}", shown.join(", "));
    Err(Refusal::CannotMove { why, hint: format!("{command} --save-local") })
}
