//! What runs have left: files, processes, sockets, secrets.

use super::*;

fn plant_run(ward: &Ward, n: u64, worktree: &Path, nonce: &str) -> RunFiles {
    let run = RunId::nth(n);
    let files = RunFiles::new(&ward.paths.swarm, &run);
    files.make_dir().expect("a folder");
    let spec: DaemonSpec = serde_json::from_value(serde_json::json!({
        "run": run, "kind": RunKind::Work, "nonce": nonce, "root": ward.paths.root, "worktree": worktree,
        "task": "1.1", "agent": AgentId::nth(1), "attempt": 1, "program": ["true"],
        "stop_grace_secs": 1, "alone_secs": 1, "reconnect_max_secs": 1,
    }))
    .expect("a spec");
    std::fs::write(files.spec(), serde_json::to_vec(&spec).expect("plain data")).expect("writable");
    for path in [files.lock(), files.outbox(), files.prompt()] {
        std::fs::write(path, "").expect("writable");
    }
    files
}

#[tokio::test]
async fn files_of_a_run_nobody_knows_are_removed() {
    let ward = Ward::new();
    let files = plant_run(&ward, 99, Path::new("nowhere"), "nonce-of-99");
    ward.check("leftover-run", "r99").await;
    assert_eq!(names(&files.dir), Vec::<String>::new());
}

#[tokio::test]
async fn a_process_of_an_ended_run_is_ended_and_its_work_saved() {
    let ward = Ward::new();
    let path = ward.begin_work().await;
    write(&path, "half.txt", b"half done\n");
    let nonce = format!("doctor-{}", std::process::id());
    plant_run(&ward, 98, &path, &nonce);
    let mut child = std::process::Command::new("sleep");
    let mut child =
        child.arg("1000").current_dir(&path).env(NONCE_VARIABLE, &nonce).spawn().expect("sleep runs");
    ward.check("leftover-process", "r98").await;
    assert!(child.try_wait().expect("ours").is_some(), "the process is gone");
    let saved = ward.scratch.git(["for-each-ref", "--format=%(objectname)", "refs/swarm/wip/1.1"]);
    assert_eq!(ward.scratch.git(["show", &format!("{saved}:half.txt")]), "half done");
    assert_eq!(std::fs::read(path.join("half.txt")).expect("still there"), b"half done\n");
}

#[tokio::test]
async fn processes_whose_daemon_died_are_ended_and_the_run_is_left_to_the_next_coordinator() {
    let ward = Ward::new();
    let path = ward.begin_work().await;
    let nonce = format!("doctor-died-{}", std::process::id());
    let files = plant_run(&ward, 1, &path, &nonce);
    let mut child = std::process::Command::new("sleep");
    let mut child = child.arg("1000").env(NONCE_VARIABLE, &nonce).spawn().expect("sleep runs");
    ward.check("leftover-process", "r1").await;
    assert!(child.try_wait().expect("ours").is_some(), "the process is gone");
    assert!(files.spec().exists(), "the coordinator finds what it needs");
}

#[tokio::test]
async fn in_a_copied_folder_the_processes_of_the_original_are_left_alone() {
    let ward = Ward::new();
    let path = ward.begin_work().await;
    let nonce = format!("doctor-copied-{}", std::process::id());
    let files = plant_run(&ward, 1, &path, &nonce);
    let original = tempfile::tempdir().expect("a folder");
    let mut spec = DaemonSpec::read(&files.spec()).expect("a spec");
    spec.root = original.path().to_owned();
    std::fs::write(files.spec(), serde_json::to_vec(&spec).expect("plain data")).expect("writable");
    let there = spec.files();
    there.make_dir().expect("a folder");
    let record = serde_json::json!({
        "run": "r1", "kind": RunKind::Work, "host": "here", "pid": 1, "start_time": 1, "boot_id": "this one",
        "nonce": nonce, "version": "0",
    });
    std::fs::write(there.record(), record.to_string()).expect("writable");
    assert!(there.read_record().is_some(), "the record of the original can be read");
    let mut child = std::process::Command::new("sleep");
    let mut child = child.arg("1000").env(NONCE_VARIABLE, &nonce).spawn().expect("sleep runs");
    let fixed = ward.fix().await;
    let lives = child.try_wait().expect("ours").is_none();
    child.kill().and_then(|()| child.wait()).expect("ours");
    assert!(lives, "the agent of the original was ended: {}", shown(&fixed));
    let said = "r1 is left alone: it belongs to the folder that this one was copied from";
    assert!(fixed.findings.iter().any(|one| one.subject == "r1" && one.what == said), "{}", shown(&fixed));
}

