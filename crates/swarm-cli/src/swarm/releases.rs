//! This program and the swarm that runs may be of two releases: somebody upgraded meanwhile.

use swarm_server::client::{Client, ClientError};

use super::Swarm;
use crate::error::CliError;

impl Swarm {
    /// The release of the coordinator, if it is not ours.
    fn another_release(&self) -> Option<String> {
        let pong = self.runtime.block_on(Client::new(&self.paths.socket).ping()).ok()?;
        (pong.swarm != swarm_process::release()).then_some(pong.swarm)
    }

    /// Told beside a view: what is new in one of the two is not in the other.
    pub fn note_another_release(&self) {
        if let Some(theirs) = self.another_release() {
            let ours = swarm_process::release();
            crate::output::note(&format!("Note: {}. {}", differ(&theirs, &ours), way_on(&theirs, &ours)));
        }
    }

    /// The coordinator answered with something else than an answer to what was asked.
    pub(super) fn not_understood(&self, error: &ClientError) -> CliError {
        explained(error, self.another_release().as_deref(), &swarm_process::release())
    }
}

fn explained(error: &ClientError, theirs: Option<&str>, ours: &str) -> CliError {
    match theirs {
        Some(theirs) => {
            CliError::environment(differ(theirs, ours)).because_of(error).say(way_on(theirs, ours))
        }
        None => CliError::environment("Cannot ask the coordinator").because_of(error),
    }
}

fn differ(theirs: &str, ours: &str) -> String {
    format!("The running swarm is version {theirs}, and this program is version {ours}")
}

/// An older program may not read what a newer one has recorded, so the way is always to the newer one.
fn way_on(theirs: &str, ours: &str) -> String {
    match rank(theirs) > rank(ours) {
        true => format!("Use swarm {theirs} in this repository"),
        false => "Run `swarm stop`, then `swarm run`: work continues with this version".into(),
    }
}

/// A part of what stands behind the `-`: a number is before a word, and a shorter number is the smaller one.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Part<'a> {
    Number(u64),
    Word(&'a str),
}

/// The order of versions, a pre-release (`0.10.0-rc.1`) before its release. Text order would put 0.10 before 0.9.
fn rank(version: &str) -> (Vec<u64>, bool, Vec<Part<'_>>) {
    let version = version.split('+').next().unwrap_or(version);
    let (numbers, before) = version.split_once('-').map_or((version, None), |(n, pre)| (n, Some(pre)));
    let numbers = numbers.split('.').map(|part| part.parse().unwrap_or(0)).collect();
    let part = |part| str::parse(part).map_or(Part::Word(part), Part::Number);
    (numbers, before.is_none(), before.into_iter().flat_map(|pre| pre.split('.')).map(part).collect())
}

#[cfg(test)]
mod tests {
    use swarm_protocol::api::ApiError;

    use super::*;

    #[test]
    fn a_pre_release_is_older_than_its_release_and_newer_than_the_one_before() {
        let order = [
            "0.9.0",
            "0.10.0-alpha",
            "0.10.0-alpha.1",
            "0.10.0-alpha.beta",
            "0.10.0-beta.2",
            "0.10.0-beta.11",
            "0.10.0-rc.1",
            "0.10.0",
            "0.10.1-rc.1",
            "1.0.0",
        ];
        assert!(order.is_sorted_by(|one, other| rank(one) < rank(other)), "{:?}", order.map(rank));
        assert_eq!(rank("1.0.0+build.7"), rank("1.0.0"));
        assert!(way_on("0.10.0", "0.10.0-rc.1").starts_with("Use swarm 0.10.0"));
    }

    fn bad_command() -> ClientError {
        let error = serde_json::json!({ "kind": "bad_command", "message": "This is not a command: unknown variant `dance`", "hint": "" });
        let error: ApiError = serde_json::from_value(error).expect("an error of the API");
        ClientError::Denied { status: 400, error }
    }

    #[test]
    fn what_another_release_does_not_know_is_explained_with_the_way_on() {
        let cases = [
            ("0.9.0", "0.10.0", "Run `swarm stop`, then `swarm run`: work continues with this version"),
            ("0.10.0", "0.9.0", "Use swarm 0.10.0 in this repository"),
        ];
        for (theirs, ours, hint) in cases {
            let said = explained(&bad_command(), Some(theirs), ours).to_string();
            assert!(
                said.contains(&format!("is version {theirs}, and this program is version {ours}")),
                "{said}"
            );
            assert!(said.contains("unknown variant `dance`") && said.contains(hint), "{said}");
        }
        let same = explained(&bad_command(), None, "0.9.0").to_string();
        assert!(same.starts_with("Error: Cannot ask the coordinator"), "{same}");
    }
}
