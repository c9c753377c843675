//! What the swarm cannot work on is refused with words that help.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;

use crate::git_scratch;

use git_scratch::{Scratch, git_in, try_git_in};
use swarm_git::{Git, Head, RefChange, RefOutcome};
use swarm_protocol::ids::Oid;

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
    for name in [&b"line\nbreak"[..], &b"no \xff text"[..]] {
        let odd = path.join(OsStr::from_bytes(name));
        std::fs::create_dir(&odd).unwrap();
        git_in(&odd, ["init", "--quiet"]);
        let said = refusal(&odd).await;
        assert!(said.contains("rename the folder") && !said.contains('\n'), "{said}");
    }
}

#[tokio::test]
async fn from_inside_a_worktree_the_main_checkout_is_found() {
    let scratch = Scratch::new();
    scratch.git(["worktree", "add", "--quiet", "--detach", "../linked"]);
    let linked = scratch.repo.parent().unwrap().join("linked");
    let on =
        [(scratch.at("dir"), Some("main")), (linked.join("dir"), None), (scratch.repo.clone(), Some("main"))];
    for (place, branch) in on {
        let git = Git::discover(&place).await.unwrap();
        assert_eq!(
            (git.main_checkout.clone(), git.common_dir.clone()),
            (scratch.repo.clone(), scratch.at(".git"))
        );
        assert_eq!(git.current_branch().as_deref(), branch, "where the person stands");
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
            .args(["--exact", "git_discover::discoverer", "--nocapture"])
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

/// What git itself says.
fn says(scratch: &Scratch, name: &str) -> Option<Oid> {
    let listed = scratch.git(["for-each-ref", "--format=%(objectname)", name]);
    listed.lines().next().map(|oid| Oid::new(oid).unwrap())
}

#[tokio::test]
async fn a_ref_is_what_git_says_however_it_is_stored() {
    let scratch = Scratch::new();
    let git = scratch.open().await;
    scratch.git(["branch", "a/loose"]);
    scratch.git(["tag", "-a", "-m", "a tag", "v1"]);
    scratch.git(["branch", "a/packed", "main~1"]);
    scratch.git(["pack-refs", "--all"]);
    scratch.git(["branch", "--force", "a/loose", "main~1"]);
    scratch.git(["symbolic-ref", "refs/heads/alias", "refs/heads/a/loose"]);
    scratch.git(["branch", "gone"]);
    scratch.git(["pack-refs", "--all"]);
    scratch.git(["branch", "-D", "gone"]);
    let names = ["heads/main", "heads/a/loose", "heads/a/packed", "heads/alias", "tags/v1", "heads/gone"];
    for name in names.into_iter().chain(["heads/a", "heads/never", "heads/main.lock", "heads"]) {
        let name = format!("refs/{name}");
        // A folder of refs is no ref, though git lists what is in it.
        let expected =
            if name.ends_with("/a") || name == "refs/heads" { None } else { says(&scratch, &name) };
        assert_eq!(git.ref_value(&name).await.unwrap(), expected, "{name}");
    }
    std::fs::write(scratch.at(".git/refs/heads/torn"), "1234").unwrap();
    assert_eq!(git.ref_value("refs/heads/torn").await.unwrap(), None, "git passes over it, too");
}

#[tokio::test]
async fn a_ref_is_never_missed_while_refs_are_packed_and_moved() {
    let scratch = Scratch::new();
    let git = scratch.open().await;
    let both = [scratch.oid("main"), scratch.oid("main~1")];
    let repo = scratch.repo.clone();
    let values = both.clone();
    let others = std::thread::spawn(move || {
        for round in 0..25 {
            git_in(&repo, ["update-ref", "refs/heads/moving", values[round % 2].as_str()]);
            git_in(&repo, ["pack-refs", "--all", "--prune"]);
        }
    });
    let mut seen = 0;
    while !others.is_finished() {
        let now = git.ref_value("refs/heads/moving").await.unwrap();
        assert!(now.is_some() || seen == 0, "it was there and is not found any more");
        seen += usize::from(now.is_some());
        assert!(now.is_none_or(|now| both.contains(&now)));
        assert_eq!(git.ref_value("refs/heads/main").await.unwrap().as_ref(), Some(&both[0]));
    }
    others.join().unwrap();
    assert!(seen > 0);
}

#[tokio::test]
async fn commits_are_what_git_says_loose_packed_or_replaced() {
    let scratch = Scratch::new();
    let git = scratch.open().await;
    scratch.git(["switch", "--quiet", "-c", "side", "main~1"]);
    scratch.write("side.txt", "side\n");
    let side = scratch.commit_all("side");
    scratch.git(["switch", "--quiet", "main"]);
    scratch.git(["merge", "--quiet", "--no-edit", "side"]);
    let (old, main) = (scratch.oid("main~2"), scratch.oid("main"));
    let check = async || {
        let range = git.first_parent_range(&old, &main).await.unwrap();
        let listed = scratch.git(["rev-list", "--first-parent", "--reverse", &format!("{old}..{main}")]);
        assert_eq!(range.iter().map(Oid::to_string).collect::<Vec<_>>().join("\n"), listed);
        for (older, newer) in
            [(&old, &main), (&main, &main), (&side, &main), (&main, &old), (&side, &range[0])]
        {
            let is =
                try_git_in(&scratch.repo, ["merge-base", "--is-ancestor", older.as_str(), newer.as_str()]);
            assert_eq!(git.is_ancestor(older, newer).await.unwrap(), is.status.success(), "{older} {newer}");
        }
        for commit in [&old, &main, &side] {
            let tree = scratch.git(["rev-parse", &format!("{commit}^{{tree}}")]);
            assert_eq!(git.tree_of(commit).await.unwrap().as_str(), tree);
        }
    };
    check().await;
    scratch.git(["replace", side.as_str(), old.as_str()]);
    check().await;
    scratch.git(["pack-refs", "--all"]);
    check().await;
    scratch.git(["replace", "-d", side.as_str()]);
    scratch.write(".git/info/grafts", &format!("{main} {old}\n"));
    check().await;
    std::fs::remove_file(scratch.at(".git/info/grafts")).unwrap();
    scratch.git(["gc", "--quiet", "--prune=now"]);
    check().await;
    let blob = Oid::new(scratch.git(["rev-parse", "main:a.txt"])).unwrap();
    assert!(git.tree_of(&blob).await.is_err(), "a file is no commit");
}

#[tokio::test]
async fn what_one_process_has_found_another_is_told() {
    let scratch = Scratch::new();
    let found = scratch.open().await;
    let told = serde_json::to_string(&found.repository()).unwrap();
    let git = Git::of(serde_json::from_str(&told).unwrap());
    assert_eq!((git.repository(), git.identity.name.as_str()), (found.repository(), "Pat Person"));
    assert_eq!(git.resolve("main").await.unwrap(), Some(scratch.oid("main")));
}
