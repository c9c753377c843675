//! U7: each planted disorder is found and named, gone after `--fix`, and nothing is lost by it.

mod git_scratch;
mod store_support;

use std::collections::BTreeMap;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use git_scratch::{Scratch, commit_all, git_in, task, write};
use store_support::{PLAN, names, save};
use swarm_core::State;
use swarm_core::input::{Input, Report};
use swarm_engine::daemon::{DaemonSpec, RunFiles};
use swarm_engine::doctor::{self, CHECKS, Health, examine};
use swarm_engine::hands::worktree::{BaseRule, prepare};
use swarm_engine::paths::Paths;
use swarm_engine::process::NONCE_VARIABLE;
use swarm_engine::store::{OpenOptions, Opened, Store};
use swarm_engine::supervisor::secret_key;
use swarm_protocol::channel::RunKind;
use swarm_protocol::command::{Command, Envelope};
use swarm_protocol::ids::{AgentId, CommandId, RunId};
use swarm_protocol::outcome::Mode;
use swarm_protocol::policy::Policy;

/// A repository with a saved plan of two tasks, in perfect order.
struct Ward {
    scratch: Scratch,
    paths: Paths,
}

impl Ward {
    fn new() -> Self {
        let scratch = Scratch::new();
        let paths = Paths::new(&scratch.repo, &scratch.repo.join(".git"));
        let ward = Self { scratch, paths };
        ward.configure(r#"{ "agent": "script" }"#);
        ward.command(save(PLAN));
        ward
    }

    fn configure(&self, text: &str) {
        self.scratch.write(".swarm/config.json", text);
    }

    fn store(&self, role: &str) -> Store {
        match Store::open_writer(&self.paths, OpenOptions::new(role)).expect("the ledger opens") {
            Opened::Writer(store) => store,
            Opened::Busy(owner) => panic!("busy: {owner:?}"),
        }
    }

    fn command(&self, command: Command) {
        let mut store = self.store("test");
        ask(&mut store, command);
        store.finish().expect("it ends");
    }

    fn state(&self) -> State {
        Store::open_reader(&self.paths, &OpenOptions::new("read"), None).expect("readable").state
    }

    async fn look(&self) -> doctor::Report {
        examine(&self.scratch.repo, &BTreeMap::new(), false).await
    }

    async fn fix(&self) -> doctor::Report {
        examine(&self.scratch.repo, &BTreeMap::new(), true).await
    }

    /// Found and named; gone after the fix; nothing lost.
    async fn check(&self, id: &str, subject: &str) {
        let found = self.look().await;
        let named = |report: &doctor::Report, fixed: bool| {
            report.findings.iter().any(|one| {
                one.id == id && one.subject == subject && one.state == Health::Problem && one.fixed == fixed
            })
        };
        assert!(named(&found, false), "{id} {subject} is not found: {}", shown(&found));
        let (refs, tasks) = (self.refs(), self.state().tasks);
        let fixed = self.fix().await;
        assert!(named(&fixed, true), "{id} {subject} is not fixed: {}", shown(&fixed));
        assert_eq!(fixed.problems, 0, "{}", shown(&fixed));
        let after = self.look().await;
        assert_eq!(after.problems, 0, "{}", shown(&after));
        for commit in refs.values() {
            let holders = self.scratch.git(["for-each-ref", "--contains", commit]);
            assert!(!holders.is_empty(), "no ref holds {commit} any more");
        }
        assert_eq!(self.state().tasks, tasks, "no task was changed");
    }

    /// Every commit that has a ref.
    fn refs(&self) -> BTreeMap<String, String> {
        let text = self.scratch.git(["for-each-ref", "--format=%(refname) %(objectname) %(objecttype)"]);
        let words = text.lines().map(|line| line.split(' ').collect::<Vec<_>>());
        words.filter(|w| w[2] == "commit").map(|w| (w[0].to_owned(), w[1].to_owned())).collect()
    }

    async fn worktree(&self, id: &str) -> PathBuf {
        let git = self.scratch.open().await;
        let base = BaseRule::Trunk("main".into());
        prepare(&git, &task(id), &self.paths.worktrees, &base).await.expect("a worktree").path
    }

    /// A coordinator gave 1.1 to an agent, its worktree was made, and then the coordinator died.
    async fn begin_work(&self) -> PathBuf {
        let path = self.worktree("1.1").await;
        let base = self.scratch.oid("main");
        let mut store = self.store("test");
        let policy = Policy::default();
        let (version, host, trunk) = ("0".into(), "here".into(), "main".into());
        submit(&mut store, Input::Started { epoch: 1, version, host, trunk, policy });
        ask(&mut store, Command::SetMode { mode: Mode::Autopilot });
        let prepared = Report::Prepared {
            run: RunId::nth(1),
            branch: "swarm/1.1".into(),
            base: base.clone(),
            tip: base,
        };
        submit(&mut store, Input::Report(prepared));
        store.finish().expect("it ends");
        assert!(self.state().tasks[&task("1.1")].base.is_some(), "the work has begun");
        path
    }
}

fn submit(store: &mut Store, input: Input) {
    let now = store.clock().now();
    store.submit(input, now, "swarm:coordinator").expect("accepted").ticket.wait().expect("durable");
}

/// A refusal is none of our business here: the mode may be the wanted one already.
fn ask(store: &mut Store, command: Command) {
    let id = CommandId::new(format!("c{}", store.state().seq)).expect("an id");
    let now = store.clock().now();
    let _ = store.submit_blocking(Envelope { id, by: "person:test".into(), command }, now);
}

fn shown(report: &doctor::Report) -> String {
    let bad = report.findings.iter().filter(|one| one.state != Health::Ok);
    bad.map(|one| format!("\n  {} {} {} {:?} fixed={}", one.id, one.subject, one.what, one.fix, one.fixed))
        .collect()
}

fn make_old(path: &Path) {
    let file = std::fs::File::options().append(true).open(path).expect("it is there");
    file.set_modified(SystemTime::now() - Duration::from_secs(3600)).expect("times can be set");
}

#[tokio::test]
async fn a_swarm_in_order_has_no_problem_and_every_check_speaks() {
    let ward = Ward::new();
    let report = ward.look().await;
    assert_eq!(report.problems, 0, "{}", shown(&report));
    for check in CHECKS {
        assert!(report.findings.iter().any(|one| one.id == check.id), "{} was not looked at", check.id);
    }
    let before = names(&ward.paths.swarm);
    assert_eq!(ward.fix().await.fixed, 0, "nothing to fix");
    assert_eq!(names(&ward.paths.swarm), before);
}

#[tokio::test]
async fn locks_of_a_dead_git_are_removed_and_those_of_a_living_one_stay() {
    let ward = Ward::new();
    for name in ["index.lock", "refs/heads/main.lock"] {
        write(&ward.scratch.repo, Path::new(".git").join(name), b"");
        make_old(&ward.scratch.at(".git").join(name));
    }
    ward.check("git-lock", ".git/index.lock").await;
    assert!(
        !ward.scratch.at(".git/index.lock").exists()
            && !ward.scratch.at(".git/refs/heads/main.lock").exists()
    );
    ward.scratch.git(["commit", "--quiet", "--allow-empty", "-m", "git works again"]);
    // A fresh lock may be somebody's.
    ward.scratch.write(".git/index.lock", "");
    assert_eq!(ward.fix().await.problems, 0);
    assert!(ward.scratch.at(".git/index.lock").exists());
}

#[tokio::test]
async fn a_worktree_that_git_was_killed_on_is_unlocked() {
    let ward = Ward::new();
    ward.begin_work().await;
    let lock = ward.scratch.at(".git/worktrees/1.1/locked");
    std::fs::write(&lock, "initializing").expect("git's record of the worktree");
    make_old(&lock);
    ward.check("git-lock", ".git/worktrees/1.1/locked").await;
    // A person's own lock is none of ours.
    std::fs::write(&lock, "on a stick").expect("writable");
    make_old(&lock);
    ward.fix().await;
    assert!(lock.exists());
}

#[tokio::test]
async fn an_orphan_worktree_goes_to_the_trash_after_its_files_are_on_a_ref() {
    let ward = Ward::new();
    let path = ward.worktree("ghost").await;
    let tip = commit_all(&path, "committed by a ghost");
    write(&path, "unsaved.txt", b"not committed\n");
    ward.check("worktree-orphan", ".swarm/worktrees/ghost").await;
    assert!(!path.exists());
    assert!(!ward.scratch.git(["for-each-ref", "--contains", tip.as_str()]).is_empty());
    let rescued = ward.scratch.git(["for-each-ref", "--format=%(objectname)", "refs/swarm/rescue/ghost"]);
    assert_eq!(ward.scratch.git(["show", &format!("{rescued}:unsaved.txt")]), "not committed");
    assert!(names(&ward.paths.trash).iter().any(|name| name.starts_with("ghost-")));
}

#[tokio::test]
async fn an_orphan_that_cannot_be_proven_disposable_stays_and_says_why() {
    let ward = Ward::new();
    let path = ward.worktree("ghost").await;
    write(&path, "ignored/keys.txt", b"mine\n");
    let fixed = ward.fix().await;
    let orphan = fixed.findings.iter().find(|one| one.id == "worktree-orphan").expect("told");
    let why = orphan.fix.as_deref().unwrap_or_default();
    assert!(why.contains("kept: ignored") && !orphan.fixed, "{orphan:?}");
    assert!(path.join("ignored/keys.txt").exists());
    // A folder that the swarm did not make is only named.
    std::fs::create_dir_all(ward.paths.worktrees.join("mine")).expect("a folder");
    let report = ward.fix().await;
    let mine = report.findings.iter().find(|one| one.subject.ends_with("/mine")).expect("told");
    assert_eq!(mine.state, Health::Note);
}

#[tokio::test]
async fn a_deleted_worktree_is_forgotten_and_its_lone_commit_kept() {
    let ward = Ward::new();
    let path = ward.worktree("1.1").await;
    git_in(&path, ["switch", "--quiet", "--detach"]);
    let lone = commit_all(&path, "on no branch");
    std::fs::remove_dir_all(&path).expect("deleted by hand");
    ward.check("worktree-gone", ".swarm/worktrees/1.1").await;
    assert!(!ward.scratch.git(["for-each-ref", "--contains", lone.as_str()]).is_empty());
    assert_eq!(ward.scratch.git(["worktree", "list"]).lines().count(), 1);
    ward.worktree("1.1").await;
}

#[tokio::test]
async fn a_deleted_branch_is_made_again_at_its_last_commit() {
    let ward = Ward::new();
    let path = ward.begin_work().await;
    write(&path, "work.txt", b"done\n");
    let tip = commit_all(&path, "work");
    ward.scratch.git(["update-ref", "-d", "refs/heads/swarm/1.1"]);
    ward.check("task-branch", "swarm/1.1").await;
    assert_eq!(ward.scratch.oid("swarm/1.1"), tip);
    assert_eq!(git_in(&path, ["status", "--porcelain"]), "");
}

#[tokio::test]
async fn damaged_snapshots_are_made_anew() {
    let ward = Ward::new();
    for _ in 0..2 {
        let mut store = ward.store("test");
        store.write_snapshot().expect("written");
        store.finish().expect("it ends");
    }
    for path in [&ward.paths.snapshot, &ward.paths.snapshot_prev] {
        let mut bytes = std::fs::read(path).expect("a snapshot");
        let middle = bytes.len() / 2;
        bytes[middle] ^= 1;
        std::fs::write(path, bytes).expect("writable");
    }
    ward.check("snapshot", ".swarm/state/snapshot.json").await;
    assert!(ward.paths.snapshot.exists());
}

#[tokio::test]
async fn an_edited_projection_is_made_anew_and_the_edited_one_kept() {
    let ward = Ward::new();
    let good = std::fs::read_to_string(&ward.paths.plan_json).expect("a projection");
    std::fs::write(&ward.paths.plan_json, good.replace("First", "Worst")).expect("writable");
    ward.check("projections", ".swarm/plan.json").await;
    assert_eq!(std::fs::read_to_string(&ward.paths.plan_json).expect("there"), good);
    let kept = std::fs::read_to_string(ward.paths.swarm.join("plan.json.edited-1")).expect("kept beside");
    assert!(kept.contains("Worst"));
    std::fs::write(&ward.paths.plan_md, [0xff; 100]).expect("writable");
    ward.check("projections", ".swarm/plan.md").await;
}

/// What a run has on disk while it lives.
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
async fn an_overdue_trash_is_emptied_and_a_young_one_is_not() {
    let ward = Ward::new();
    ward.configure(r#"{ "agent": "script", "worktree": { "trash": "1s" } }"#);
    let old = ward.paths.trash.join("1.1-2020-01-01T00-00-00");
    write(&old, "file.txt", b"old\n");
    let start = std::time::Instant::now();
    while ward.look().await.problems == 0 {
        assert!(start.elapsed() < Duration::from_secs(60), "it never becomes overdue");
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    ward.check("trash", "").await;
    assert!(!old.exists());
    ward.configure(r#"{ "agent": "script" }"#);
    write(&old, "file.txt", b"young\n");
    assert_eq!(ward.fix().await.fixed, 0);
    assert!(old.exists());
}

#[tokio::test]
async fn a_full_trash_loses_its_oldest_things_only() {
    let ward = Ward::new();
    for n in 0..1002 {
        write(&ward.paths.trash, format!("thing-{n:04}"), b"x");
    }
    ward.check("trash", "").await;
    assert_eq!(names(&ward.paths.trash).len(), 1000);
}

#[tokio::test]
async fn a_torn_tail_of_the_ledger_is_cut_and_kept_in_quarantine() {
    let ward = Ward::new();
    let mut bytes = std::fs::read(&ward.paths.ledger).expect("the ledger");
    let whole = bytes.len();
    bytes.extend_from_slice(br#"{"len":"0000412","seq":99,"#);
    std::fs::write(&ward.paths.ledger, &bytes).expect("writable");
    ward.check("ledger", "").await;
    let now = std::fs::read(&ward.paths.ledger).expect("the ledger");
    assert_eq!(now[..whole], bytes[..whole], "no written record was touched");
    assert!(names(&ward.paths.swarm).iter().any(|name| name.starts_with("plan-ledger.quarantine")));
}

#[tokio::test]
async fn a_second_copy_that_is_behind_or_gone_is_brought_up_to_date() {
    let ward = Ward::new();
    let whole = std::fs::read(&ward.paths.second_copy).expect("the copy");
    std::fs::write(&ward.paths.second_copy, &whole[..whole.len() / 2]).expect("writable");
    ward.check("second-copy", "").await;
    assert!(std::fs::read(&ward.paths.second_copy).expect("the copy").starts_with(&whole));
    std::fs::remove_file(&ward.paths.second_copy).expect("deleted");
    ward.check("second-copy", "").await;
    assert!(std::fs::read(&ward.paths.second_copy).expect("the copy").starts_with(&whole));
}

#[tokio::test]
async fn a_record_that_rotted_is_repaired_from_the_second_copy() {
    let ward = Ward::new();
    let good = std::fs::read(&ward.paths.ledger).expect("the ledger");
    let mut bad = good.clone();
    bad[good.len() / 2] ^= 1;
    std::fs::write(&ward.paths.ledger, &bad).expect("writable");
    let found = ward.look().await;
    assert!(
        found.findings.iter().any(|one| one.id == "ledger" && one.state == Health::Problem),
        "{}",
        shown(&found)
    );
    assert_eq!(ward.fix().await.problems, 0);
    assert!(std::fs::read(&ward.paths.ledger).expect("the ledger").starts_with(&good), "every byte is back");
    assert_eq!(ward.state().tasks.len(), 2);
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

#[tokio::test]
async fn beside_a_coordinator_only_what_is_safe_is_put_right() {
    let ward = Ward::new();
    let key = ward.paths.run.join("secret.key");
    secret_key(&ward.paths.run).expect("a key");
    std::fs::set_permissions(&key, std::fs::Permissions::from_mode(0o644)).expect("ours");
    ward.scratch.write(".swarm/state/snapshot.json.tmp", "half");
    make_old(&ward.scratch.at(".swarm/state/snapshot.json.tmp"));
    let owner = match Store::become_coordinator(&ward.paths, OpenOptions::new("coordinator")).expect("opens")
    {
        Opened::Writer(store) => store,
        Opened::Busy(owner) => panic!("busy: {owner:?}"),
    };
    let report = ward.fix().await;
    let of = |id: &str| report.findings.iter().find(|one| one.id == id).expect("told").clone();
    assert!(of("permissions").fixed, "{}", shown(&report));
    let half = of("temporary");
    assert!(!half.fixed && half.fix.as_deref().unwrap_or_default().contains("swarm stop"), "{half:?}");
    assert!(ward.scratch.at(".swarm/state/snapshot.json.tmp").exists());
    owner.finish().expect("it ends");
    assert_eq!(ward.fix().await.problems, 0);
}

#[tokio::test]
async fn what_only_a_person_can_mend_is_named_with_the_command() {
    let ward = Ward::new();
    ward.scratch.git(["branch", "swarm"]);
    ward.configure(r#"{ "agent": "no-such-program", "maxIterations": "many" }"#);
    let report = ward.look().await;
    let fix_of = |id: &str| {
        let found = report.findings.iter().find(|one| one.id == id && one.state == Health::Problem);
        found
            .unwrap_or_else(|| panic!("{id} is not found: {}", shown(&report)))
            .fix
            .clone()
            .unwrap_or_default()
    };
    assert_eq!(fix_of("branch-in-the-way"), "git branch -m swarm swarm-old");
    fix_of("config");
    ward.configure(r#"{ "agent": "no-such-program" }"#);
    let report = ward.look().await;
    assert!(report.findings.iter().any(|one| one.id == "agent" && one.state == Health::Problem));
    let nowhere = tempfile::tempdir().expect("a folder");
    let report = examine(nowhere.path(), &BTreeMap::new(), true).await;
    assert!(report.findings.iter().any(|one| one.id == "repository" && one.state == Health::Problem));
}
