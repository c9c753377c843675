//! A branch that another agent has moved is seen and put back.

use super::Field;
use crate::git_scratch::{commit_all, git_in, task, write};
use swarm_git::tips::{Tip, look, own_tip, put_back, right};
use swarm_git::trunk::{TrunkError, ensure};
use swarm_work::rescue::{RESCUE_FILE_MAX_BYTES, Rest, commit_rest};

#[tokio::test]
async fn a_tip_moved_from_another_worktree_is_foreign_and_is_put_back() {
    let field = Field::new().await;
    let (mine, theirs) = (field.prepare("t1").await, field.prepare("t2").await);
    let see = async || look(&field.git, &mine.record, &task("t1")).await.unwrap();
    assert_eq!(see().await, Tip::Own { tip: mine.tip.clone() });
    write(&mine.path, "x.txt", b"x\n");
    let right = commit_all(&mine.path, "my work");
    assert_eq!(own_tip(&field.git, &mine.record, &task("t1")), Some(right.clone()));
    write(&theirs.path, "y.txt", b"y\n");
    let wrong = commit_all(&theirs.path, "their work");
    for how in [
        &["update-ref", "refs/heads/swarm/t1", wrong.as_str()][..],
        &["push", "--quiet", "--force", ".", "HEAD:swarm/t1"],
    ] {
        if crate::git_scratch::try_git_in(&theirs.path, how).status.success() {
            assert_eq!(see().await, Tip::Foreign { now: wrong.clone(), own: right.clone() }, "{how:?}");
            assert!(put_back(&field.git, &task("t1"), &wrong, &right).await.unwrap());
        }
        assert_eq!(see().await, Tip::Own { tip: right.clone() }, "{how:?}");
    }
    let kept = field.git.refs_under("refs/swarm/rescue/t1").await.unwrap();
    assert_eq!(kept.iter().map(|(_, oid)| oid).collect::<Vec<_>>(), [&wrong]);
    git_in(&theirs.path, ["update-ref", "-d", "refs/heads/swarm/t1"]);
    assert_eq!(see().await, Tip::Missing { own: Some(right) });
}

#[tokio::test]
async fn a_tip_moved_back_to_where_the_worktree_once_was_is_foreign_too() {
    let field = Field::new().await;
    let (mine, theirs) = (field.prepare("t1").await, field.prepare("t2").await);
    write(&mine.path, "x.txt", b"x\n");
    let work = commit_all(&mine.path, "my work");
    git_in(&theirs.path, ["update-ref", "refs/heads/swarm/t1", mine.base.as_str()]);
    let seen = look(&field.git, &mine.record, &task("t1")).await.unwrap();
    assert_eq!(seen, Tip::Foreign { now: mine.base.clone(), own: work.clone() });
    let righted = right(&field.git, &mine.record, &task("t1")).await.unwrap().expect("it was moved");
    assert_eq!((righted.tip, field.scratch.oid("swarm/t1")), (work.clone(), work.clone()));
    git_in(&theirs.path, ["update-ref", "-d", "refs/heads/swarm/t1"]);
    let righted = right(&field.git, &mine.record, &task("t1")).await.unwrap().expect("it was deleted");
    assert_eq!((righted.tip, field.scratch.oid("swarm/t1")), (work.clone(), work));
}

/// What the victim does upon the moved branch; the subjects that its own history has then, newest first.
const UPON: &[(&str, &[&str], &[&str])] = &[
    ("a commit", &["git commit -qam more"], &["more", "my work"]),
    ("two", &["git commit -qam more; echo z >>x.txt; git commit -qam most"], &["most", "more", "my work"]),
    ("an amended one", &["git commit -qa --amend -m better"], &["better"]),
    ("one, then amended", &["git commit -qam more; git commit -q --amend -m m2"], &["m2", "my work"]),
    (
        "moved twice",
        &["git commit -qam more", "echo z >>x.txt; git commit -qam most"],
        &["most", "more", "my work"],
    ),
];

#[tokio::test]
async fn commits_upon_a_moved_branch_are_built_again_upon_the_worktrees_own() {
    for foreign in ["move", "back", "delete"] {
        for (told, doings, subjects) in UPON {
            if foreign == "delete" && told.contains("amended") {
                continue; // there is nothing to amend
            }
            check_upon(foreign, told, doings, subjects).await;
        }
    }
}

