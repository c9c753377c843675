//! The one way from a command to the swarm: its files, its ledger, or the coordinator that holds it.

pub mod history;
pub mod verdict;

use std::path::{Path, PathBuf};

use serde::Serialize;
use swarm_protocol::command::{Answer, Command};
use swarm_protocol::ids::TaskId;
use swarm_protocol::plan::{ExecutionProfile, PlanFile};
use swarm_protocol::time::Timestamp;
use swarm_protocol::view::{ApprovedPlanView, HandoffView, StatusView, TaskRow, TaskView};

use crate::cli::Context;
use crate::error::CliError;
use history::HistoryRow;
use verdict::Part;

/// A repository with (perhaps) a swarm in it.
#[derive(Debug)]
pub struct Swarm {
    root: PathBuf,
}

/// What `swarm init` did.
#[derive(Debug, Serialize)]
pub struct Made {
    pub created: Vec<String>,
    pub kept: Vec<String>,
}

/// One setting.
#[derive(Debug, Serialize)]
pub struct Setting {
    pub key: String,
    pub value: serde_json::Value,
    pub source: String,
}

fn later<T>() -> Result<T, CliError> {
    Err(CliError::environment("The ledger is not part of this build yet"))
}

impl Swarm {
    pub fn open(cx: &Context) -> Result<Self, CliError> {
        Ok(Self { root: cx.repo.clone() })
    }
    pub fn init(&self) -> Result<Made, CliError> {
        later()
    }
    pub fn now(&self) -> Timestamp {
        Timestamp::ZERO
    }
    pub fn ask(&self, _command: Command) -> Result<Answer, CliError> {
        later()
    }
    pub fn close(&self, _stop: bool) -> Result<Answer, CliError> {
        later()
    }
    pub fn salvage(&self) -> Result<Answer, CliError> {
        later()
    }
    pub fn status(&self, _at: Option<u64>) -> Result<(StatusView, Timestamp), CliError> {
        later()
    }
    pub fn tasks(&self, _at: Option<u64>) -> Result<Vec<TaskRow>, CliError> {
        later()
    }
    pub fn ready(&self, _at: Option<u64>) -> Result<Vec<TaskRow>, CliError> {
        later()
    }
    pub fn task(&self, _id: &TaskId, _at: Option<u64>) -> Result<TaskView, CliError> {
        later()
    }
    pub fn handoff(&self, _at: Option<u64>) -> Result<HandoffView, CliError> {
        later()
    }
    pub fn approved(&self, _at: Option<u64>) -> Result<ApprovedPlanView, CliError> {
        later()
    }
    pub fn plan_file(&self, _at: Option<u64>) -> Result<PlanFile, CliError> {
        later()
    }
    pub fn profile(&self, _at: Option<u64>) -> Result<ExecutionProfile, CliError> {
        later()
    }
    pub fn last_phase(&self) -> Result<u32, CliError> {
        later()
    }
    pub fn history(&self, _at: Option<u64>) -> Result<Vec<HistoryRow>, CliError> {
        later()
    }
    pub fn verify(&self) -> Result<Vec<Part>, CliError> {
        later()
    }
    pub fn rebuild(&self) -> Result<Vec<String>, CliError> {
        later()
    }
    pub fn settings(&self) -> Result<Vec<Setting>, CliError> {
        later()
    }
    pub fn export_places(&self) -> (PathBuf, PathBuf) {
        (self.root.join(".swarm/SWARM_PLAN.json"), self.root.join("SWARM_PLAN.json"))
    }
    pub fn export_artifacts(&self) -> Result<String, CliError> {
        later()
    }
    pub fn relative(&self, path: &Path) -> String {
        path.strip_prefix(&self.root).unwrap_or(path).display().to_string()
    }
    pub fn scratch_file(&self, _name: &str) -> Result<PathBuf, CliError> {
        later()
    }
    pub fn write_whole(&self, _file: &Path, _bytes: &[u8]) -> Result<(), CliError> {
        later()
    }
}
