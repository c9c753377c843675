//! Which effect a report speaks of, when it is about the effect itself.

use serde::{Deserialize, Serialize};
use swarm_protocol::ids::RunId;

use crate::effect::Key;

/// The key of an effect as it stands in a report.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct KeyName {
    pub verb: String,
    pub run: Option<RunId>,
    /// Of an operation, a checkpoint or a hook.
    #[serde(default)]
    pub name: Option<String>,
}

impl From<&Key> for KeyName {
    fn from(key: &Key) -> Self {
        let (verb, run) = match key {
            Key::Stop(run) => ("Stop", Some(run)),
            Key::Prepare(run) => ("Prepare", Some(run)),
            Key::Work(run) => ("Work", Some(run)),
            Key::Verify(run) => ("Verify", Some(run)),
            Key::Review(run) => ("Review", Some(run)),
            Key::Probe(run) => ("Probe", Some(run)),
            Key::Build(_) => ("Build", None),
            Key::Publish(_) => ("Publish", None),
            Key::Release(_) => ("Release", None),
            Key::Watch(_) => ("Watch", None),
            Key::WatchTrunk(_) => ("WatchTrunk", None),
            Key::Remove(_) => ("Remove", None),
            Key::Revive(_) => ("Revive", None),
            Key::Rewind(_) => ("Rewind", None),
            Key::Survey(_) => ("Survey", None),
            Key::Save(_) => ("Save", None),
            Key::Mark(_) => ("Mark", None),
            Key::Move(_) => ("Move", None),
            Key::Resolve(_) => ("Resolve", None),
            Key::Forget(_) => ("Forget", None),
            Key::Hook(_) => ("Hook", None),
            Key::Prove => ("Prove", None),
        };
        let name = match key {
            Key::Survey(op) | Key::Move(op) | Key::Resolve(op) => Some(op.as_str().into()),
            Key::Save(name) | Key::Mark(name) | Key::Forget(name) => Some(name.clone()),
            Key::Hook(n) => Some(n.to_string()),
            _ => None,
        };
        Self { verb: verb.into(), run: run.cloned(), name }
    }
}
