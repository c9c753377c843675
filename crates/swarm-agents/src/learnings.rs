//! What agents found worth remembering: `learnings.md` for all, `agents/<persona>/learnings.md` for one.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use swarm_protocol::ids::AgentId;

use crate::prompts::Learnings;

/// Learnings kept in one file; older ones give way.
const KEPT_MAX: usize = 200;

/// Bytes of one learning.
const TEXT_MAX: usize = 1000;

/// Bytes read of a file that a person may have written to.
const FILE_MAX: u64 = 1 << 20;

/// Names of agents whose learnings are listed.
const PERSONAS_MAX: usize = 500;

/// The places of the learnings of one swarm.
#[derive(Debug, Clone)]
pub struct LearningFiles {
    swarm: PathBuf,
}

impl LearningFiles {
    pub fn new(swarm_dir: &Path) -> Self {
        Self { swarm: swarm_dir.to_path_buf() }
    }

    fn of_all(&self) -> PathBuf {
        self.swarm.join("learnings.md")
    }

    fn of_persona(&self, agent: &AgentId) -> PathBuf {
        self.swarm.join("agents").join(persona(agent)).join("learnings.md")
    }

    /// What this agent should be told.
    pub fn for_agent(&self, agent: &AgentId) -> Learnings {
        Learnings { all: entries(&self.of_all()), own: entries(&self.of_persona(agent)) }
    }

    /// Of all agents, and of those of each name. People may have made any number of folders: some hundreds are read.
    pub fn everything(&self) -> (Vec<String>, BTreeMap<String, Vec<String>>) {
        let folders = std::fs::read_dir(self.swarm.join("agents")).into_iter().flatten().flatten();
        let own = folders.take(PERSONAS_MAX).filter_map(|folder| {
            let name = folder.file_name().into_string().ok()?;
            let told = entries(&folder.path().join("learnings.md"));
            (!told.is_empty()).then_some((name, told))
        });
        (entries(&self.of_all()), own.collect())
    }

    /// Keeps what an agent said, once. `true` when it was new.
    pub fn take_in(&self, agent: &AgentId, signal: &str, text: &str) -> std::io::Result<bool> {
        let path = match signal {
            "LEARNING_GLOBAL" => self.of_all(),
            "LEARNING" => self.of_persona(agent),
            _ => return Ok(false),
        };
        let text: String = text.split_whitespace().collect::<Vec<_>>().join(" ");
        let text: String = text.chars().take(TEXT_MAX).collect();
        let mut known = entries(&path);
        if text.is_empty() || known.contains(&text) {
            return Ok(false);
        }
        known.push(text);
        let from = known.len().saturating_sub(KEPT_MAX);
        let body: String = known[from..].iter().map(|entry| format!("- {entry}\n")).collect();
        if let Some(folder) = path.parent() {
            std::fs::create_dir_all(folder)?;
        }
        // Beside and over: a reader never sees half of it.
        let beside = path.with_extension("md.tmp");
        std::fs::write(&beside, body)?;
        std::fs::rename(&beside, &path)?;
        Ok(true)
    }
}

/// `ed` of `ed-001`.
fn persona(agent: &AgentId) -> &str {
    agent.as_str().rsplit_once('-').map_or(agent.as_str(), |(persona, _)| persona)
}

/// The list entries of the file; what else a person wrote there is not passed on.
fn entries(path: &Path) -> Vec<String> {
    match std::fs::metadata(path) {
        Ok(meta) if meta.len() <= FILE_MAX => {}
        _ => return vec![],
    }
    let text = std::fs::read_to_string(path).unwrap_or_default();
    text.lines().filter_map(|line| line.strip_prefix("- ")).map(|entry| entry.trim().to_owned()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_learning_is_kept_once_where_it_belongs() {
        let folder = tempfile::tempdir().expect("a folder");
        let files = LearningFiles::new(folder.path());
        let (ed, other) = (AgentId::nth(1), AgentId::nth(2));
        assert!(files.take_in(&ed, "LEARNING_GLOBAL", "tests need\n  a database").expect("kept"));
        assert!(!files.take_in(&other, "LEARNING_GLOBAL", "tests need a database").expect("known"));
        assert!(files.take_in(&ed, "LEARNING", "mine").expect("kept"));
        assert!(!files.take_in(&ed, "PROGRESS", "12").expect("none"));
        let told = files.for_agent(&ed);
        assert_eq!((told.all, told.own), (vec!["tests need a database".to_owned()], vec!["mine".to_owned()]));
        let (all, own) = files.everything();
        assert_eq!((all.len(), &own["ed"][..]), (1, &["mine".to_owned()][..]));
    }

    #[test]
    fn the_oldest_give_way() {
        let folder = tempfile::tempdir().expect("a folder");
        let files = LearningFiles::new(folder.path());
        let ed = AgentId::nth(1);
        for n in 0..KEPT_MAX + 5 {
            files.take_in(&ed, "LEARNING_GLOBAL", &format!("fact {n}")).expect("kept");
        }
        let all = files.for_agent(&ed).all;
        assert_eq!((all.len(), all[0].as_str()), (KEPT_MAX, "fact 5"));
    }
}