async fn check_upon(foreign: &str, told: &str, doings: &[&str], subjects: &[&str]) {
    let told = format!("{foreign}, {told}");
    let field = Field::new().await;
    let (mine, theirs) = (field.prepare("t1").await, field.prepare("t2").await);
    write(&mine.path, "x.txt", b"x\n");
    commit_all(&mine.path, "my work");
    write(&theirs.path, "y.txt", b"y\n");
    let wrong = commit_all(&theirs.path, "their work");
    for doing in doings {
        match foreign {
            "move" => git_in(&theirs.path, ["update-ref", "refs/heads/swarm/t1", wrong.as_str()]),
            "back" => git_in(&theirs.path, ["update-ref", "refs/heads/swarm/t1", mine.base.as_str()]),
            _ => git_in(&theirs.path, ["update-ref", "-d", "refs/heads/swarm/t1"]),
        };
        let mut x = std::fs::read(mine.path.join("x.txt")).unwrap();
        x.extend(b"more\n");
        write(&mine.path, "x.txt", &x);
        let done = std::process::Command::new("sh").args(["-c", doing]).current_dir(&mine.path).output();
        assert!(done.as_ref().is_ok_and(|done| done.status.success()), "{told}: {done:?}");
    }
    let before = git_in(&mine.path, ["rev-parse", "HEAD^{tree}"]);
    let righted = right(&field.git, &mine.record, &task("t1")).await.unwrap().expect("it was moved");
    let since = format!("{}..swarm/t1", mine.base);
    let history = git_in(&mine.path, ["log", "--format=%s", &since]);
    assert_eq!(history.lines().collect::<Vec<_>>(), subjects, "{told}: {}", righted.what);
    assert_eq!(git_in(&mine.path, ["rev-parse", "HEAD^{tree}"]), before, "{told}: what it committed");
    assert_eq!(git_in(&mine.path, ["status", "--porcelain"]), "", "{told}");
    // Died before it was noted: the same is built and found in its place.
    std::fs::remove_file(field.git.common_dir.join("swarm/tips/t1.json")).unwrap();
    let again = right(&field.git, &mine.record, &task("t1")).await.unwrap();
    assert_eq!(again.map(|righted| righted.tip), Some(righted.tip), "{told}");
    assert_eq!(right(&field.git, &mine.record, &task("t1")).await.unwrap(), None, "{told}: right is right");
    write(&mine.path, "z.txt", b"z\n");
    commit_all(&mine.path, "goes on");
    let seen = look(&field.git, &mine.record, &task("t1")).await.unwrap();
    assert!(matches!(seen, Tip::Own { .. }), "{told}: {seen:?}");
}

#[tokio::test]
async fn what_was_done_upon_foreign_files_is_kept_beside_and_the_branch_put_back() {
    let field = Field::new().await;
    let (mine, theirs) = (field.prepare("t1").await, field.prepare("t2").await);
    write(&mine.path, "x.txt", b"x\n");
    let own = commit_all(&mine.path, "my work");
    write(&theirs.path, "y.txt", b"y\n");
    let wrong = commit_all(&theirs.path, "their work");
    git_in(&theirs.path, ["update-ref", "refs/heads/swarm/t1", wrong.as_str()]);
    git_in(&mine.path, ["reset", "--quiet", "--hard"]);
    write(&mine.path, "z.txt", b"z\n");
    let upon = commit_all(&mine.path, "upon it");
    let righted = right(&field.git, &mine.record, &task("t1")).await.unwrap().expect("it was moved");
    assert_eq!((righted.tip, field.scratch.oid("swarm/t1")), (own.clone(), own));
    let kept = field.git.refs_under("refs/swarm/rescue/t1").await.unwrap();
    assert_eq!(kept.iter().map(|(_, oid)| oid).collect::<Vec<_>>(), [&upon]);
    assert_eq!(right(&field.git, &mine.record, &task("t1")).await.unwrap(), None);
}

