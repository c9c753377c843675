//! A repository of its own under a home of its own, the binary, and ways to look at both from outside.

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc;
use std::time::{Duration, Instant};

use serde_json::Value;

#[path = "../oracle/mod.rs"]
pub mod oracle;

/// Far longer than anything takes; a test that gets here has failed.
pub const LIMIT: Duration = Duration::from_secs(180);

pub struct Arena {
    dir: tempfile::TempDir,
    pub root: PathBuf,
    /// Git was asked whether what the swarm says is true.
    judged: AtomicBool,
}

/// With this variable the folder of a test that fails is kept, and named.
pub const KEEP_FAILED: &str = "SWARM_KEEP_FAILED";

impl Drop for Arena {
    /// No trial ends without the oracle, whatever else it looks at.
    fn drop(&mut self) {
        if !std::thread::panicking() && !self.judged.load(Ordering::Relaxed) {
            oracle::judge_at_the_end(self);
        }
        if std::thread::panicking() && std::env::var_os(KEEP_FAILED).is_some() {
            self.dir.disable_cleanup(true);
            eprintln!("kept: {}", self.dir.path().display());
        }
    }
}

impl Arena {
    /// A repository with one commit and this configuration.
    pub fn new(config: &str) -> Self {
        Self::inside(tempfile::tempdir().expect("a temporary folder"), config)
    }

    /// The same in a folder of one's own choice.
    pub fn inside(dir: tempfile::TempDir, config: &str) -> Self {
        let root = dir.path().join("repo");
        std::fs::create_dir_all(root.join(".swarm")).expect("the repository's folder");
        let arena = Self { dir, root, judged: AtomicBool::new(false) };
        arena.git(&["init", "--quiet", "--initial-branch=main"]);
        arena.git(&["config", "user.name", "A person"]);
        arena.git(&["config", "user.email", "person@localhost"]);
        arena.write("README.md", "hello\n");
        arena.git(&["add", "README.md"]);
        arena.git(&["commit", "--quiet", "--message", "start"]);
        arena.write(".swarm/config.json", config);
        arena
    }

