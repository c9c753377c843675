//! The table of what a starting coordinator may find, row by row, and the end of runs for good.

use crate::world;

use std::collections::BTreeSet;
use std::os::unix::process::CommandExt;
use std::time::Duration;

use swarm_git::Git;
use swarm_process::sandbox::make_tmp;
use swarm_protocol::channel::{DaemonRecord, FromDaemon, IterationOutcome, LedgerMark};
use swarm_protocol::ids::RunId;
use swarm_protocol::outcome::Ended;
use swarm_work::daemon::{EXIT_NOT_WANTED, write_durable};
use swarm_work::supervisor::{
    DaemonEnd, Foreign, Found, Left, Rescue, Stopped, foreign, lives_here, stop_run, sweep_leftovers,
};
use world::{Coordinator, World, git, host, until, within};

async fn stop(world: &World) -> Stopped {
    let rescue = Rescue {
        task: world.spec.task.clone(),
        worktree: world.spec.worktree.clone(),
        max_file_bytes: 1 << 20,
    };
    let (git, files) = (world.git().await, world.files());
    let stopping = stop_run(&git, &files, &world.spec.nonce, Some(&rescue), Duration::from_secs(1));
    within("the end of the run", stopping).await.expect("it can be ended")
}

fn files_left(world: &World) -> Vec<String> {
    let entries = std::fs::read_dir(world.files().dir).expect("a folder");
    entries.map(|entry| entry.expect("readable").file_name().to_string_lossy().into_owned()).collect()
}

/// A daemon at work on something that does not end by itself.
async fn busy() -> (World, Coordinator) {
    let world = World::new();
    let mut coordinator = Coordinator::start(&world, 1);
    world.start().await;
    coordinator.meet().await;
    coordinator.go(1, "ignore-term\nspawn-child 300\nwrite half.txt half\nhang");
    until("work", || world.read("half.txt") == "half\n" && world.living().len() >= 2).await;
    (world, coordinator)
}

#[tokio::test]
async fn a_living_daemon_is_adopted_and_not_started_again() {
    let (world, coordinator) = busy().await;
    let pid = world.daemon_pid();
    drop(coordinator);
    let mut coordinator = Coordinator::start(&world, 2);
    assert!(matches!(world.ensure().await, Found::Adopted));
    assert!(matches!(world.ensure().await, Found::Adopted));
    coordinator.hello().await;
    assert_eq!(world.daemon_pid(), pid);
    stop(&world).await;
}

#[tokio::test]
async fn a_start_that_was_cut_short_is_made_up_for() {
    let world = World::new();
    world.files().make_dir().expect("made");
    std::fs::write(world.files().lock(), "").expect("made");
    write_durable(&world.files().spec(), &world.spec).expect("written");
    world.start().await;
    assert_eq!(world.files().read_record().expect("a record").nonce, world.spec.nonce, "the same nonce");
}

#[tokio::test]
async fn two_who_start_it_at_once_get_one_daemon() {
    let world = World::new();
    let mut coordinator = Coordinator::start(&world, 1);
    let (one, other) = tokio::join!(world.ensure(), world.ensure());
    assert!(matches!((&one, &other), (Found::Spawned | Found::Adopted, Found::Spawned | Found::Adopted)));
    coordinator.meet().await;
    assert!(matches!(world.ensure().await, Found::Adopted));
}

#[tokio::test]
async fn a_daemon_that_cannot_work_says_why() {
    let world = World::new();
    std::fs::write(world.spec.swarm_dir().join("agents"), "a file where a folder should be")
        .expect("written");
    world.start().await;
    let last = world.last_word().await;
    let Ended::NotStarted { text } = last.how else { panic!("{last:?}") };
    assert!(text.starts_with("the daemon cannot work: ") && text.contains("r1.jsonl"), "{text}");
}

#[tokio::test]
async fn a_second_daemon_for_the_run_ends_without_a_word() {
    let world = World::new();
    world.start().await;
    let record = std::fs::read(world.files().record()).expect("a record");
    let mut second = std::process::Command::new(host());
    second
        .args(["daemon", "--spec"])
        .arg(world.files().spec())
        .stdin(std::process::Stdio::null())
        .process_group(0);
    let second = tokio::task::spawn_blocking(move || second.status().expect("it runs"));
    assert_eq!(within("its end", second).await.expect("joined").code(), Some(i32::from(EXIT_NOT_WANTED)));
    assert_eq!(std::fs::read(world.files().record()).expect("a record"), record, "nothing was touched");
}

#[tokio::test]
async fn a_daemon_whose_run_was_ended_meanwhile_does_not_begin() {
    let world = World::new();
    world.files().make_dir().expect("made");
    std::fs::write(world.files().lock(), "").expect("made");
    // It has read its spec; then the run is ended.
    let spec = world.spec.root.join("spec-as-it-was.json");
    write_durable(&spec, &world.spec).expect("written");
    let mut late = std::process::Command::new(host());
    late.args(["daemon", "--spec"]).arg(&spec).stdin(std::process::Stdio::null()).process_group(0);
    let late = tokio::task::spawn_blocking(move || late.status().expect("it runs"));
    assert_eq!(within("its end", late).await.expect("joined").code(), Some(i32::from(EXIT_NOT_WANTED)));
    assert!(!world.files().record().exists());
}

