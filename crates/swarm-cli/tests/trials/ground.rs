//! What the trials add to the arena: settings, plans in phases, and looks at what is left behind.

use std::path::PathBuf;
use std::time::Duration;

use serde_json::{Value, json};

use crate::arena::{Arena, Running, files_below, holds_within};

/// The small number, or the promised one when `SWARM_TRIALS=full`.
pub fn scaled(small: u64, full: u64) -> u64 {
    if std::env::var("SWARM_TRIALS").is_ok_and(|value| value == "full") { full } else { small }
}

/// An arena whose settings are quick, changed by these members.
pub fn arena_with(changes: Value) -> Arena {
    let mut config = json!({
        "mode": "autopilot",
        "recovery": { "maxRetries": 2, "backoffMax": "1s" },
        "stop": { "grace": "1s", "drain": "1s" },
        // A machine whose disk is nearly full shall say so where it is asked, not hang in a pause here.
        "disk": { "low": 64, "enough": 96 },
    });
    for (name, value) in changes.as_object().cloned().unwrap_or_default() {
        config[name] = value;
    }
    Arena::new(&config.to_string())
}

/// All of it is said.
pub fn has(text: &str, parts: &[&str]) {
    for part in parts {
        assert!(text.contains(part), "{part:?} is not in:\n{text}");
    }
}

/// A task for [`Arena::plan_in_phases`].
pub fn task(id: &str, depends: &[&str], script: &str) -> Value {
    json!({
        "id": id, "title": format!("Do {id}"), "depends": depends,
        "description": format!("```script\n{script}\n```"),
        "allow_empty": script.trim() == "complete",
    })
}

impl Arena {
    /// Adds a file to trunk as a person would.
    pub fn commit(&self, name: &str, text: &str) {
        self.write(name, text);
        self.git_when_free(&["add", "--", name]);
        self.git_when_free(&["commit", "--quiet", "--message", &format!("person: {name}")]);
    }

    /// As a person does whose command met the lock of a merge that was bringing their checkout up to date.
    fn git_when_free(&self, args: &[&str]) {
        let mut out = self.git_tried(args);
        holds_within(Duration::from_secs(60), || {
            if String::from_utf8_lossy(&out.stderr).contains("index.lock") {
                out = self.git_tried(args);
                return false;
            }
            true
        });
        assert!(out.status.success(), "git {args:?}: {}", String::from_utf8_lossy(&out.stderr));
    }

    /// A script beside the repository for an agent to run. It may name places of this machine, which a
    /// task's description had better not: it stands in the ledger.
    pub fn script_beside(&self, name: &str, text: &str) -> String {
        let file = self.path(name);
        std::fs::write(&file, text).expect("a file");
        file.display().to_string()
    }

    pub fn plan_in_phases(&self, phases: &[Vec<Value>]) {
        let phases: Vec<Value> = phases
            .iter()
            .enumerate()
            .map(|(at, tasks)| json!({ "id": at + 1, "name": format!("part {}", at + 1), "tasks": tasks }))
            .collect();
        let file = self.path("plan.json");
        std::fs::write(&file, json!({ "goal": "prove it", "phases": phases }).to_string()).expect("a file");
        self.ok(&["plan", "save", file.to_str().expect("text")]);
    }

    /// A run with the scripted agent, to its end: exit code and all it said.
    pub fn run(&self, args: &[&str]) -> (i32, String) {
        self.start(args).end()
    }

    /// A run with the agent that the configuration names.
    pub fn run_as_configured(&self, args: &[&str]) -> (i32, String) {
        let mut all = vec!["run"];
        all.extend(args);
        Running::of(self.command(&all)).end()
    }

    pub fn shown(&self, id: &str) -> Value {
        self.json(&["task", "show", id])
    }

    /// How often an agent began on the task, on this attempt or an earlier one.
    pub fn starts(&self, id: &str) -> u64 {
        let view = self.shown(id);
        let number = |name: &str| view[name].as_u64().unwrap_or_default();
        number("attempts") + number("restarts")
    }

    pub fn status_of(&self, id: &str) -> String {
        self.shown(id)["status"].as_str().expect("a status").to_owned()
    }

    /// The attention list, as one text to search in.
    pub fn attention(&self) -> String {
        self.json(&["status"])["attention"].to_string()
    }

    /// Everything that the agents printed, by the journals.
    pub fn printed(&self) -> String {
        let mut all = String::new();
        for file in files_below(&self.root.join(".swarm/agents"), ".jsonl") {
            for line in std::fs::read_to_string(file).unwrap_or_default().lines() {
                let entry: Value = serde_json::from_str(line).unwrap_or_default();
                all.push_str(entry["text"].as_str().unwrap_or_default());
                all.push('\n');
            }
        }
        all
    }