#[tokio::test]
async fn what_the_worktree_and_the_swarm_do_themselves_is_never_foreign() {
    let field = Field::new().await;
    let mine = field.prepare("t1").await;
    let check = async |told: &str| {
        let seen = look(&field.git, &mine.record, &task("t1")).await.unwrap();
        assert!(matches!(seen, Tip::Own { .. }), "{told}: {seen:?}");
    };
    write(&mine.path, "x.txt", b"x\n");
    commit_all(&mine.path, "one");
    git_in(&mine.path, ["commit", "--quiet", "--amend", "-m", "better"]);
    check("amend").await;
    git_in(&mine.path, ["rebase", "--quiet", "--force-rebase", "HEAD^"]);
    check("rebase").await;
    git_in(&mine.path, ["reset", "--quiet", "--hard", "HEAD^"]);
    check("reset").await;
    let before = git_in(&mine.path, ["rev-parse", "HEAD@{1}"]);
    git_in(&mine.path, ["switch", "--quiet", "--detach"]);
    git_in(&mine.path, ["branch", "--force", "swarm/t1", &before]);
    check("its own branch -f").await;
    git_in(&mine.path, ["switch", "--quiet", "swarm/t1"]);
    let tip = field.scratch.oid("swarm/t1");
    write(&mine.path, "rest.txt", b"rest\n");
    let rest = commit_rest(&field.git, &mine.path, &task("t1"), &tip, "rest\n", RESCUE_FILE_MAX_BYTES)
        .await
        .unwrap();
    assert!(matches!(rest, Rest::Committed(_)));
    check("the rest committed by the swarm").await;
    write(&mine.path, "more.txt", b"more\n");
    commit_all(&mine.path, "after it");
    check("the agent goes on").await;
    git_in(&mine.path, ["reset", "--quiet", "--hard", "HEAD^"]);
    check("back to where the swarm had put it").await;
    git_in(&mine.path, ["switch", "--quiet", "--detach", "HEAD^"]);
    write(&mine.path, "off.txt", b"off\n");
    commit_all(&mine.path, "off the branch");
    check("away from its branch").await;
    field.prepare("t1").await;
    check("brought back to its branch").await;
    write(&mine.path, "on.txt", b"on\n");
    commit_all(&mine.path, "on it again");
    git_in(&mine.path, ["switch", "--quiet", "--create", "swarm/t1-side"]);
    git_in(&mine.path, ["commit", "--quiet", "--allow-empty", "-m", "beside"]);
    git_in(&mine.path, ["switch", "--quiet", "swarm/t1"]);
    git_in(&mine.path, ["merge", "--quiet", "--no-ff", "-m", "joined", "swarm/t1-side"]);
    git_in(&mine.path, ["revert", "--no-edit", "HEAD^"]);
    git_in(&mine.path, ["cherry-pick", "--allow-empty", "swarm/t1-side"]);
    git_in(&mine.path, ["update-ref", "refs/heads/swarm/t1", "HEAD^"]);
    check("merge, revert, pick, update-ref").await;
}

#[tokio::test]
async fn a_log_that_is_a_link_a_pipe_or_rubbish_neither_stops_nor_fools_us() {
    let field = Field::new().await;
    let mine = field.prepare("t1").await;
    let log = mine.record.join("logs/HEAD");
    let secret = field.scratch.dir.path().join("secret");
    std::fs::write(&secret, "0 1 2\n").unwrap();
    let plant: [&dyn Fn(); 3] = [
        &|| std::os::unix::fs::symlink(&secret, &log).unwrap(),
        &|| rustix::fs::mkfifoat(rustix::fs::CWD, &log, rustix::fs::Mode::from_raw_mode(0o600)).unwrap(),
        &|| std::fs::write(&log, vec![b'x'; 3 << 20]).unwrap(),
    ];
    for planted in plant {
        std::fs::remove_file(&log).unwrap();
        planted();
        assert_eq!(own_tip(&field.git, &mine.record, &task("t1")), None);
        assert_eq!(
            look(&field.git, &mine.record, &task("t1")).await.unwrap(),
            Tip::Unknown { now: mine.tip.clone() }
        );
    }
}

#[tokio::test]
async fn a_trunk_that_is_named_is_made_once_and_bad_names_are_refused() {
    let field = Field::new().await;
    let made = ensure(&field.git, "swarm-trunk").await.unwrap();
    assert_eq!((made.created, made.tip), (true, field.scratch.oid("main")));
    assert!(!ensure(&field.git, "swarm-trunk").await.unwrap().created);
    assert!(!ensure(&field.git, "main").await.unwrap().created);
    for bad in ["", "-x", "a..b", "refs/heads/x", "HEAD", "swarm", "swarm/x", "a b", "x.lock"] {
        let refused = ensure(&field.git, bad).await;
        assert!(matches!(refused, Err(TrunkError::BadName { .. })), "{bad}: {refused:?}");
    }
    for blocked in ["main/x"] {
        let refused = ensure(&field.git, blocked).await.unwrap_err();
        assert!(refused.to_string().contains("git branch -m main NEW"), "{refused}");
    }
}
