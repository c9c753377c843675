//! What git says before an operation: trunk then and now, whose commits lie between, what the checkouts hold.
//! Reads only (it may write objects that nobody refers to), so a preview takes the very same look.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use swarm_protocol::event::Proof;
use swarm_protocol::ids::{Oid, TaskId};
use swarm_protocol::operation::{OtherBranch, Survey, SurveyAsk, TrunkCommit};

use super::uncommitted::uncommitted_commit;
use crate::prove;
use crate::publish::{Intent, Waits, in_the_way};
use crate::worktree::{checkouts_of_people, marker_of, records_at};
use swarm_git::revert::{Carried, Carry, pick, revert};
use swarm_git::{Git, GitError, patches};
use swarm_process::Input;

/// Local paths named at most; a person with more looks at `git status`.
const LOCAL_MAX: usize = 10_000;

/// The part of the survey that git knows; what the ledger says of tasks is added by whoever has it.
/// `dir` is the folder of all worktrees.
pub async fn survey(git: &Git, trunk: &str, dir: &Path, ask: &SurveyAsk) -> Result<Survey, GitError> {
    let branch = format!("refs/heads/{trunk}");
    let now = git.ref_value(&branch).await?;
    let mut found = Survey { trunk: trunk.to_owned(), now: now.clone(), ..Survey::default() };
    let showing: Vec<_> = checkouts_of_people(git).into_iter().filter(|c| c.occupies(&branch)).collect();
    found.checked_out = !showing.is_empty();
    found.busy = showing.iter().find_map(Waits::of).map(|waits| said(&waits));
    if let Some(now) = &now {
        match (&ask.trunk, ask.revert.last()) {
            (Some(then), _) => compare(git, &mut found, (then, now), &ask.revert).await?,
            (None, Some(_)) => found.since = since(git, &ask.revert, now).await?,
            (None, None) => {}
        }
        look_into_reverts(git, &mut found.since, &ask.revert).await?;
        look_for_rewritten(git, &mut found, ask, now).await?;
        look_at_checkouts(git, &mut found, ask, now).await?;
    }
    look_at_tasks(git, &mut found, ask, dir).await?;
    if !ask.needs.is_empty() {
        found.missing = git.missing_commits(&ask.needs).await?;
    }
    if let Some(name) = &ask.other {
        found.other = Some(another(git, name, ask).await?);
        return Ok(found);
    }
    for (task, commits) in &ask.landed {
        let proof = Proof::new(trunk, commits[0].clone(), commits.clone());
        if let Some(landed) = prove::landed(git, task, &proof).await? {
            found.landed.insert(task.clone(), landed);
        }
    }
    Ok(found)
}

/// A branch that is to become trunk, and which merged work it has.
async fn another(git: &Git, name: &str, ask: &SurveyAsk) -> Result<OtherBranch, GitError> {
    let tip = git.ref_value(&format!("refs/heads/{name}")).await?;
    let mut found = OtherBranch { tip: tip.clone(), ..OtherBranch::default() };
    let Some(tip) = tip.or_else(|| ask.other_from.clone()) else { return Ok(found) };
    let all: Vec<Oid> = ask.landed.values().flatten().cloned().collect();
    let there = prove::there(git, name, &tip, &all).await?;
    let has = |commits: &[Oid]| commits.iter().all(|oid| there.contains_key(oid));
    found.has = ask.landed.iter().filter(|(_, commits)| has(commits)).map(|(id, _)| id.clone()).collect();
    Ok(found)
}

async fn compare(
    git: &Git,
    found: &mut Survey,
    (then, now): (&Oid, &Oid),
    ours: &[Oid],
) -> Result<(), GitError> {
    if git.resolve(then.as_str()).await?.is_none() || git.merge_base(then, now).await?.is_none() {
        found.unrelated = true;
        return Ok(());
    }
    found.since = with_ours(git, then, now, ours).await?;
    found.ahead = between(git, now, then, true).await?;
    if !found.ahead.is_empty() {
        // What somebody rebased is there under another name, and needs not come back.
        let ahead: Vec<Oid> = found.ahead.iter().map(|commit| commit.oid.clone()).collect();
        let there = prove::there(git, &found.trunk, now, &ahead).await?;
        found.ahead.retain(|commit| !there.contains_key(&commit.oid));
    }
    Ok(())
}

