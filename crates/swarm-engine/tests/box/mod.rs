//! Runs programs through the small stand-in for the daemon and looks for what they leave behind.

// Each test file uses its own part of this.
#![allow(dead_code)]

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

/// No step of any test takes longer, even on a busy machine.
pub const LIMIT: Duration = Duration::from_secs(60);

pub fn host() -> PathBuf {
    PathBuf::from(env!("CARGO_BIN_EXE_box_host"))
}

/// The nets that work on this machine. One that does not is named in the output of the test.
pub fn nets() -> Vec<&'static str> {
    let out = Command::new(host()).arg("available").output().expect("the host runs");
    let works = String::from_utf8_lossy(&out.stdout).into_owned();
    let works: Vec<&str> = works.split_whitespace().collect();
    ["cgroup", "pidns", "pidns-user", "group"]
        .into_iter()
        .filter(|net| {
            let there = works.contains(&net.trim_end_matches("-user"));
            if !there {
                eprintln!("skipped: {net} does not work on this machine");
            }
            there
        })
        .collect()
}

pub struct Bench {
    pub dir: tempfile::TempDir,
    /// In the command line of everything that must not be left behind, whatever its environment.
    pub mark: String,
    pub nonce: String,
}

impl Bench {
    pub fn new() -> Self {
        let id = ulid::Ulid::generate();
        // A number that `sleep` takes for a very long time.
        let mark = format!("86400.{:015}", id.0 % 1_000_000_000_000_000);
        Self { dir: tempfile::tempdir().expect("a folder"), mark, nonce: format!("box-{id}") }
    }

    pub fn path(&self) -> &Path {
        self.dir.path()
    }

    /// A script in the folder; `MARK` in it becomes the mark.
    pub fn script(&self, name: &str, text: &str) -> String {
        let path = self.path().join(name);
        std::fs::write(&path, text.replace("MARK", &self.mark)).expect("written");
        path.to_str().expect("UTF-8").to_owned()
    }

    /// What `sh -c TEXT` becomes in this net.
    pub fn sh(&self, net: &str, text: &str, more: Value) -> Value {
        self.run(net, &["sh", "-c", &text.replace("MARK", &self.mark)], more)
    }

    pub fn run(&self, net: &str, argv: &[&str], more: Value) -> Value {
        let host = self.start(net, argv, more);
        let out = host.wait_with_output().expect("the host ends");
        let said = String::from_utf8_lossy(&out.stdout).into_owned();
        serde_json::from_str(&said).unwrap_or_else(|_| {
            panic!("{net}: {said} {} {}", out.status, String::from_utf8_lossy(&out.stderr))
        })
    }

    pub fn start(&self, net: &str, argv: &[&str], more: Value) -> std::process::Child {
        let mut wish = json!({
            "argv": argv, "cwd": self.path(), "nonce": self.nonce, "containment": net,
            "swarm_dir": self.path().join(".swarm"),
        });
        let (wish_map, more) =
            (wish.as_object_mut().expect("a map"), more.as_object().expect("a map").clone());
        wish_map.extend(more);
        let file = self.path().join(format!("wish-{}.json", ulid::Ulid::generate()));
        std::fs::write(&file, wish.to_string()).expect("written");
        let mut command = Command::new(host());
        command
            .arg("run")
            .arg(file)
            .stdout(std::process::Stdio::piped())
            .stderr(std::process::Stdio::piped());
        command.spawn().expect("the host starts")
    }

    /// Living processes with the mark in their command line or the nonce in their environment.
    pub fn living(&self) -> Vec<String> {
        let mut found = Vec::new();
        for entry in std::fs::read_dir("/proc").expect("proc").flatten() {
            let Some(pid) = entry.file_name().to_str().and_then(|name| name.parse::<u32>().ok()) else {
                continue;
            };
            let read = |name: &str| std::fs::read(entry.path().join(name)).unwrap_or_default();
            let has = |bytes: Vec<u8>, word: &str| String::from_utf8_lossy(&bytes).contains(word);
            if has(read("cmdline"), &self.mark) || has(read("environ"), &self.nonce) {
                let line = String::from_utf8_lossy(&read("cmdline")).replace('\0', " ");
                found.push(format!("{pid} {line}"));
            }
        }
        found
    }

    /// Nothing lives, no zombie, no control group, after this net.
    pub fn nothing_is_left(&self, net: &str, told: &Value) {
        let living = self.living();
        assert!(living.is_empty(), "{net}: {living:?} after {told}");
        assert_eq!(told["heard"]["children"], "", "{net}: a zombie or an orphan: {told}");
        assert_eq!(told["ran"]["left"], json!([]), "{net}: {told}");
        let leaves = swarm_process::containment::cgroup::leaves_of(&self.nonce);
        assert!(leaves.is_empty(), "{net}: {leaves:?}");
    }
}

impl Drop for Bench {
    /// A test that failed half way leaves nothing behind.
    fn drop(&mut self) {
        for line in self.living() {
            let pid = line.split(' ').next().and_then(|pid| pid.parse().ok());
            if let Some(pid) = pid.and_then(rustix::process::Pid::from_raw) {
                let _ = rustix::process::kill_process(pid, rustix::process::Signal::KILL);
            }
        }
    }
}

/// Looks until the condition holds.
pub fn until(what: &str, mut condition: impl FnMut() -> bool) {
    let begun = Instant::now();
    while !condition() {
        assert!(begun.elapsed() < LIMIT, "{what} did not come");
        std::thread::yield_now();
    }
}