    /// The trial has found out for itself.
    pub fn is_judged(&self) {
        self.judged.store(true, Ordering::Relaxed);
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    pub fn write(&self, name: &str, text: &str) {
        let path = self.root.join(name);
        std::fs::create_dir_all(path.parent().expect("a file has a folder")).expect("a folder");
        std::fs::write(path, text).expect("a file");
    }

    fn with_home(&self, command: &mut Command) {
        command.env("HOME", self.dir.path()).env_remove("XDG_CONFIG_HOME").env("GIT_CONFIG_NOSYSTEM", "1");
    }

    pub fn git_tried(&self, args: &[&str]) -> Output {
        let mut command = Command::new("git");
        self.with_home(&mut command);
        command.arg("-C").arg(&self.root).args(args).output().expect("git runs")
    }

    pub fn git(&self, args: &[&str]) -> String {
        let out = self.git_tried(args);
        assert!(out.status.success(), "git {args:?}: {}", String::from_utf8_lossy(&out.stderr));
        String::from_utf8(out.stdout).expect("text")
    }

    pub fn command(&self, args: &[&str]) -> Command {
        self.command_in(&self.root, args)
    }

    /// The same for a person who stands somewhere else.
    pub fn command_in(&self, dir: &Path, args: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_swarm"));
        self.with_home(&mut command);
        self.name_nobody(&mut command);
        command.arg("-C").arg(dir).args(args).stdin(Stdio::null());
        command
    }

    /// A person reviews unless somebody else is named. Most trials are about something else: there nobody does, by name,
    /// unless their configuration says anything about reviews.
    fn name_nobody(&self, command: &mut Command) {
        let config = std::fs::read_to_string(self.root.join(".swarm/config.json")).unwrap_or_default();
        if !config.contains("\"review\"") {
            command.env("SWARM_REVIEW_POLICY", "none");
        }
    }

    pub fn swarm(&self, args: &[&str]) -> Output {
        self.command(args).output().expect("swarm runs")
    }

    /// A command that must succeed; its stdout.
    pub fn ok(&self, args: &[&str]) -> String {
        let out = self.swarm(args);
        assert!(out.status.success(), "swarm {args:?}: {}", String::from_utf8_lossy(&out.stderr));
        String::from_utf8(out.stdout).expect("text")
    }

    pub fn json(&self, args: &[&str]) -> Value {
        let mut all = args.to_vec();
        all.push("--json");
        serde_json::from_str(&self.ok(&all)).expect("JSON")
    }

    /// Saves a plan of (id, depends, script lines).
    pub fn plan(&self, tasks: &[(&str, &[&str], String)]) {
        let tasks: Vec<Value> = tasks
            .iter()
            .map(|(id, depends, script)| {
                serde_json::json!({
                    "id": id, "title": format!("Do {id}"), "depends": depends,
                    "description": format!("```script\n{script}\n```"),
                    "allow_empty": script.trim() == "complete",
                })
            })
            .collect();
        let plan =
            serde_json::json!({ "goal": "prove it", "phases": [{ "id": 1, "name": "all", "tasks": tasks }] });
        let file = self.path("plan.json");
        std::fs::write(&file, plan.to_string()).expect("the plan file");
        self.ok(&["plan", "save", file.to_str().expect("text")]);
    }

    /// Starts `swarm run` and gives its lines as they come.
    pub fn start(&self, args: &[&str]) -> Running {
        self.start_with(&[&["--mode", "autopilot"], args].concat())
    }

    /// The same in any mode.
    pub fn start_with(&self, args: &[&str]) -> Running {
        let mut all = vec!["run", "--agent", "script"];
        all.extend(args);
        Running::of(self.command(&all))
    }

    pub fn tasks(&self) -> Vec<Value> {
        self.json(&["task", "list"]).as_array().expect("a list").clone()
    }

    /// Fails unless every task is done.
    pub fn assert_all_done(&self) {
        for task in self.tasks() {
            assert_eq!(task["status"], "done", "{task}");
        }
    }

    /// Processes that carry a mark of a run in this repository.
    pub fn processes(&self) -> Vec<String> {
        let root = self.root.to_string_lossy().into_owned();
        let mut found = Vec::new();
        for entry in std::fs::read_dir("/proc").expect("/proc").flatten() {
            let name = entry.file_name().to_string_lossy().into_owned();
            if !name.bytes().all(|b| b.is_ascii_digit()) {
                continue;
            }
            let read = |file: &str| std::fs::read(entry.path().join(file)).unwrap_or_default();
            let (environ, cmdline) = (read("environ"), read("cmdline"));
            let cwd = std::fs::read_link(entry.path().join("cwd")).unwrap_or_default();
            let of_ours = cwd.starts_with(&self.root)
                || [environ, cmdline].iter().any(|bytes| String::from_utf8_lossy(bytes).contains(&root));
            if of_ours {
                found
                    .push(format!("{name} {}", String::from_utf8_lossy(&read("cmdline")).replace('\0', " ")));
            }
        }
        found
    }

    /// Waits until no process of this repository is left.
    pub fn assert_nothing_runs(&self) {
        wait_for("no process is left", || self.processes().is_empty());
    }

    /// Everything a finished run must not leave: processes, worktrees, daemon files, sockets.
    pub fn assert_nothing_left(&self) {
        self.assert_nothing_runs();
        let worktrees = self.git(&["worktree", "list", "--porcelain"]);
        assert_eq!(worktrees.matches("worktree ").count(), 1, "{worktrees}");
        let daemons = std::fs::read_dir(self.root.join(".swarm/run/daemons"));
        let left: Vec<_> = daemons.into_iter().flatten().flatten().map(|e| e.file_name()).collect();
        assert!(left.is_empty(), "daemon files are left: {left:?}");
        assert!(!self.root.join(".swarm/run/coordinator.sock").exists(), "the socket is left");
        self.assert_ledger_names_no_place();
        self.assert_true();
    }

    /// No absolute path in an event: it would be wrong on every other machine.
    pub fn assert_ledger_names_no_place(&self) {
        let ledger = std::fs::read_to_string(self.root.join(".swarm/plan-ledger.jsonl")).expect("the ledger");
        let root = self.root.to_string_lossy();
        let named = ledger.lines().find(|line| line.contains(root.as_ref()));
        assert!(named.is_none(), "a record names a place of this machine: {named:?}");
    }

    /// What agents have committed so far: in the repository, and in those of their own while they work.
    pub fn committed(&self) -> String {
        let mut all = self.git(&["log", "--all", "--format=%s"]);
        let own = std::fs::read_dir(self.root.join(".swarm/worktrees/.git-of"));
        for entry in own.into_iter().flatten().flatten() {
            all += &std::fs::read_to_string(entry.path().join("logs/HEAD")).unwrap_or_default();
        }
        all
    }

    /// How often the subject of a commit stands on a branch.
    pub fn commits(&self, branch: &str, subject: &str) -> usize {
        self.git(&["log", "--format=%s", branch]).lines().filter(|line| *line == subject).count()
    }
}

/// Waits for a condition, with a limit.
pub fn wait_for(what: &str, holds: impl FnMut() -> bool) {
    assert!(holds_within(LIMIT, holds), "waited in vain until {what}");
}

/// Asks until it holds. A look often is a process of its own: it is not to take the machine from those it waits for.
pub fn holds_within(time: Duration, mut holds: impl FnMut() -> bool) -> bool {
    let end = Instant::now() + time;
    loop {
        let asked = Instant::now();
        if holds() {
            return true;
        }
        if asked > end {
            return false;
        }
        let pause = (asked.elapsed() * 3).clamp(Duration::from_millis(10), Duration::from_millis(250));
        std::thread::park_timeout(pause);
    }
}

pub struct Running {
    pub child: Child,
    lines: mpsc::Receiver<String>,
    said: Vec<String>,
}

impl Running {
    /// Starts a command and gives its lines as they come.
    pub fn of(mut command: Command) -> Self {
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("swarm starts");
        let (sender, lines) = mpsc::channel();
        let stderr = BufReader::new(child.stderr.take().expect("a pipe"));
        std::thread::spawn(move || {
            stderr.lines().map_while(Result::ok).try_for_each(|line| sender.send(line))
        });
        Self { child, lines, said: Vec::new() }
    }