/// Where a revert and what it names are both to go, they cancel out only if it is nothing else. One that does more, or less, is
/// a commit like any other: both are reverted, and nothing of it stays.
async fn look_into_reverts(git: &Git, since: &mut [TrunkCommit], wanted: &[Oid]) -> Result<(), GitError> {
    for commit in since.iter_mut().filter(|commit| wanted.contains(&commit.oid)) {
        let cancels = commit.reverts.iter().any(|oid| wanted.contains(oid));
        if cancels && !takes_back_only(git, commit).await? {
            commit.reverts.clear();
        }
    }
    Ok(())
}

/// Whether a commit left trunk as a revert of what it names leaves it.
async fn takes_back_only(git: &Git, commit: &TrunkCommit) -> Result<bool, GitError> {
    let parents = git.commit_parts(&commit.oid).await?.parents;
    let Some(before) = parents.into_iter().next() else { return Ok(false) };
    if !git.missing_commits(&commit.reverts).await?.is_empty() {
        return Ok(true);
    }
    let tree = git.tree_of(&commit.oid).await?;
    let asked = Carry { onto: before.clone(), commits: commit.reverts.clone(), at_secs: 0, because: None };
    Ok(match revert(git, &asked).await? {
        Carried::Built { result, .. } => git.tree_of(&result).await? == tree,
        Carried::Nothing => git.tree_of(&before).await? == tree,
        Carried::Conflict { .. } => false,
    })
}

/// Commits of tasks that trunk has under another name, by task; and reverts of ours of such commits.
async fn look_for_rewritten(
    git: &Git,
    found: &mut Survey,
    ask: &SurveyAsk,
    now: &Oid,
) -> Result<(), GitError> {
    let all: Vec<Oid> = ask.rewritten.values().flatten().cloned().collect();
    let (there, order) = prove::rewritten(git, now, &all).await?;
    let of = |commits: &Vec<Oid>| commits.iter().rev().filter(|oid| there.contains(oid)).cloned().collect();
    let tasks = ask.rewritten.iter().map(|(task, commits)| (task.clone(), of(commits)));
    found.rewritten = tasks.filter(|(_, commits): &(TaskId, Vec<Oid>)| !commits.is_empty()).collect();
    found.order = order;
    let Some(then) = ask.trunk.as_ref().filter(|_| !found.unrelated) else { return Ok(()) };
    let since: BTreeSet<&Oid> = found.since.iter().map(|commit| &commit.oid).collect();
    let elsewhere = |commit: &&TrunkCommit| {
        let ours = !commit.reverts.is_empty() && ask.revert.contains(&commit.oid);
        ours && !commit.reverts.iter().any(|oid| since.contains(oid))
    };
    let reverts: Vec<&TrunkCommit> = found.since.iter().filter(elsewhere).collect();
    let reverted: Vec<Oid> = reverts.iter().flat_map(|commit| commit.reverts.clone()).collect();
    if reverted.is_empty() {
        return Ok(());
    }
    let missing = git.missing_commits(&reverted).await?;
    let known: Vec<Oid> = reverted.into_iter().filter(|oid| !missing.contains(oid)).collect();
    // What trunk had then comes back; what came since, and stays as somebody's, stays taken back.
    let had = prove::there(git, &found.trunk, then, &known).await?;
    let stays = |commit: &&&TrunkCommit| !commit.reverts.iter().any(|oid| had.contains_key(oid));
    found.stay = reverts.iter().filter(stays).map(|commit| commit.oid.clone()).collect();
    Ok(())
}

/// Those of ours that a rebuild takes out, in its order.
fn taken_out(found: &Survey, gone: &BTreeSet<Oid>, is_ours: impl Fn(&&TrunkCommit) -> bool) -> Vec<Oid> {
    let goes = |commit: &&TrunkCommit| is_ours(commit) && !found.stay.contains(&commit.oid);
    let mut revert: Vec<Oid> = found.since.iter().filter(goes).map(|c| c.oid.clone()).collect();
    revert.extend(found.rewritten.values().flatten().cloned());
    revert = found.still_in_effect(&revert, gone);
    let place = |oid: &Oid| found.order.iter().position(|other| other == oid).unwrap_or(usize::MAX);
    revert.sort_by_cached_key(place);
    revert
}

