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
    match numbers(theirs) > numbers(ours) {
        true => format!("Use swarm {theirs} in this repository"),
        false => "Run `swarm stop`, then `swarm run`: the work goes on with this version".into(),
    }
}

/// Text order would put 0.10 before 0.9.
fn numbers(version: &str) -> Vec<u64> {
    version.split(|c: char| !c.is_ascii_digit()).filter_map(|part| part.parse().ok()).collect()
}

#[cfg(test)]
mod tests {
    use swarm_protocol::api::ApiError;

    use super::*;

    fn bad_command() -> ClientError {
        let error = serde_json::json!({ "kind": "bad_command", "message": "This is not a command: unknown variant `dance`", "hint": "" });
        let error: ApiError = serde_json::from_value(error).expect("an error of the API");
        ClientError::Denied { status: 400, error }
    }

    #[test]
    fn what_another_release_does_not_know_is_explained_with_the_way_on() {
        let cases = [
            ("0.9.0", "0.10.0", "Run `swarm stop`, then `swarm run`: the work goes on with this version"),
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