/// The lock file is copied with its words, the lock is not.
#[tokio::test]
async fn in_a_copied_folder_the_coordinator_of_the_original_is_not_taken_for_its_own() {
    let ward = Ward::new();
    let coordinator = ward.store("coordinator");
    let listens = std::os::unix::net::UnixListener::bind(&ward.paths.socket).expect("a socket");
    let said = |view: &DoctorView, check: &str| {
        let found = view.findings.iter().find(|one| one.id == check).expect("it was looked at");
        (found.state, found.what.clone())
    };
    let seen = ward.look().await;
    let runs = format!("running as process {}", std::process::id());
    assert_eq!(said(&seen, "coordinator"), (Health::Ok, runs), "{}", shown(&seen));
    let copy = tempfile::tempdir().expect("a folder");
    let (from, to) = (ward.scratch.repo.join("."), copy.path().join("copy"));
    let copied = std::process::Command::new("cp").arg("-a").args([&from, &to]).status().expect("cp runs");
    assert!(copied.success());
    let seen = examine(&to, &BTreeMap::new(), false).await;
    assert_eq!(said(&seen, "coordinator"), (Health::Ok, "not running".into()), "{}", shown(&seen));
    let socket = ".swarm/run/coordinator.sock is left over from a dead coordinator";
    assert_eq!(said(&seen, "socket"), (Health::Problem, socket.into()), "{}", shown(&seen));
    drop((coordinator, listens));
}

#[tokio::test]
async fn a_daemon_that_a_signal_has_stopped_is_named_with_what_lets_it_go_on() {
    let ward = Ward::new();
    let path = ward.begin_work().await;
    let files = plant_run(&ward, 1, &path, "nonce-of-a-sleeper");
    let mut daemon = std::process::Command::new("sleep").arg("1000").spawn().expect("sleep runs");
    let identity = swarm_process::ProcessIdentity::of(daemon.id(), "nonce-of-a-sleeper").expect("it lives");
    let record = serde_json::json!({
        "run": "r1", "kind": RunKind::Work, "host": "here", "pid": identity.pid, "start_time": identity.start_time,
        "boot_id": identity.boot_id, "nonce": identity.nonce, "version": "0",
    });
    std::fs::write(files.record(), record.to_string()).expect("writable");
    let held = swarm_process::open_verified(&identity).expect("it lives");
    held.signal(rustix::process::Signal::STOP);
    while files.stopped_daemon().is_none() {
        tokio::task::yield_now().await;
    }
    let seen = ward.look().await;
    daemon.kill().and_then(|()| daemon.wait()).expect("ours");
    let fix = Some(format!("kill -CONT {}", identity.pid));
    assert!(seen.findings.iter().any(|one| one.subject == "r1" && one.fix == fix), "{}", shown(&seen));
}

#[tokio::test]
async fn a_socket_that_nobody_listens_on_is_removed() {
    let ward = Ward::new();
    drop(std::os::unix::net::UnixListener::bind(&ward.paths.socket).expect("a socket"));
    std::fs::set_permissions(&ward.paths.socket, std::fs::Permissions::from_mode(0o600)).expect("ours");
    ward.check("socket", ".swarm/run/coordinator.sock").await;
    assert!(!ward.paths.socket.exists());
}

#[tokio::test]
async fn a_secret_that_others_could_read_is_closed() {
    let ward = Ward::new();
    let key = secret_key(&ward.paths.run).expect("a key");
    let file = ward.paths.run.join("secret.key");
    std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o644)).expect("ours");
    ward.check("permissions", ".swarm/run/secret.key").await;
    assert_eq!(std::fs::metadata(&file).expect("there").permissions().mode() & 0o777, 0o600);
    assert_eq!(secret_key(&ward.paths.run).expect("the same"), key);
}

#[tokio::test]
async fn half_written_files_go_to_the_trash() {
    let ward = Ward::new();
    for name in [".swarm/state/snapshot.json.tmp", ".swarm/run/daemons/r7.json.123.tmp"] {
        ward.scratch.write(name, "{ \"half\":");
        make_old(&ward.scratch.at(name));
    }
    ward.check("temporary", ".swarm/state/snapshot.json.tmp").await;
    assert!(names(&ward.paths.trash).iter().any(|name| name.starts_with("snapshot.json.tmp-")));
}