/// The commits from the oldest of these on, of those that trunk has.
async fn since(git: &Git, commits: &[Oid], now: &Oid) -> Result<Vec<TrunkCommit>, GitError> {
    let missing = git.missing_commits(commits).await?;
    let known: Vec<Oid> = commits.iter().filter(|oid| !missing.contains(oid)).cloned().collect();
    let off = patches::listed(git, &known, &["--not", now.as_str()]).await?;
    let mut before = Vec::new();
    for oid in known.iter().filter(|oid| !off.contains(*oid)) {
        before.extend(git.commit_parts(oid).await?.parents.into_iter().next());
    }
    if before.is_empty() {
        return Ok(Vec::new());
    }
    match git.common_base(before.iter()).await? {
        Some(base) => with_ours(git, &base, now, commits).await,
        None => Ok(Vec::new()),
    }
}

/// Commits of `from..to` along the first parents, newest first, and between them those of ours that trunk has by somebody's
/// merge: where main was merged into another branch and trunk went on to that, the first parent is the other branch.
async fn with_ours(git: &Git, from: &Oid, to: &Oid, ours: &[Oid]) -> Result<Vec<TrunkCommit>, GitError> {
    let line = between(git, from, to, false).await?;
    let on_line: BTreeSet<&Oid> = line.iter().map(|commit| &commit.oid).collect();
    let mut beside: Vec<Oid> = ours.iter().filter(|oid| !on_line.contains(oid)).cloned().collect();
    let missing = git.missing_commits(&beside).await?;
    beside.retain(|oid| !missing.contains(oid));
    let newer = patches::listed(git, &beside, &["--not", from.as_str()]).await?;
    beside.retain(|oid| newer.contains(oid));
    let off = patches::listed(git, &beside, &["--not", to.as_str()]).await?;
    beside.retain(|oid| !off.contains(oid));
    if beside.is_empty() {
        return Ok(line);
    }
    // What a merge of ours brought belongs to that.
    let merges = line.iter().map(|commit| &commit.oid).filter(|oid| ours.contains(oid)).cloned();
    let brought = prove::brought_by_merges(git, &merges.collect::<Vec<_>>()).await?;
    beside.retain(|oid| !brought.contains(oid));
    let unpushed = patches::listed(git, &beside, &["--not", "--remotes"]).await?;
    let call = git.call(["rev-list", "--no-walk=unsorted", "--stdin"]).args(TOLD);
    let names = beside.iter().flat_map(|oid| format!("{oid}\n").into_bytes()).collect();
    let told = call.stdin(Input::Bytes(names)).long_list().ok().await?;
    let beside = parsed(&told, |oid| unpushed.contains(oid))?;
    let mut all: BTreeMap<Oid, TrunkCommit> =
        line.into_iter().chain(beside).map(|commit| (commit.oid.clone(), commit)).collect();
    let to = std::slice::from_ref(to);
    let order = patches::listed_newest_first(git, to, &["--not", from.as_str()]).await?;
    Ok(order.iter().filter_map(|oid| all.remove(oid)).collect())
}

/// Name, subject and text of commits, each ended by a NUL.
const TOLD: [&str; 2] = ["--no-commit-header", "--format=%H%x00%s%x00%b%x00"];

/// Commits of `from..to` along the first parents. What a merge brought belongs to the merge.
async fn between(git: &Git, from: &Oid, to: &Oid, oldest_first: bool) -> Result<Vec<TrunkCommit>, GitError> {
    let range = format!("{from}..{to}");
    let mut args = vec!["rev-list", "--first-parent", &*range];
    let kept_here: BTreeSet<Vec<u8>> = {
        let call = git.call(args.clone()).args(["--not", "--remotes"]);
        call.long_list().ok().await?.split(|b| *b == b'\n').map(<[u8]>::to_vec).collect()
    };
    args.extend(TOLD);
    if oldest_first {
        args.push("--reverse");
    }
    let told = git.call(args).long_list().ok().await?;
    parsed(&told, |oid| kept_here.contains(oid.as_str().as_bytes()))
}

