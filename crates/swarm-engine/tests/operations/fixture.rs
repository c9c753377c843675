//! A swarm without agents, in this process: a person does the work of its tasks, the coordinator merges it and carries
//! operations out. Everything else is real: ledger, locks, git.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use swarm_agents::learnings::LearningFiles;
use swarm_agents::prompts::Prompts;
use swarm_core::State;
use swarm_engine::coordinator::{Coordinator, Finish, Told, Urge, World};
use swarm_engine::paths::Paths;
use swarm_engine::preview::{NoPreview, Place, preview};
use swarm_engine::settings;
use swarm_engine::store::{OpenOptions, Opened, Store, StoreError};
use swarm_git::Git;
use swarm_protocol::command::{Command, Envelope, SaveKind};
use swarm_protocol::config::Config;
use swarm_protocol::event::Event;
use swarm_protocol::ids::{CommandId, Oid};
use swarm_protocol::oplog::PreviewView;
use swarm_protocol::outcome::Mode;
use swarm_protocol::planfile;
use swarm_work::supervisor::{Launch, secret_key};
use tokio::sync::mpsc;

use crate::faults::BadDisk;
use crate::git_scratch::{commit_all, git_in, task, write};

/// Nothing here takes longer; what does hangs.
const WITHIN: Duration = Duration::from_secs(40);

const PLAN: &str =
    "# Ship it\n## Phase 1: Base\n- [ ] 1.1 First\n- [ ] 1.2 Second\n- [ ] 1.3 Third\n- [ ] 1.4 Fourth\n";

pub struct Fixture {
    pub repo: PathBuf,
    pub paths: Paths,
    pub config: Config,
    /// On which the ledger lies of whoever coordinates.
    pub disk: Option<BadDisk>,
}

impl Fixture {
    pub async fn at(repo: &Path) -> Self {
        let git = Git::discover(repo).await.expect("a fit repository");
        let paths = Paths::new(&git.main_checkout, &git.common_dir);
        let config =
            settings::load(&paths.config, &Default::default(), &[]).expect("a good configuration").config;
        // Nothing starts by itself: there is nobody here to do it.
        let config = Config { mode: Mode::SemiAuto, ..config };
        Self { repo: repo.to_owned(), paths, config, disk: None }
    }

    pub async fn with_plan(repo: &Path) -> Self {
        let fixture = Self::at(repo).await;
        let plan = planfile::parse("test", PLAN.as_bytes()).expect("a plan");
        let save = Command::SavePlan {
            plan,
            kind: SaveKind::Save,
            source: "test".into(),
            reset_statuses: false,
            planning: None,
        };
        fixture.ask(save).expect("a plan can be saved");
        fixture
    }

    async fn world(&self, plan: String) -> Arc<World> {
        let git = Git::discover(&self.repo).await.expect("a fit repository");
        Arc::new(World {
            git,
            paths: self.paths.clone(),
            config: self.config.clone(),
            trunk: std::sync::RwLock::new("main".into()),
            launch: Launch::of("/bin/false"),
            agent: self.config.agent.clone(),
            agent_chosen: false,
            reviewer_chosen: false,
            prompts: Prompts::load(&self.paths.swarm.join("prompts")).expect("the built-in ones"),
            learnings: LearningFiles::new(&self.paths.swarm),
            plan,
            tending: Default::default(),
            previewing: Default::default(),
            armed: Default::default(),
            containment: Default::default(),
            key: secret_key(&self.paths.run).expect("a key"),
        })
    }

    /// One command by a process that ends with it, as where nobody coordinates.
    pub fn ask(&self, command: Command) -> Result<CommandId, StoreError> {
        let id = CommandId::new(ulid::Ulid::generate().to_string()).expect("a good id");
        let mut store = match Store::open_writer(&self.paths, OpenOptions::new("test"))? {
            Opened::Writer(store) => store,
            Opened::Busy(owner) => panic!("busy: {owner:?}"),
        };
        let now = store.clock().now();
        store.submit_blocking(Envelope { id: id.clone(), by: "person:test".into(), command }, now)?;
        store.finish()?;
        Ok(id)
    }

    pub fn state(&self) -> State {
        Store::open_reader(&self.paths, &OpenOptions::new("test"), None).expect("readable").state
    }

    /// What the command would do.
    pub async fn preview(&self, command: &Command) -> Result<PreviewView, NoPreview> {
        let git = Git::discover(&self.repo).await.expect("a fit repository");
        let place = Place { git: &git, paths: &self.paths, trunk: "main", regenerate: &[] };
        let state = self.state();
        preview(&place, &state, command, state.at).await
    }

