//! The person's repository: what is unusual about it, and what is in the way.

use super::finding::Found;
use super::patient::Patient;
use swarm_git::trunk::way_back;
use swarm_git::{GitError, Identity};

pub(super) async fn inspect(patient: &Patient) -> Vec<Found> {
    let git = &patient.git;
    let (a, b, c) = git.version;
    vec![
        Found::ok("git", format!("{a}.{b}.{c}")),
        repository(patient).await,
        identity(patient),
        history(patient),
        submodules(patient),
        branch_in_the_way(patient).await,
        trunk(patient).await,
    ]
}

/// Whoever commits by hand needs the index; the swarm has others of its own.
async fn repository(patient: &Patient) -> Found {
    let git = &patient.git;
    // A path that nobody has: the index is read to its end, and nothing is listed.
    match git.call(["ls-files", "--", ":(top,literal).swarm/no-such-file"]).ok().await {
        Err(error @ GitError::Failed { .. }) if !error.is_no_answer() => Found::problem(
            "repository",
            format!("the index of your checkout cannot be read: {error}"),
        )
        .by_hand(
            "move .git/index away, then `git reset`: files stay, what was only staged has to be staged again",
        ),
        _ => Found::ok("repository", format!("{}", git.main_checkout.display())),
    }
}

fn identity(patient: &Patient) -> Found {
    let identity = &patient.git.identity;
    if *identity == Identity::of_the_swarm() {
        return Found::note(
            "identity",
            format!("git has no user name: the swarm commits as {} <{}>", identity.name, identity.email),
        )
        .by_hand("git config user.name NAME && git config user.email ADDRESS");
    }
    Found::ok("identity", format!("{} <{}>", identity.name, identity.email))
}

fn history(patient: &Patient) -> Found {
    if patient.git.common_dir.join("shallow").exists() {
        return Found::note(
            "history",
            "this is a shallow clone: git cannot always tell where a branch started",
        )
        .by_hand("git fetch --unshallow");
    }
    Found::ok("history", "complete")
}

fn submodules(patient: &Patient) -> Found {
    if patient.paths.root.join(".gitmodules").exists() {
        return Found::note("submodules", "worktrees do not contain submodules")
            .by_hand("set `worktree.setup` to `git submodule update --init`");
    }
    Found::ok("submodules", "none")
}

async fn branch_in_the_way(patient: &Patient) -> Found {
    match patient.git.ref_value("refs/heads/swarm").await {
        Ok(None) => Found::ok("branch-in-the-way", "no branch is named swarm"),
        Ok(Some(_)) => {
            Found::problem("branch-in-the-way", "a branch named swarm prevents branches named swarm/TASK")
                .by_hand("git branch -m swarm swarm-old")
        }
        Err(error) => Found::problem("branch-in-the-way", format!("the refs cannot be read: {error}"))
            .by_hand("git fsck"),
    }
}

/// The branch that the plan is merged into has to be there; what is checked out is the person's own business.
async fn trunk(patient: &Patient) -> Found {
    let Some(trunk) = patient.state.pinned_trunk() else {
        return Found::ok("trunk", "the plan has not been run yet");
    };
    match patient.git.ref_value(&format!("refs/heads/{trunk}")).await {
        Ok(Some(tip)) => match patient.git.read_whole(&[&tip]).await {
            Ok(()) => Found::ok("trunk", trunk.to_owned()),
            Err(error) => {
                let what =
                    format!("the newest commit of {trunk}, {}, cannot be read whole: {error}", tip.short());
                Found::problem("trunk", what).by_hand(
                    "bring the object back from a clone or a backup; `git fsck` names all that are damaged",
                )
            }
        },
        Ok(None) => {
            let seen = patient.state.last_seen_on_trunk();
            Found::problem("trunk", format!("the branch {trunk}, which the plan is merged into, is gone"))
                .by_hand(way_back(trunk, seen.as_ref()))
        }
        Err(error) => {
            Found::problem("trunk", format!("the refs cannot be read: {error}")).by_hand("git fsck")
        }
    }
}