fn parsed(told: &[u8], is_unpushed: impl Fn(&Oid) -> bool) -> Result<Vec<TrunkCommit>, GitError> {
    let fields: Vec<&[u8]> = told.split(|b| *b == 0).collect();
    let mut commits = Vec::new();
    for three in fields.chunks_exact(3) {
        let oid = Oid::new(String::from_utf8_lossy(three[0].trim_ascii()))
            .map_err(|bad| GitError::Unreadable { command: "rev-list".into(), what: bad.to_string() })?;
        let subject = String::from_utf8_lossy(three[1]).into_owned();
        let reverts = patches::reverted(three[2]).into_iter().collect();
        commits.push(TrunkCommit { pushed: !is_unpushed(&oid), oid, subject, reverts });
    }
    Ok(commits)
}

/// Local changes in the way: of the move to a commit, or of reverting and picking, whichever the rules will choose.
async fn look_at_checkouts(
    git: &Git,
    found: &mut Survey,
    ask: &SurveyAsk,
    now: &Oid,
) -> Result<(), GitError> {
    let ours: BTreeSet<&Oid> = ask.revert.iter().collect();
    let is_ours = |commit: &&TrunkCommit| ours.contains(&commit.oid);
    let oids = |commits: &[TrunkCommit]| commits.iter().map(|commit| commit.oid.clone()).collect::<Vec<_>>();
    let target = match &ask.trunk {
        Some(_) if found.unrelated => None,
        Some(then) if ask.drop_foreign || found.since.iter().all(|c| !c.pushed && is_ours(&c)) => {
            Some(then.clone())
        }
        Some(_) => rebuilt(git, &taken_out(found, &ask.gone, is_ours), &oids(&found.ahead), now).await?,
        None => rebuilt(git, &taken_out(found, &ask.gone, is_ours), &ask.pick, now).await?,
    };
    let Some(target) = target.filter(|target| target != now) else { return Ok(()) };
    let intent = Intent { trunk: found.trunk.clone(), old: now.clone(), new: target };
    let mut local = BTreeSet::new();
    for checkout in in_the_way(git, &intent).await? {
        for reason in checkout.reasons {
            if reason.can_be_set_aside() {
                local.extend(reason.paths().iter().take(LOCAL_MAX).map(|path| path.display().to_string()));
            } else {
                found.busy = Some(said(&Waits { checkout: checkout.checkout.clone(), reason }));
            }
        }
    }
    found.local = local.into_iter().collect();
    Ok(())
}

fn said(waits: &Waits) -> (String, String) {
    (waits.reason.sentence(), waits.command())
}

/// What trunk would be with the commits reverted and the others brought back; none where they conflict or are gone.
async fn rebuilt(git: &Git, undone: &[Oid], brought: &[Oid], now: &Oid) -> Result<Option<Oid>, GitError> {
    let all: Vec<Oid> = undone.iter().chain(brought).cloned().collect();
    if !git.missing_commits(&all).await?.is_empty() {
        return Ok(None);
    }
    let carry = |onto: &Oid, commits: &[Oid]| Carry {
        onto: onto.clone(),
        commits: commits.to_vec(),
        at_secs: 0,
        because: None,
    };
    let reverted = match revert(git, &carry(now, undone)).await? {
        Carried::Built { result, .. } => result,
        Carried::Nothing => now.clone(),
        Carried::Conflict { .. } => return Ok(None),
    };
    Ok(match pick(git, &carry(&reverted, brought)).await? {
        Carried::Built { result, .. } => Some(result),
        Carried::Nothing => Some(reverted),
        Carried::Conflict { .. } => None,
    })
}

async fn look_at_tasks(git: &Git, found: &mut Survey, ask: &SurveyAsk, dir: &Path) -> Result<(), GitError> {
    let dir = std::fs::canonicalize(dir).unwrap_or_else(|_| dir.to_owned());
    let wanted: BTreeSet<&TaskId> = ask.tasks.iter().collect();
    for (name, oid) in git.refs_under("refs/heads/swarm/").await? {
        let Some(task) = name.strip_prefix("refs/heads/swarm/").and_then(|t| TaskId::new(t).ok()) else {
            continue;
        };
        if !wanted.contains(&task) {
            continue;
        }
        let path = dir.join(task.as_str());
        if let Some(marker) = marker_of(git, &task, &path)?
            && path.is_dir()
        {
            let records = records_at(git, &path, Some(&marker));
            let work = uncommitted_commit(git, &task, &path, &records, &oid).await?;
            found.dirty.extend(work.map(|commit| (task.clone(), commit)));
        }
        found.tips.insert(task, oid);
    }
    Ok(())
}
