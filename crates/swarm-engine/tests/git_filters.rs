//! A person's filters that find their program in the folder of an agent: what the agent wrote there runs behind walls.

use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use crate::git_scratch;

use git_scratch::{Scratch, git_in, task, write};
use swarm_git::{FilterRule, Git};
use swarm_process::launcher::filters_start_through;
use swarm_protocol::ids::RunId;
use swarm_work::merge_tree;
use swarm_work::rescue::{RESCUE_FILE_MAX_BYTES, Rest, commit_rest, save_wip};
use swarm_work::worktree::{BaseRule, Prepared, prepare};

/// A repository with these filters, for `*.x` and for `*.up`.
async fn with_filters(settings: &[(&str, &str)]) -> (Scratch, Git) {
    filters_start_through(crate::bench::host());
    let scratch = Scratch::new();
    scratch.write(".gitattributes", "*.x filter=own\n*.up filter=upper\n");
    scratch.write("bin/filter.sh", "#!/bin/sh\ncat\n");
    executable(&scratch.at("bin/filter.sh"));
    scratch.write("one.x", "one\n");
    scratch.commit_all("filters");
    for (key, value) in settings {
        scratch.git(["config", key, value]);
    }
    let git = scratch.open().await;
    (scratch, git)
}

fn executable(path: &Path) {
    std::fs::set_permissions(path, PermissionsExt::from_mode(0o755)).expect("executable");
}

async fn prepared(git: &Git, scratch: &Scratch, name: &str) -> Prepared {
    prepare(git, &task(name), &scratch.worktrees(), &BaseRule::Trunk("main".into())).await.expect("prepared")
}

/// What an agent puts in the place of the filter: it marks whatever it can reach, and reads what is hidden.
fn plant(scratch: &Scratch, worktree: &Path) {
    let marks =
        [scratch.dir.path().join("mark"), scratch.at(".git/mark"), scratch.at("mark"), worktree.join("mark")];
    let mark = marks.map(|mark| format!("(echo ran > '{}') 2>/dev/null\n", mark.display())).concat();
    let rights = "grep -q 'NoNewPrivs:.*1' /proc/self/status && echo walled\n";
    write(worktree, "bin/filter.sh", format!("#!/bin/sh\n{mark}{rights}cat\n").as_bytes());
    executable(&worktree.join("bin/filter.sh"));
}

fn assert_no_mark(scratch: &Scratch, worktree: &Path) {
    for mark in
        [scratch.dir.path().join("mark"), scratch.at(".git/mark"), scratch.at("mark"), worktree.join("mark")]
    {
        assert!(!mark.exists(), "{} was written", mark.display());
    }
}

#[tokio::test]
async fn a_filter_that_an_agent_has_replaced_writes_nothing_wherever_git_runs_it() {
    for kind in ["clean", "smudge"] {
        let key = format!("filter.own.{kind}");
        let (scratch, git) = with_filters(&[(&key, "bin/filter.sh")]).await;
        let made = prepared(&git, &scratch, "t1").await;
        plant(&scratch, &made.path);
        write(&made.path, "new.x", b"new\n");
        write(&made.path, "one.x", b"two\n");
        let (task, run) = (task("t1"), RunId::nth(1));
        let saved = save_wip(&git, &made.path, &task, &run, &made.tip).await.expect("saved").expect("work");
        let expected = if kind == "clean" { "walled\nnew" } else { "new" };
        assert_eq!(scratch.git(["show", &format!("{saved}:new.x")]), expected, "{kind}");
        let rest = commit_rest(&git, &made.path, &task, &made.tip, "rest\n", RESCUE_FILE_MAX_BYTES).await;
        let Rest::Committed(tip) = rest.expect("committed") else { panic!("there is something to commit") };
        // The tree is checked out elsewhere: what the agent wrote lies beside the file that is written.
        let place = scratch.worktrees().join("merge");
        merge_tree::show(&git, &place, &tip).await.expect("checked out");
        if kind == "smudge" {
            let text = std::fs::read_to_string(place.join("new.x")).expect("there");
            assert_eq!(text, "walled\nnew\n");
        }
        assert_no_mark(&scratch, &made.path);
        assert_no_mark(&scratch, &place);
        git.run_filters(FilterRule::Free);
        write(&made.path, "last.x", b"last\n");
        save_wip(&git, &made.path, &task, &RunId::nth(2), &tip).await.expect("saved");
        for commit in [&made.tip, &tip] {
            merge_tree::show(&git, &place, commit).await.expect("checked out");
        }
        let ran = scratch.dir.path().join("mark").exists();
        assert!(ran, "without walls it gets through: else this proves nothing");
    }
}

/// Git starts one program for many files, and speaks with it.
#[tokio::test]
async fn a_long_running_filter_of_an_agent_starts_behind_walls_too() {
    let (scratch, git) = with_filters(&[("filter.own.process", "bin/filter.sh")]).await;
    let made = prepared(&git, &scratch, "t1").await;
    plant(&scratch, &made.path);
    write(&made.path, "new.x", b"new\n");
    // It does not speak as git wants, so the file is taken as it is.
    let _ = save_wip(&git, &made.path, &task("t1"), &RunId::nth(1), &made.tip).await;
    assert_no_mark(&scratch, &made.path);
}

#[tokio::test]
async fn a_filter_of_the_machine_works_as_ever_behind_walls() {
    let (scratch, git) = with_filters(&[
        ("filter.upper.clean", "/usr/bin/tr a-z A-Z; : %f"),
        ("filter.upper.smudge", "/usr/bin/tr A-Z a-z"),
    ])
    .await;
    let made = prepared(&git, &scratch, "t1").await;
    write(&made.path, "it's; touch mark.up", b"loud\n");
    write(&made.path, "100%.up", b"loud too\n");
    let rest = commit_rest(&git, &made.path, &task("t1"), &made.tip, "rest\n", RESCUE_FILE_MAX_BYTES)
        .await
        .expect("done");
    let Rest::Committed(tip) = rest else { panic!("there is something to commit") };
    assert_eq!(scratch.git(["show", &format!("{tip}:it's; touch mark.up")]), "LOUD");
    assert_eq!(scratch.git(["show", &format!("{tip}:100%.up")]), "LOUD TOO");
    assert_eq!(git_in(&made.path, ["status", "--porcelain"]), "", "the person's git sees the same");
    let place = scratch.worktrees().join("merge");
    merge_tree::show(&git, &place, &tip).await.expect("checked out");
    assert_eq!(std::fs::read_to_string(place.join("100%.up")).expect("there"), "loud too\n");
    let notices = git.take_notices();
    assert!(!notices.iter().any(|notice| notice.text.contains("filter.")), "{notices:?}");
    assert_no_mark(&scratch, &made.path);
}

#[tokio::test]
async fn a_filter_that_fails_behind_walls_is_told() {
    let (scratch, git) = with_filters(&[("filter.upper.clean", "cat; echo x > written")]).await;
    let made = prepared(&git, &scratch, "t1").await;
    write(&made.path, "a.up", b"as it is\n");
    let saved = save_wip(&git, &made.path, &task("t1"), &RunId::nth(1), &made.tip)
        .await
        .expect("saved")
        .expect("work");
    assert_eq!(scratch.git(["show", &format!("{saved}:a.up")]), "as it is", "nothing is lost");
    let notices = git.take_notices();
    assert!(notices.iter().any(|notice| notice.text.contains("filter.upper.clean")), "{notices:?}");
    assert!(!made.path.join("written").exists());
}
