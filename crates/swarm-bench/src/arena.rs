//! A repository of its own under a home of its own, with as many files as wanted.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context as _, Result, bail};
use serde_json::{Value, json};

use crate::setting::Setting;

/// Files of one folder of the repository.
const FILES_PER_FOLDER: usize = 50;

pub struct Arena {
    home: PathBuf,
    pub root: PathBuf,
    pub swarm: PathBuf,
}

/// One task of a plan: its id, what it waits for, and what the scripted agent does.
pub struct Planned {
    pub id: String,
    pub depends: Vec<String>,
    pub script: String,
}

impl Planned {
    pub fn new(id: impl Into<String>, script: impl Into<String>) -> Self {
        Self { id: id.into(), depends: Vec::new(), script: script.into() }
    }

    pub fn after(mut self, other: impl Into<String>) -> Self {
        self.depends.push(other.into());
        self
    }
}

impl Arena {
    /// A repository with one commit of so many files, and this configuration on top of the bench's own.
    pub fn new(setting: &Setting, name: &str, files: usize, config: Value) -> Result<Self> {
        let home = setting.place.dir(name)?;
        let root = home.join("repo");
        std::fs::create_dir_all(root.join(".swarm"))?;
        let arena = Self { home, root, swarm: setting.swarm.clone() };
        arena.git(["init", "--quiet", "--initial-branch=main"])?;
        for (key, value) in [("user.name", "A person"), ("user.email", "person@localhost"), ("gc.auto", "0")]
        {
            arena.git(["config", key, value])?;
        }
        arena.fill(files)?;
        arena.git(["add", "--all"])?;
        arena.git(["commit", "--quiet", "--message", "start"])?;
        // As after a clone that is not of this second: no entry of the index is racy.
        arena.git(["status", "--short"])?;
        std::fs::write(arena.root.join(".swarm/config.json"), with_defaults(config).to_string())?;
        Ok(arena)
    }

    fn fill(&self, files: usize) -> Result<()> {
        std::fs::write(self.root.join("README.md"), "hello\n")?;
        for n in 0..files {
            let folder = self.root.join(format!("src/part{:04}", n / FILES_PER_FOLDER));
            if n % FILES_PER_FOLDER == 0 {
                std::fs::create_dir_all(&folder)?;
            }
            let text = format!("file number {n}\n").repeat(12);
            std::fs::write(folder.join(format!("file{n:05}.txt")), text)?;
        }
        Ok(())
    }

    /// A path beside the repository.
    pub fn beside(&self, name: &str) -> PathBuf {
        self.home.join(name)
    }

    /// A folder beside the repository.
    pub fn folder_beside(&self, name: &str) -> Result<PathBuf> {
        let folder = self.beside(name);
        std::fs::create_dir_all(&folder)?;
        Ok(folder)
    }

    pub fn with_home(&self, command: &mut Command) {
        command.env("HOME", &self.home).env_remove("XDG_CONFIG_HOME").env("GIT_CONFIG_NOSYSTEM", "1");
        for (name, _) in std::env::vars_os().filter(|(name, _)| name.to_string_lossy().starts_with("SWARM_"))
        {
            command.env_remove(name);
        }
    }

    pub fn git<A: AsRef<OsStr>>(&self, args: impl IntoIterator<Item = A>) -> Result<String> {
        self.git_in(&self.root, args)
    }

    pub fn git_in<A: AsRef<OsStr>>(&self, dir: &Path, args: impl IntoIterator<Item = A>) -> Result<String> {
        let mut command = Command::new("git");
        self.with_home(&mut command);
        command.current_dir(dir).args(args);
        output_of(command)
    }

    pub fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(&self.swarm);
        self.with_home(&mut command);
        command.arg("-C").arg(&self.root).args(args).stdin(Stdio::null());
        command
    }

    /// A command that must succeed; its stdout.
    pub fn ok(&self, args: &[&str]) -> Result<String> {
        output_of(self.command(args))
    }

    pub fn save_plan(&self, tasks: &[Planned]) -> Result<()> {
        let tasks: Vec<Value> = tasks
            .iter()
            .map(|task| {
                json!({
                    "id": task.id, "title": format!("Do {}", task.id), "depends": task.depends,
                    "description": format!("```script\n{}\n```", task.script),
                })
            })
            .collect();
        let plan = json!({ "goal": "measure", "phases": [{ "id": 1, "name": "all", "tasks": tasks }] });
        let file = self.beside("plan.json");
        std::fs::write(&file, plan.to_string())?;
        self.ok(&["plan", "save", file.to_str().context("a path of text")?]).map(drop)
    }

    /// How many tasks have this status.
    pub fn tasks_with(&self, status: &str) -> Result<usize> {
        let tasks: Value = serde_json::from_str(&self.ok(&["task", "list", "--json"])?)?;
        let tasks = tasks.as_array().context("a list of tasks")?;
        Ok(tasks.iter().filter(|task| task["status"] == status).count())
    }
}

/// The bench's agents stamp files outside their worktrees, hence no sandbox; ready tasks start by
/// themselves and nobody reviews; the end of a bench is quick.
fn with_defaults(config: Value) -> Value {
    let mut all = json!({
        "agent": "script", "mode": "autopilot", "sandbox": "none", "review": { "policy": "none" },
        "stop": { "grace": "1s", "drain": "0s" },
    });
    if let (Some(all), Value::Object(config)) = (all.as_object_mut(), config) {
        all.extend(config);
    }
    all
}

pub fn output_of(mut command: Command) -> Result<String> {
    let out = command.output().with_context(|| format!("Cannot start {command:?}"))?;
    if !out.status.success() {
        bail!("{command:?}: {}", String::from_utf8_lossy(&out.stderr).trim());
    }
    Ok(String::from_utf8(out.stdout)?)
}
