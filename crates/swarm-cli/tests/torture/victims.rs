//! The processes of one arena, by what they are, and signals to them.

use std::path::{Path, PathBuf};

use rustix::process::{Pid, Signal, kill_process};

use crate::arena::Arena;

/// A party of a swarm.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Party {
    Coordinator,
    Daemon,
    Agent,
    Git,
    /// The `swarm run` of a person, which starts the coordinator and stays beside it.
    Watcher,
    /// What stands between a daemon and its agent, and puts up the walls.
    Launcher,
}

impl Arena {
    /// Living processes of this kind that belong to this repository.
    pub fn living(&self, party: Party) -> Vec<u32> {
        let found = std::fs::read_dir("/proc").into_iter().flatten().flatten().filter_map(|entry| {
            let pid: u32 = entry.file_name().to_str()?.parse().ok()?;
            (self.party_of(&entry.path()) == Some(party)).then_some(pid)
        });
        found.collect()
    }

    fn party_of(&self, process: &Path) -> Option<Party> {
        let words = std::fs::read(process.join("cmdline")).ok()?;
        let words: Vec<String> =
            words.split(|b| *b == 0).map(|word| String::from_utf8_lossy(word).into_owned()).collect();
        let has = |word: &str| words.iter().any(|w| w == word);
        let program = words.first().map(|w| w.rsplit('/').next().unwrap_or(w).to_owned())?;
        let root = self.root.to_string_lossy().into_owned();
        let here = words.iter().any(|word| word.contains(&root))
            || std::fs::read_link(process.join("cwd")).is_ok_and(|cwd| cwd.starts_with(&self.root));
        match program.as_str() {
            _ if !here => None,
            "git" => Some(Party::Git),
            "swarm" if has("script-agent") => Some(Party::Agent),
            "swarm" if has("daemon") => Some(Party::Daemon),
            "swarm" if has("--coordinate") => Some(Party::Coordinator),
            "swarm" if has("run") => Some(Party::Watcher),
            "exe" if has("boxed") => Some(Party::Launcher),
            _ => None,
        }
    }

    /// The process that the owner's lock names, whether or not it lives.
    pub fn owner(&self) -> Option<u32> {
        let text = std::fs::read(self.root.join(".swarm/run/owner.lock")).ok()?;
        let owner: serde_json::Value = serde_json::from_slice(&text).ok()?;
        u32::try_from(owner["pid"].as_u64()?).ok()
    }

    /// How often a record of this type stands in the ledger; 0 where there is none yet.
    pub fn records(&self, kind: &str) -> usize {
        let text = std::fs::read(self.ledger()).unwrap_or_default();
        String::from_utf8_lossy(&text).matches(&format!("\"type\":\"{kind}\"")).count()
    }

    pub fn ledger(&self) -> PathBuf {
        self.root.join(".swarm/plan-ledger.jsonl")
    }

    /// The type of the last record: where in its life the swarm is.
    pub fn last_record(&self) -> String {
        let text = std::fs::read(self.ledger()).unwrap_or_default();
        let text = String::from_utf8_lossy(&text).into_owned();
        let last = text.rsplit("\"type\":\"").next().filter(|rest| rest.len() < text.len());
        last.and_then(|rest| rest.split('"').next()).unwrap_or("nothing").to_owned()
    }
}

/// Sends a signal; false when nobody is there to get it.
pub fn signal(pid: u32, signal: Signal) -> bool {
    i32::try_from(pid).ok().and_then(Pid::from_raw).is_some_and(|pid| kill_process(pid, signal).is_ok())
}

/// Whether a signal has stopped it.
pub fn is_stopped(pid: u32) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    stat.rsplit_once(") ").is_some_and(|(_, fields)| fields.starts_with(['T', 't']))
}
