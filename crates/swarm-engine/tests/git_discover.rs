//! What the swarm cannot work on is refused with words that help.

mod git_scratch;

use git_scratch::{Scratch, git_in};
use swarm_engine::git::{Git, Head, RefChange, RefOutcome};

async fn refusal(dir: &std::path::Path) -> String {
    Git::discover(dir).await.expect_err("it must be refused").to_string()
}

#[tokio::test]
async fn unfit_repositories_are_refused_with_the_way_out() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path();
    assert!(refusal(path).await.contains("git init"));
    assert!(refusal(&path.join("nowhere")).await.contains("no such folder"));
    git_in(path, ["init", "--quiet", "--bare", "bare.git"]);
    assert!(refusal(&path.join("bare.git")).await.contains("bare"));
    git_in(path, ["init", "--quiet", "empty"]);
    assert!(refusal(&path.join("empty")).await.contains("no commit yet"));
    git_in(path, ["init", "--quiet", "--ref-format=reftable", "tables"]);
    git_in(
        &path.join("tables"),
        ["-c", "user.name=x", "-c", "user.email=x@y", "commit", "--quiet", "--allow-empty", "-m", "x"],
    );
    assert!(refusal(&path.join("tables")).await.contains("git refs migrate"));
}

#[tokio::test]
async fn from_inside_a_worktree_the_main_checkout_is_found() {
    let scratch = Scratch::new();
    scratch.git(["worktree", "add", "--quiet", "--detach", "../linked"]);
    let linked = scratch.repo.parent().unwrap().join("linked");
    for place in [scratch.at("dir"), linked.join("dir"), scratch.repo.clone()] {
        let git = Git::discover(&place).await.unwrap();
        assert_eq!(
            (git.main_checkout.clone(), git.common_dir.clone()),
            (scratch.repo.clone(), scratch.at(".git"))
        );
        assert_eq!(git.current_branch().await.unwrap().as_deref(), Some("main"));
        let heads: Vec<Head> = git.checkouts().into_iter().map(|checkout| checkout.head).collect();
        assert_eq!(heads, [Head::Branch("refs/heads/main".into()), Head::Detached(scratch.oid("main"))]);
    }
}

#[tokio::test]
async fn refs_change_together_or_not_at_all_and_a_dead_gits_lock_is_cleared() {
    let scratch = Scratch::new();
    let git = scratch.open().await;
    let (new, old) = (scratch.oid("main"), scratch.oid("main~1"));
    let tree = scratch.git(["rev-parse", "main^{tree}"]);
    let third = swarm_protocol::ids::Oid::new(scratch.git(["commit-tree", "-m", "third", &tree])).unwrap();
    let both = [RefChange::create("refs/swarm/x", &new), RefChange::modify("refs/heads/main", &old, &third)];
    let lost = git.update_refs(&both, "test").await.unwrap();
    assert_eq!(lost, RefOutcome::Lost { name: "refs/heads/main".into(), now: Some(new.clone()) });
    assert_eq!(git.ref_value("refs/swarm/x").await.unwrap(), None);
    std::fs::create_dir_all(scratch.at(".git/refs/swarm")).unwrap();
    std::fs::write(scratch.at(".git/refs/swarm/x.lock"), "").unwrap();
    let create = [RefChange::create("refs/swarm/x", &new)];
    assert_eq!(git.update_refs(&create, "test").await.unwrap(), RefOutcome::Changed);
    assert_eq!(git.update_refs(&create, "test").await.unwrap(), RefOutcome::Changed, "asked twice");
    let delete = [RefChange::delete("refs/swarm/x", &new)];
    assert_eq!(git.update_refs(&delete, "test").await.unwrap(), RefOutcome::Changed);
    assert_eq!(git.refs_under("refs/swarm").await.unwrap(), []);
}

/// Started by the test below with another PATH; on its own it does nothing.
#[test]
fn discoverer() {
    let Some(repo) = std::env::var_os("DISCOVER_REPO") else { return };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let found = runtime.block_on(Git::discover(std::path::Path::new(&repo)));
    println!("found: {}", found.map_or_else(|error| error.to_string(), |git| format!("{:?}", git.version)));
}

#[test]
fn without_git_or_with_an_old_one_it_is_said_so() {
    use std::os::unix::fs::PermissionsExt;
    let scratch = Scratch::new();
    let discover = |path: &std::path::Path| {
        let mut again = std::process::Command::new(std::env::current_exe().unwrap());
        again
            .args(["--exact", "discoverer", "--nocapture"])
            .env("DISCOVER_REPO", &scratch.repo)
            .env("PATH", path);
        String::from_utf8(again.output().unwrap().stdout).unwrap()
    };
    let dir = scratch.dir.path().join("programs");
    std::fs::create_dir(&dir).unwrap();
    assert!(discover(&dir).contains("git is not installed"), "{}", discover(&dir));
    std::fs::write(dir.join("git"), "#!/bin/sh\necho git version 2.30.1\n").unwrap();
    std::fs::set_permissions(dir.join("git"), std::fs::Permissions::from_mode(0o755)).unwrap();
    assert!(discover(&dir).contains("git 2.30.1 is too old: 2.38"), "{}", discover(&dir));
}