#[tokio::test]
async fn the_last_word_of_a_daemon_that_ended_alone_is_taken_from_its_file() {
    let mut world = World::new();
    world.spec.alone_secs = 1;
    world.start().await;
    let last = world.last_word().await;
    let Found::Ended(found) = world.ensure().await else { panic!("not ended") };
    assert_eq!(found, last);
    let [(1, FromDaemon::Boundary { iteration: 0, .. }), (2, FromDaemon::Ended { how: Ended::Stopped })] =
        &found.unacknowledged[..]
    else {
        panic!("{found:?}")
    };
}

#[tokio::test]
async fn the_tree_of_a_daemon_that_died_is_ended_and_its_reports_are_not_lost() {
    let world = World::new();
    let mut coordinator = Coordinator::start(&world, 1);
    world.start().await;
    coordinator.meet().await;
    coordinator.go(1, "no-signal");
    coordinator.next().await.expect("a report that is not acknowledged");
    coordinator.go(2, "ignore-term\nspawn-child 300\nwrite half.txt half\nhang");
    until("work", || world.read("half.txt") == "half\n" && world.living().len() >= 2).await;
    world.kill_daemon();
    let DaemonEnd::Died(death) = within("its end", world.watch()).await else {
        panic!("it had no last word")
    };
    assert_eq!(world.living(), [0u32; 0]);
    assert_eq!(death.text, "it ended without a last word");
    let [(2, FromDaemon::Boundary { iteration: 1, outcome: IterationOutcome::NoSignal, .. })] =
        &death.unacknowledged[..]
    else {
        panic!("{death:?}")
    };
    let Found::Died(again) = world.ensure().await else { panic!("asked again, the same answer") };
    assert_eq!(again, death);
}

#[tokio::test]
async fn after_a_restart_of_the_machine_nobody_is_looked_for() {
    let (world, _coordinator) = busy().await;
    let mut record = world.files().read_record().expect("a record");
    world.kill_daemon();
    until("its end", || std::fs::File::open(world.files().lock()).expect("there").try_lock().is_ok()).await;
    record.boot_id = "another-boot".into();
    // Its own go with the daemon where they are in a namespace: this one does not.
    let nonce = (swarm_process::NONCE_VARIABLE, &world.spec.nonce);
    let mut stranger =
        std::process::Command::new("sleep").arg("300").env(nonce.0, nonce.1).spawn().expect("sleep");
    write_durable(&world.files().record(), &record).expect("written");
    let Found::Died(death) = world.ensure().await else { panic!("not died") };
    assert_eq!(death.text, "the machine was restarted");
    let let_be = world.living().contains(&stranger.id());
    stranger.kill().and_then(|()| stranger.wait()).expect("it was there");
    assert!(let_be, "what carries the nonce cannot be ours");
}

#[tokio::test]
async fn a_run_is_ended_for_good_with_its_work_saved_and_no_file_left() {
    let (world, _coordinator) = busy().await;
    let stopped = stop(&world).await;
    let wip = stopped.wip.expect("saved");
    assert_eq!(world.at(&wip, "half.txt"), "half");
    assert_eq!(stopped.last.expect("the daemon had its last word").how, Ended::Stopped);
    assert_eq!(world.living(), [0u32; 0]);
    assert_eq!(files_left(&world), [""; 0]);
    let again = stop(&world).await;
    assert_eq!(again.wip, Some(wip), "asked twice, the same answer");
    assert_eq!(files_left(&world), [""; 0]);
}

#[tokio::test]
async fn the_work_of_a_daemon_that_died_is_saved_by_the_one_who_ends_the_run() {
    let (world, _coordinator) = busy().await;
    world.kill_daemon();
    let stopped = stop(&world).await;
    assert!(stopped.last.is_none());
    assert_eq!(world.at(&stopped.wip.expect("saved"), "half.txt"), "half");
    assert_eq!(world.living(), [0u32; 0]);
}

#[tokio::test]
async fn a_daemon_that_hangs_is_ended_by_force() {
    let (world, _coordinator) = busy().await;
    let pid = rustix::process::Pid::from_raw(world.daemon_pid() as i32).expect("a pid");
    assert_eq!(world.files().stopped_daemon(), None);
    rustix::process::kill_process(pid, rustix::process::Signal::STOP).expect("frozen");
    until("its rest", || world.files().stopped_daemon() == Some(world.daemon_pid())).await;
    let stopped = stop(&world).await;
    assert_eq!(world.at(&stopped.wip.expect("saved"), "half.txt"), "half");
    assert_eq!(world.living(), [0u32; 0]);
    assert_eq!(files_left(&world), [""; 0]);
}

