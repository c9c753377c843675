//! U7: each planted disorder is found and named, gone after `--fix`, and nothing is lost by it.

use crate::git_scratch;
use crate::store_support;
#[path = "doctor_disorders/worktrees.rs"]
mod worktrees;
#[path = "doctor_disorders/ledger.rs"]
mod ledger;
#[path = "doctor_disorders/runs.rs"]
mod runs;
#[path = "doctor_disorders/trash.rs"]
mod trash;

use std::collections::BTreeMap;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use git_scratch::{Scratch, commit_all, git_in, task, write};
use store_support::{PLAN, names, save};
use swarm_core::State;
use swarm_core::input::{Input, Report};
use swarm_engine::doctor::{CHECKS, examine};
use swarm_engine::paths::Paths;
use swarm_engine::store::{OpenOptions, Opened, Store};
use swarm_process::NONCE_VARIABLE;
use swarm_protocol::channel::RunKind;
use swarm_protocol::command::{Command, Envelope};
use swarm_protocol::doctor::{DoctorView, Health};
use swarm_protocol::ids::{AgentId, CommandId, RunId};
use swarm_protocol::outcome::Mode;
use swarm_protocol::policy::Policy;
use swarm_work::daemon::{DaemonSpec, RunFiles};
use swarm_work::supervisor::secret_key;
use swarm_work::worktree::{BaseRule, prepare};

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

    async fn look(&self) -> DoctorView {
        examine(&self.scratch.repo, &BTreeMap::new(), false).await
    }

    async fn fix(&self) -> DoctorView {
        examine(&self.scratch.repo, &BTreeMap::new(), true).await
    }

    /// Found and named; gone after the fix; nothing lost.
    async fn check(&self, id: &str, subject: &str) {
        let found = self.look().await;
        let named = |report: &DoctorView, fixed: bool| {
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

fn shown(report: &DoctorView) -> String {
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
