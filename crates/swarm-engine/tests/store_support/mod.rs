//! A place for a swarm, and the few words in which its tests are written.
#![allow(dead_code, reason = "each test file uses its own part")]

use std::path::Path;
use std::time::Duration;

use swarm_core::State;
use swarm_core::input::Input;
use swarm_engine::paths::Paths;
use swarm_engine::store::{Notice, OpenOptions, Opened, Reading, Store, StoreError};
use swarm_protocol::command::{Answer, Command, Envelope, SaveKind};
use swarm_protocol::ids::{CommandId, TaskId};
use swarm_protocol::plan::TaskSpec;
use swarm_protocol::planfile;

pub struct Place {
    _dir: tempfile::TempDir,
    pub paths: Paths,
    pub options: OpenOptions,
}

pub fn place() -> Place {
    let dir = tempfile::tempdir().expect("a folder");
    let root = dir.path().join("repo");
    std::fs::create_dir_all(root.join(".git")).expect("a folder");
    let paths = Paths::new(&root, &root.join(".git"));
    let options = OpenOptions { wait: Duration::from_secs(60), ..OpenOptions::new("test") };
    Place { _dir: dir, paths, options }
}

pub fn task(id: &str) -> TaskId {
    TaskId::new(id).expect("an id")
}

pub fn add(id: &str) -> Command {
    Command::AddTask { phase: None, after: None, task: TaskSpec::new(task(id), format!("Do {id}")) }
}

pub fn save(text: &str) -> Command {
    let plan = planfile::parse("test", text.as_bytes()).expect("a plan");
    Command::SavePlan {
        plan,
        kind: SaveKind::Save,
        source: "test".into(),
        reset_statuses: false,
        planning: None,
    }
}

pub const PLAN: &str = "# Ship it\n## Phase 1: Base\n- [ ] 1.1 First\n- [ ] 1.2 Second\n  depends: 1.1\n";

impl Place {
    pub fn open(&self) -> Result<Store, StoreError> {
        match Store::open_writer(&self.paths, self.options.clone())? {
            Opened::Writer(store) => Ok(store),
            Opened::Busy(owner) => panic!("busy: {owner:?}"),
        }
    }

    /// One command by a process of its own, as the CLI does it.
    pub fn run_as(&self, id: &str, command: Command) -> Result<(Answer, Vec<Notice>), StoreError> {
        let mut store = self.open()?;
        let mut notices = store.take_notices();
        let id = CommandId::new(id).expect("an id");
        let now = store.clock().now();
        let answer = store.submit_blocking(Envelope { id, by: "person:test".into(), command }, now)?;
        notices.extend(store.finish()?);
        Ok((answer, notices))
    }

    pub fn run(&self, command: Command) -> Result<(Answer, Vec<Notice>), StoreError> {
        static NEXT: std::sync::atomic::AtomicU64 = std::sync::atomic::AtomicU64::new(1);
        let n = NEXT.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        self.run_as(&format!("c{n}"), command)
    }

    pub fn read(&self) -> Reading {
        Store::open_reader(&self.paths, &self.options, None).expect("readable")
    }

    pub fn read_at(&self, seq: u64) -> Result<Reading, StoreError> {
        Store::open_reader(&self.paths, &self.options, Some(seq))
    }

    pub fn tasks(&self) -> String {
        ids(&self.read().state)
    }
}

pub fn ids(state: &State) -> String {
    let ids: Vec<&str> = state.tasks_in_order().map(|task| task.spec.id.as_str()).collect();
    ids.join(" ")
}

pub fn text_of(path: &Path) -> String {
    std::fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// Names in a folder, sorted.
pub fn names(dir: &Path) -> Vec<String> {
    let Ok(entries) = std::fs::read_dir(dir) else { return vec![] };
    let mut names: Vec<String> =
        entries.flatten().map(|e| e.file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    names
}

/// The whole chain of an error, as the CLI prints it.
pub fn describe(error: &StoreError) -> String {
    let mut text = error.to_string();
    let mut source = std::error::Error::source(error);
    while let Some(cause) = source {
        text.push_str(": ");
        text.push_str(&cause.to_string());
        source = cause.source();
    }
    text
}

pub fn command(n: u64, command: Command) -> Input {
    let id = CommandId::new(format!("p{n}")).expect("an id");
    Input::Command(Envelope { id, by: "person:test".into(), command })
}