#[tokio::test]
async fn runs_that_nobody_knows_are_ended_and_their_work_saved() {
    let (world, _coordinator) = busy().await;
    let git_ = world.git().await;
    let swarm_dir = world.spec.swarm_dir();
    let current = BTreeSet::from([world.spec.run.clone()]);
    let spared = sweep_leftovers(&git_, &swarm_dir, &current, None, Duration::from_secs(1)).await;
    assert!(spared.is_empty() && !world.living().is_empty());
    let swept = sweep_leftovers(&git_, &swarm_dir, &BTreeSet::new(), None, Duration::from_secs(1)).await;
    let [leftover] = &swept[..] else { panic!("{swept:?}") };
    assert_eq!(leftover.run, RunId::nth(1));
    assert_eq!(leftover.sentence(), "What was left of r1 is cleared away, and its work is saved");
    let Left::Ended(ended) = &leftover.left else { panic!("{leftover:?}") };
    let wip = ended.as_ref().expect("ended").wip.clone().expect("saved");
    assert_eq!(git(&world.spec.root, &["rev-parse", "refs/swarm/wip/t1/r1"]), wip.as_str());
    assert_eq!(world.living(), [0u32; 0]);
    assert_eq!(files_left(&world), [""; 0]);
}

/// Changes what the daemon has written about itself.
fn rewrite(world: &World, change: impl FnOnce(&mut DaemonRecord)) {
    let mut record = world.files().read_record().expect("a record");
    change(&mut record);
    write_durable(&world.files().record(), &record).expect("written");
}

#[tokio::test]
async fn a_living_run_of_another_ledger_is_left_alone() {
    let (world, _coordinator) = busy().await;
    let (git_, swarm_dir, none) = (world.git().await, world.spec.swarm_dir(), BTreeSet::new());
    rewrite(&world, |record| {
        record.ledger = Some(LedgerMark { id: "theirs".into(), seq: 1, hash: "0".into() });
    });
    let before = world.living();
    let swept = sweep_leftovers(&git_, &swarm_dir, &none, Some("ours"), Duration::from_secs(1)).await;
    let Left::Alone(owner) = &swept[0].left else { panic!("{swept:?}") };
    assert_eq!(*owner, Foreign::OtherLedger { id: "theirs".into() });
    let after = world.living();
    assert!(
        !before.is_empty() && before.iter().all(|pid| after.contains(pid)),
        "{before:?} became {after:?}"
    );
    let swept = sweep_leftovers(&git_, &swarm_dir, &none, Some("theirs"), Duration::from_secs(1)).await;
    assert!(matches!(swept[0].left, Left::Ended(Ok(_))), "{swept:?}");
    assert_eq!(world.living(), [0u32; 0]);
}

#[tokio::test]
async fn a_daemon_of_another_machine_is_neither_taken_over_nor_ended() {
    let (world, _coordinator) = busy().await;
    let before = world.files().read_record().expect("a record");
    rewrite(&world, |record| (record.host, record.boot_id) = ("elsewhere".into(), "another".into()));
    let owner = Foreign::Elsewhere { host: "elsewhere".into() };
    assert_eq!(foreign(&world.files(), &world.spec.root), Some(owner.clone()));
    let git_ = world.git().await;
    let stopped = stop_run(&git_, &world.files(), &world.spec.nonce, None, Duration::from_secs(1)).await;
    let why = stopped.expect_err("refused").to_string();
    assert_eq!(why, format!("r1 cannot be ended from here: {owner}"));
    assert!(world.living().len() >= 2);
    rewrite(&world, |record| *record = before);
    stop(&world).await;
    assert_eq!(world.living(), [0u32; 0]);
}

#[tokio::test]
async fn in_a_copied_folder_the_processes_of_the_original_are_left_alone() {
    let (world, _coordinator) = busy().await;
    let place = tempfile::tempdir().expect("a folder");
    let copy = place.path().canonicalize().expect("a path").join("repo");
    let copied = std::process::Command::new("cp").arg("-a").arg(&world.spec.root).arg(&copy).status();
    assert!(copied.expect("cp runs").success());
    let files = swarm_work::daemon::RunFiles::new(&copy.join(".swarm"), &world.spec.run);
    assert_eq!(foreign(&files, &copy), Some(Foreign::Copied { from: world.spec.root.clone() }));
    assert!(files.is_alive() && !lives_here(&files, &copy), "what is shown in the copy as at work");
    assert!(lives_here(&world.files(), &world.spec.root));
    let git_ = Git::discover(&copy).await.expect("a repository");
    let tmp = make_tmp(&world.spec.nonce).expect("the folder of the original for temporary files");
    // The copy's own ledger knows the run and ends it: only its files go.
    stop_run(&git_, &files, &world.spec.nonce, None, Duration::from_secs(1)).await.expect("ended");
    assert!(!files.record().exists() && world.living().len() >= 2);
    assert!(tmp.is_dir(), "the agents of the original have it in use");
    stop(&world).await;
    assert!(!tmp.exists());
}