    /// Git itself says that everything the swarm claims of this task is on trunk.
    pub fn assert_proven(&self, id: &str, trunk: &str) {
        let view = self.shown(id);
        assert_eq!(view["status"], "done", "{view}");
        let proof = &view["proof"];
        let commits = proof["commits"].as_array().expect("a proof names its commits");
        for commit in commits.iter().chain([&proof["commit"]]) {
            self.git(&["merge-base", "--is-ancestor", commit.as_str().expect("a commit"), trunk]);
        }
    }

    /// Lock files, temporary objects and refs that a finished run must not leave in the repository.
    pub fn assert_tidy(&self) {
        self.assert_tidy_on("main");
    }

    /// The same where work belongs on another branch.
    pub fn assert_tidy_on(&self, trunk: &str) {
        self.assert_nothing_runs();
        self.assert_ledger_names_no_place();
        let git = self.root.join(".git");
        // Those of the whole swarm are never unlinked, only unlocked; those of a task go with its worktree.
        let of_ours = git.join("swarm");
        let of_tasks: Vec<PathBuf> = files_below(&of_ours.join("worktrees"), ".lock");
        let open = self
            .tasks()
            .iter()
            .filter(|task| !["done", "cancelled"].contains(&task["status"].as_str().unwrap_or("")))
            .count();
        assert!(of_tasks.len() <= open, "locks of closed tasks are left: {of_tasks:?}");
        let locks: Vec<PathBuf> =
            files_below(&git, ".lock").into_iter().filter(|lock| !lock.starts_with(&of_ours)).collect();
        assert!(locks.is_empty(), "locks are left: {locks:?}");
        let daemons = files_below(&self.root.join(".swarm/run/daemons"), "");
        assert!(daemons.is_empty(), "files of daemons are left: {daemons:?}");
        assert!(!self.root.join(".swarm/run/coordinator.sock").exists(), "the socket is left");
        let refs = self.git(&["for-each-ref", "--format=%(refname)"]);
        let strange: Vec<&str> = refs
            .lines()
            .filter(|name| !name.starts_with("refs/swarm/") && !name.starts_with("refs/heads/"))
            .filter(|name| !name.starts_with("refs/remotes/"))
            // Named checkpoints have a tag, for whoever looks with git.
            .filter(|name| {
                !refs.contains(&name.replace("refs/tags/swarm-checkpoint-", "refs/swarm/checkpoints/"))
            })
            .collect();
        assert!(strange.is_empty(), "refs of nobody: {strange:?}");
        self.assert_no_place_of_a_run_is_left();
        self.git(&["fsck", "--strict"]);
        self.ok(&["plan", "verify"]);
        self.assert_true_on(trunk);
    }

    /// Each run has a control group and a folder for temporary files, named by its nonce.
    fn assert_no_place_of_a_run_is_left(&self) {
        let ledger = std::fs::read_to_string(self.root.join(".swarm/plan-ledger.jsonl")).expect("the ledger");
        let nonces: Vec<&str> = ledger
            .split("\"nonce\":\"")
            .skip(1)
            .filter_map(|rest| rest.split('"').next())
            .filter(|nonce| !nonce.is_empty())
            .collect();
        assert!(!nonces.is_empty(), "runs have nonces");
        let groups = folders_below(std::path::Path::new("/sys/fs/cgroup"), 4);
        for nonce in nonces {
            let tmp = std::env::temp_dir().join(format!("swarm-{nonce}"));
            assert!(!tmp.exists(), "{} is left", tmp.display());
            let left = groups.iter().find(|group| group.to_string_lossy().contains(nonce));
            assert!(left.is_none(), "{left:?} is left");
        }
    }

    /// Branches below `swarm/` that are left.
    pub fn task_branches(&self) -> Vec<String> {
        let refs = self.git(&["for-each-ref", "--format=%(refname:short)", "refs/heads/swarm"]);
        refs.lines().map(str::to_owned).collect()
    }

    /// Worktrees other than the main checkout.
    pub fn worktrees(&self) -> Vec<String> {
        let list = self.git(&["worktree", "list", "--porcelain"]);
        list.lines().filter_map(|line| line.strip_prefix("worktree ")).skip(1).map(str::to_owned).collect()
    }
}

fn folders_below(dir: &std::path::Path, depth: u32) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(dir).into_iter().flatten().flatten() {
        if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            if depth > 0 {
                found.extend(folders_below(&entry.path(), depth - 1));
            }
            found.push(entry.path());
        }
    }
    found
}