    /// Reads on until a line contains this text.
    pub fn until(&mut self, text: &str) -> String {
        loop {
            match self.lines.recv_timeout(LIMIT) {
                Ok(line) => {
                    self.said.push(line.clone());
                    if line.contains(text) {
                        return line;
                    }
                }
                Err(_) => panic!("never said {text:?}:\n{}", self.said.join("\n")),
            }
        }
    }

    /// Lets it go on for so long, or until it ends. True when it has ended.
    pub fn for_a_while(&mut self, time: Duration) -> bool {
        let end = Instant::now() + time;
        loop {
            match self.lines.recv_timeout(end.saturating_duration_since(Instant::now())) {
                Ok(line) => self.said.push(line),
                Err(mpsc::RecvTimeoutError::Timeout) => return false,
                Err(mpsc::RecvTimeoutError::Disconnected) => return true,
            }
        }
    }

    /// Kills the coordinator and the one that would start it again.
    pub fn kill_9(&mut self) {
        // Stopped first: it must not start another one while we look for those it has.
        if matches!(self.child.try_wait(), Ok(None)) {
            send("STOP", self.child.id());
        }
        let coordinators = children_of(self.child.id());
        let _ = self.child.kill();
        coordinators.iter().for_each(|pid| send("KILL", *pid));
        let _ = self.child.wait();
        wait_for("the coordinator is gone", || coordinators.iter().all(|pid| is_gone(*pid)));
    }

    /// The coordinator, once it has been started.
    pub fn coordinator(&self) -> u32 {
        let mut found = None;
        wait_for("the coordinator is started", || {
            found = children_of(self.child.id()).first().copied();
            found.is_some()
        });
        found.expect("it was found")
    }

    pub fn signal(&self, signal: &str) {
        send(signal, self.child.id());
    }

    /// All it said so far.
    pub fn said(&self) -> String {
        self.said.join("\n")
    }

    /// Its exit code, and all it said.
    pub fn end(mut self) -> (i32, String) {
        while let Ok(line) = self.lines.recv_timeout(LIMIT) {
            self.said.push(line);
        }
        let code = self.child.wait().expect("it ends").code().unwrap_or(-1);
        (code, self.said.join("\n"))
    }
}

/// A signal for a process that may be gone.
pub fn send(signal: &str, pid: u32) {
    let sent = Command::new("kill").args(["-s", signal, &pid.to_string()]).stderr(Stdio::null()).status();
    sent.expect("kill runs");
}

/// Gone, or only waiting to be taken leave of.
pub fn is_gone(pid: u32) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    stat.rsplit(')')
        .next()
        .is_none_or(|rest| rest.trim_start().is_empty() || rest.trim_start().starts_with('Z'))
}

/// Processes whose parent is this one.
pub fn children_of(parent: u32) -> Vec<u32> {
    let entries = std::fs::read_dir("/proc").expect("/proc").flatten();
    let pids = entries.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
    let is_child = |pid: &u32| {
        let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
        let ppid =
            stat.rsplit(')').next().and_then(|rest| rest.split_whitespace().nth(1)?.parse::<u32>().ok());
        ppid == Some(parent)
    };
    pids.filter(is_child).collect()
}

/// A folder's files whose names end so.
pub fn files_below(dir: &Path, ending: &str) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(dir).into_iter().flatten().flatten() {
        let path = entry.path();
        // Pipes and links to them stay out: whoever reads one waits for ever.
        let kind = std::fs::metadata(&path).map(|meta| meta.file_type());
        match kind {
            Ok(kind) if kind.is_dir() => found.extend(files_below(&path, ending)),
            Ok(kind) if kind.is_file() && path.to_string_lossy().ends_with(ending) => found.push(path),
            _ => {}
        }
    }
    found
}
