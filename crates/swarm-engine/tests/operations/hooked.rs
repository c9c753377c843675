//! Hooks through the whole circle: started by what happens, once each, whoever dies meanwhile; one that stands
//! before something can refuse it; none of them can stop the swarm.

use std::os::unix::fs::PermissionsExt;

use swarm_core::show;
use swarm_protocol::command::Command;
use swarm_protocol::event::Event;
use swarm_protocol::operation::HookOutcome;

use crate::fixture::{Fixture, coordinate_and_die};
use crate::git_scratch::{Scratch, task};

const FILES: &[(&str, &str)] = &[("swarm/one.txt", "one\n")];

/// A swarm with these hooks: a file of `.swarm/hooks`, or one that the configuration names.
async fn fixture(hooks: &[(&str, &str)], config: &str) -> (Scratch, Fixture) {
    let scratch = Scratch::new();
    let fixture = Fixture::with_plan(&scratch.repo).await;
    for (path, script) in hooks {
        scratch.write(path, &format!("#!/bin/sh\n{script}\n"));
        std::fs::set_permissions(scratch.at(path), std::fs::Permissions::from_mode(0o755)).unwrap();
    }
    if !config.is_empty() {
        scratch.write(".swarm/config.json", config);
    }
    drop(fixture);
    let fixture = Fixture::at(&scratch.repo).await;
    (scratch, fixture)
}

fn heard(scratch: &Scratch) -> Vec<String> {
    let text = std::fs::read_to_string(scratch.at("ignored/heard")).unwrap_or_default();
    text.lines().map(str::to_owned).collect()
}

/// How each hook ended, oldest first.
fn ended(fixture: &Fixture) -> Vec<(String, HookOutcome)> {
    let mut all: Vec<_> = show::hooks(&fixture.state()).into_iter().collect();
    all.sort_by_key(|hook| hook.n);
    all.into_iter().filter_map(|hook| Some((hook.hook, hook.outcome?))).collect()
}

const SAYS: &str = "mkdir -p ignored; echo \"$SWARM_HOOK $SWARM_TASK_ID $SWARM_STATUS\" >> ignored/heard";

#[tokio::test]
async fn what_happens_starts_its_hook_once() {
    let hooks = [
        (".swarm/hooks/pre-merge.sh", SAYS),
        (".swarm/hooks/post-merge.sh", SAYS),
        (".swarm/hooks/post-task-complete.sh", SAYS),
    ];
    let (scratch, fixture) = fixture(&hooks, "").await;
    fixture.merge("1.1", FILES).await;
    let mut lines = heard(&scratch);
    lines[1..].sort();
    assert_eq!(lines, ["pre-merge 1.1 ", "post-complete 1.1 done", "post-merge 1.1 "]);
    assert!(ended(&fixture).iter().all(|(_, outcome)| *outcome == HookOutcome::Ok), "{:?}", ended(&fixture));
}

#[tokio::test]
async fn a_hook_that_fails_hangs_or_cannot_start_is_told_and_work_goes_on() {
    let config = r#"{ "hooks": { "pre-merge": { "command": "hooks dir/hang.sh", "timeout": "1s" },
                                 "post-merge": "no-such-file.sh" } }"#;
    let hooks = [("hooks dir/hang.sh", "trap '' TERM; sleep 60"), (".swarm/hooks/post-merge.sh", SAYS)];
    let (scratch, fixture) = fixture(&hooks, config).await;
    fixture.merge("1.1", FILES).await;
    let all = ended(&fixture);
    assert_eq!(all[0], ("pre-merge".into(), HookOutcome::TimedOut));
    assert!(matches!(&all[1].1, HookOutcome::NotStarted { why } if why.contains("no-such-file")), "{all:?}");
    assert!(heard(&scratch).is_empty(), "the file of the same name is replaced by the configuration");
}

#[tokio::test]
async fn a_blocking_hook_refuses_the_merge_and_says_why() {
    let config = r#"{ "hooks": { "pre-merge": { "command": "refuse.sh", "blocking": true } } }"#;
    let (scratch, fixture) = fixture(&[("refuse.sh", "echo 'not on a Friday'; exit 3")], config).await;
    let main = scratch.oid("main");
    fixture.work("1.1", FILES);
    fixture.coordinate(true, |event| matches!(event, Event::MergeFailed { .. })).await;
    assert_eq!((fixture.stage("1.1"), scratch.oid("main")), ("Blocked", main));
    let text = format!("{:?}", fixture.state().task(&task("1.1")).expect("a task").stage);
    assert!(text.contains("pre-merge") && text.contains("not on a Friday"), "{text}");
}

#[tokio::test]
async fn a_failing_on_error_hook_starts_no_other() {
    let script = format!("{SAYS}; exit 1");
    let (scratch, fixture) = fixture(&[(".swarm/hooks/on-error.sh", &script)], "").await;
    fixture.merge("1.1", FILES).await;
    // In the way of the revert: the operation fails, and that is an error.
    scratch.write("swarm/one.txt", "mine\n");
    let (task, force, expect) = (task("1.1"), Default::default(), None);
    let why = fixture.operate(Command::RollbackTask { task, cascade: false, force, expect }).await;
    assert!(why.is_err_and(|why| why.contains("swarm/one.txt")));
    assert_eq!(ended(&fixture), [("on-error".into(), HookOutcome::Failed { code: Some(1) })]);
    assert_eq!(heard(&scratch).len(), 1);
}

/// The hook kills its coordinator and goes on; a second coordinator comes.
async fn killed_by(hook: &str, config: &str) -> (Scratch, Fixture) {
    let script = "mkdir -p ignored; echo begun >> ignored/heard
        [ -e ignored/killed ] && exit 0
        echo $$ > ignored/killed; kill -9 $PPID; sleep 60; echo survived >> ignored/heard";
    let (scratch, fixture) = fixture(&[(hook, script)], config).await;
    fixture.work("1.1", FILES);
    assert!(coordinate_and_die(&scratch.repo, "none", true), "its hook kills it");
    let id = task("1.1");
    fixture
        .coordinate(true, |event| matches!(event, Event::MergeCompleted { task, .. } if *task == id))
        .await;
    let pid = std::fs::read_to_string(scratch.at("ignored/killed")).expect("it ran");
    // Gone, or only not taken leave of by whoever inherited it.
    let lives = std::fs::read(format!("/proc/{}/cmdline", pid.trim())).is_ok_and(|line| !line.is_empty());
    assert!(!lives, "nobody would hear what it says");
    (scratch, fixture)
}

#[tokio::test]
async fn a_hook_whose_coordinator_died_is_interrupted_and_not_run_again() {
    let (scratch, fixture) = killed_by(".swarm/hooks/pre-merge.sh", "").await;
    assert_eq!(heard(&scratch), ["begun"]);
    assert_eq!(ended(&fixture)[0], ("pre-merge".into(), HookOutcome::Interrupted));
    assert_eq!(fixture.stage("1.1"), "Done");
}

#[tokio::test]
async fn a_blocking_hook_whose_coordinator_died_is_run_again() {
    let config = r#"{ "hooks": { "pre-merge": { "command": "gate.sh", "blocking": true } } }"#;
    let (scratch, fixture) = killed_by("gate.sh", config).await;
    assert_eq!(heard(&scratch), ["begun", "begun"]);
    assert_eq!(ended(&fixture)[0], ("pre-merge".into(), HookOutcome::Ok));
    assert_eq!(fixture.stage("1.1"), "Done");
}
