//! Files that people see: made by `init`, exported, or handed to an editor.

use std::path::{Path, PathBuf};

use serde::Serialize;
use swarm_engine::projection::{self, find_import};
use swarm_engine::store::{Store, ensure_ignored, replace};
use swarm_protocol::refusal::Refusal;
use swarm_protocol::reservation::Isolation;
use swarm_work::worktree::{Proposal, propose};

use super::Swarm;
use crate::error::CliError;

/// What `swarm init` did.
#[derive(Debug, Serialize)]
pub struct Made {
    pub created: Vec<String>,
    pub kept: Vec<String>,
    /// From what was found in the repository; written only into a configuration that is new.
    pub proposed: Proposal,
}

/// Bytes of a file in which numbers of tasks are looked for.
const WITNESS_MAX: u64 = 64 << 20;

/// The highest `P.N` of the phase that stands between quotes, as an id does in every file of ours.
fn highest_number_in(path: &Path, phase: u32) -> Option<u64> {
    use std::io::Read;
    let mut bytes = Vec::new();
    std::fs::File::open(path).ok()?.take(WITNESS_MAX).read_to_end(&mut bytes).ok()?;
    let (text, begins) = (String::from_utf8_lossy(&bytes), format!("\"{phase}."));
    let numbers = text.split(&begins).skip(1).filter_map(|rest| rest.split_once('"')?.0.parse::<u64>().ok());
    numbers.filter(|number| *number < u64::from(u32::MAX)).max()
}

/// Texts that could not be saved and were kept.
const SCRATCH_MAX: u32 = 100;

impl Swarm {
    /// What `init` would make and keep.
    pub fn would_init(&self) -> Made {
        let proposed = propose(&self.paths.root);
        let mut made = Made { created: vec![], kept: vec![], proposed };
        for path in [&self.paths.config, &self.paths.swarm.join(".gitignore")] {
            let list = if path.exists() { &mut made.kept } else { &mut made.created };
            list.push(self.relative(path));
        }
        made
    }

    /// Refused where `init` would be, for the configuration that is there.
    pub fn may_init(&self, isolation: Option<Isolation>) -> Result<(), CliError> {
        if !self.paths.config.exists() {
            return Ok(());
        }
        self.configuration()?;
        isolation.map_or(Ok(()), |wanted| self.is_configured(wanted))
    }

    /// Makes what is not there yet. An isolation that is asked for stands in a new configuration.
    pub fn init(&self, isolation: Option<Isolation>) -> Result<Made, CliError> {
        let made = self.would_init();
        let ignore = self.paths.swarm.join(".gitignore");
        if !self.paths.config.exists() {
            self.write_whole(&self.paths.config, first_config(&made.proposed, isolation).as_bytes())?;
        } else if let Some(wanted) = isolation {
            self.is_configured(wanted)?;
        }
        ensure_ignored(&self.paths).map_err(|error| {
            CliError::environment(format!("Cannot write {}", self.relative(&ignore))).because(error)
        })?;
        self.configuration()?;
        Ok(made)
    }

    /// What stands in a configuration is not changed.
    fn is_configured(&self, wanted: Isolation) -> Result<(), CliError> {
        if self.configuration()?.config.isolation == wanted {
            return Ok(());
        }
        let place = self.relative(&self.paths.config);
        Err(CliError::usage(format!("{place} exists, and `swarm init` does not change it"))
            .because(format!("set `\"isolation\": \"{}\"` in it", wanted.word())))
    }

    /// The highest number of a phase that stands in files beside the ledger: it was given once, and is not given again even
    /// where the ledger has lost its record.
    pub fn highest_number_on_file(&self, phase: u32) -> u64 {
        let beside = std::fs::read_dir(&self.paths.swarm).into_iter().flatten().flatten();
        // With those that were kept aside: a plan of records that the ledger lost.
        let is_witness = |name: &str| {
            name == "plan.json"
                || name.starts_with("plan.json.ahead-")
                || name.starts_with("plan-ledger.quarantine.")
        };
        beside
            .filter(|entry| entry.file_name().to_str().is_some_and(is_witness))
            .filter_map(|entry| highest_number_in(&entry.path(), phase))
            .max()
            .unwrap_or(0)
    }

    /// The export that `swarm plan import` means when no file is named.
    pub fn exported_before(&self) -> Result<PathBuf, CliError> {
        let found = find_import(&self.paths).ok_or_else(|| {
            let place = self.relative(&self.paths.export_json);
            CliError::environment("There is no exported plan to import")
                .because(format!("{place} does not exist"))
                .run_instead("swarm plan import FILE")
        })?;
        self.tell(found.deprecated.as_slice());
        Ok(found.path)
    }

    /// The files that an export without a name writes.
    pub fn export_places(&self) -> Vec<String> {
        [&self.paths.export_json, &self.paths.export_md].map(|path| self.relative(path)).to_vec()
    }