    /// One that has taken over and has not begun.
    pub async fn coordinator(&self, dispatch: bool) -> Coordinator {
        let mut options = OpenOptions::new("test");
        if let Some(disk) = &self.disk {
            options.vfs = Arc::new(disk.clone());
        }
        let store = match Store::become_coordinator(&self.paths, options).expect("a ledger") {
            Opened::Writer(store) => store,
            Opened::Busy(owner) => panic!("busy: {owner:?}"),
        };
        let world = self.world(store.ledger_id().unwrap_or_default().to_owned()).await;
        Coordinator::start(store, world, dispatch).await.expect("it starts")
    }

    /// Coordinates until nothing more happens; `enough` says when it is asked to stop.
    pub async fn coordinate(&self, dispatch: bool, mut enough: impl FnMut(&Event) -> bool) -> Finish {
        let mut coordinator = self.coordinator(dispatch).await;
        let (_knocks, mut socket) = mpsc::channel(1);
        let (urge, mut urges) = mpsc::channel(1);
        let tell = |told: Told<'_>| {
            if told.iter().any(|(_, _, event)| enough(event)) {
                let _ = urge.try_send(Urge::Drain("Ctrl+C"));
            }
        };
        let run = tokio::time::timeout(WITHIN, coordinator.run(&mut socket, &mut urges, tell));
        let finish = run.await.expect("it comes to rest").expect("no store fails");
        coordinator.leave().await.expect("it leaves");
        finish
    }

    /// Carries out what is owed and starts nothing.
    pub async fn finish(&self) {
        self.coordinate(false, |_| false).await;
    }

    /// The command, carried out to its end. Fails where the operation does.
    pub async fn operate(&self, command: Command) -> Result<CommandId, String> {
        let id = self.ask(command).map_err(|error| error.to_string())?;
        self.finish().await;
        let state = self.state();
        assert!(state.ops.running.is_none(), "{:?}", state.ops.running);
        match state.ops.record(&id).and_then(|record| record.failed.clone()) {
            Some((why, hint)) => Err(format!("{why} | {hint}")),
            None => Ok(id),
        }
    }

    /// Somebody does a task: these files, one commit on its branch, on top of trunk.
    pub fn work(&self, name: &str, files: &[(&str, &str)]) {
        let aside = self.repo.with_file_name(format!("aside-{name}"));
        git_in(&self.repo, ["worktree", "add", "--quiet", "--detach", path(&aside), "main"]);
        let base = Oid::new(git_in(&aside, ["rev-parse", "HEAD"])).expect("an oid");
        for (path, text) in files {
            write(&aside, path, text.as_bytes());
        }
        let tip = commit_all(&aside, &format!("feat: {name}"));
        let tree = Oid::new(git_in(&aside, ["rev-parse", "HEAD^{tree}"])).expect("an oid");
        git_in(&self.repo, ["update-ref", &format!("refs/heads/swarm/{name}"), tip.as_str()]);
        git_in(&self.repo, ["worktree", "remove", "--force", path(&aside)]);
        self.ask(Command::SubmitWork { task: task(name), base, tip, tree }).expect("work can be submitted");
    }

    /// The same, merged.
    pub async fn merge(&self, name: &str, files: &[(&str, &str)]) {
        self.work(name, files);
        let id = task(name);
        self.coordinate(true, |event| matches!(event, Event::MergeCompleted { task, .. } if *task == id))
            .await;
        assert_eq!(self.stage(name), "Done");
    }

    pub fn stage(&self, name: &str) -> &'static str {
        self.state().task(&task(name)).expect("a task").stage.name()
    }
}

fn path(path: &Path) -> &str {
    path.to_str().expect("a plain path")
}

/// Started by tests; on its own it does nothing. Dies as soon as a record of this kind is durable, or by another's hand.
#[test]
fn coordinator_that_dies() {
    let Some(repo) = std::env::var_os("COORDINATE_REPO").map(PathBuf::from) else { return };
    let kind = std::env::var("DIE_AT").expect("a kind of record");
    let dispatch = std::env::var_os("DISPATCH").is_some();
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    runtime.block_on(async {
        let fixture = Fixture::at(&repo).await;
        fixture
            .coordinate(dispatch, |event| {
                if event.kind() == kind {
                    let myself = rustix::process::getpid();
                    rustix::process::kill_process(myself, rustix::process::Signal::KILL).expect("we may");
                }
                false
            })
            .await;
    });
}

/// Coordinates in another process; true when that died.
pub fn coordinate_and_die(repo: &Path, at: &str, dispatch: bool) -> bool {
    let mut child = std::process::Command::new(std::env::current_exe().expect("a test program has a path"));
    child.args(["--exact", "fixture::coordinator_that_dies", "--test-threads=1", "--nocapture"]);
    child.env("COORDINATE_REPO", repo).env("DIE_AT", at).stdin(std::process::Stdio::null());
    if dispatch {
        child.env("DISPATCH", "1");
    }
    !child.output().expect("it starts").status.success()
}