    /// Writes the export artifacts and names the one that `import` reads.
    pub fn export_artifacts(&self) -> Result<String, CliError> {
        let reading = Store::open_reader(&self.paths, &self.options("read"), None)?;
        let head = reading.head.filter(|_| reading.state.plan.is_some()).ok_or(Refusal::NoPlan)?;
        let failed = projection::write_exports(&self.paths, &reading.state, &head);
        match failed.into_iter().find(|notice| notice.text.starts_with("Cannot")) {
            Some(notice) => Err(CliError::environment(notice.text)),
            None => Ok(self.relative(&self.paths.export_json)),
        }
    }

    /// A new place for what a person is typing, out of git's sight: what was kept before is not written over.
    pub fn scratch_file(&self, name: &str, end: &str) -> Result<PathBuf, CliError> {
        let names = (1..=SCRATCH_MAX).map(|n| match n {
            1 => format!("{name}.{end}"),
            n => format!("{name}-{n}.{end}"),
        });
        names.map(|name| self.paths.run.join(name)).find(|path| !path.exists()).ok_or_else(|| {
            CliError::environment(format!(
                "There are {SCRATCH_MAX} unfinished edits in {}",
                self.relative(&self.paths.run)
            ))
            .say("Look through them and remove those that you do not need")
        })
    }

    /// A file appears whole and durable, or not at all.
    pub fn write_whole(&self, file: &Path, bytes: &[u8]) -> Result<(), CliError> {
        // A name without a folder is meant from here.
        let file =
            if file.parent() == Some(Path::new("")) { Path::new(".").join(file) } else { file.to_owned() };
        replace(&file, bytes).map_err(|error| {
            CliError::environment(format!("Cannot write {}", self.relative(&file))).because(error)
        })
    }
}

/// A configuration to begin with. It holds nothing but what was found, because every key that stands in it no
/// longer follows the defaults.
pub fn first_config(proposed: &Proposal, isolation: Option<Isolation>) -> String {
    let mut lines =
        vec!["  // `swarm config show` lists every key with its value and where it comes from.".to_owned()];
    lines.extend(isolation.map(|wanted| format!("  \"isolation\": \"{}\",", wanted.word())));
    lines.extend(proposed_lines(proposed));
    format!("{{\n{}\n}}\n", lines.join("\n"))
}

/// The part of a configuration that is proposed, as it would stand there.
pub fn proposed_lines(proposed: &Proposal) -> Vec<String> {
    let mut lines = Vec::new();
    let mut worktree = Vec::new();
    if let Some(setup) = &proposed.setup {
        worktree.push(format!("    \"setup\": {},", words(setup)));
    }
    if !proposed.setup_when.is_empty() {
        worktree.push(format!("    \"setupWhen\": {},", words(&proposed.setup_when)));
    }
    if !proposed.copy.is_empty() {
        worktree.push(format!("    \"copy\": {},", words(&proposed.copy)));
    }
    if !worktree.is_empty() {
        lines.push("  // Prepares each worktree before an agent works in it.".into());
        lines.push("  \"worktree\": {".into());
        lines.append(&mut worktree);
        lines.push("  },".into());
    }
    if !proposed.check.is_empty() {
        let commands: Vec<String> = proposed.check.iter().map(|command| words(command)).collect();
        let commands = format!("[{}]", commands.join(", "));
        lines.push("  // What an agent finishes has to pass these, and so has the merged tree.".into());
        lines.push(format!("  \"check\": {{ \"commands\": {} }},", commands));
    }
    lines
}

fn words(words: &[String]) -> String {
    let quoted: Vec<String> =
        words.iter().map(|word| serde_json::Value::from(word.as_str()).to_string()).collect();
    format!("[{}]", quoted.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_proposed_is_a_configuration() {
        let list = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>();
        let all = Proposal {
            setup: Some(list(&["npm", "ci"])),
            setup_when: list(&["package-lock.json"]),
            copy: list(&[".env", "a \"quoted\" name"]),
            check: vec![list(&["npm", "test"]), list(&["cargo", "test"])],
            because: vec![],
        };
        for proposal in [all, Proposal::default()] {
            let dir = tempfile::tempdir().expect("a folder");
            let file = dir.path().join("config.json");
            std::fs::write(&file, first_config(&proposal, Some(Isolation::Reservation))).expect("writable");
            let config = swarm_engine::settings::load(&file, &Default::default(), &[]).expect("valid").config;
            assert_eq!(config.isolation, Isolation::Reservation);
            assert_eq!(config.worktree.copy, proposal.copy);
            assert_eq!(config.worktree.setup_when, proposal.setup_when);
            assert_eq!(config.check.commands.len(), proposal.check.len());
        }
    }
}
