//! Every failure has its own recovery: one trial or more for each, with real processes, real git and short clocks.

mod budget;
mod circles;
mod claims;
mod coordinator;
mod crash;
mod denied;
mod disk;
mod locked;
mod lost_refs;
mod message;
mod moved;
mod overflow;
mod quota;
mod set_up;
mod silent;
mod spinning;
mod weekend;

use serde_json::{Value, json};

use crate::arena::{Arena, wait_for};
use crate::ground::arena_with;

/// An arena whose clocks are short, changed by these members.
fn hurried(changes: Value) -> Arena {
    let mut config = json!({
        "recovery": { "maxRetries": 2, "backoffMax": "1s", "maxCrashes": 5 },
        "quota": { "probeEvery": "1s" },
    });
    for (name, value) in changes.as_object().cloned().unwrap_or_default() {
        config[name] = value;
    }
    arena_with(config)
}

impl Arena {
    /// What `swarm attention` says, as one text to search in.
    fn waits_for_a_person(&self) -> String {
        self.json(&["attention"]).to_string()
    }

    /// How often a kind of record stands in the ledger.
    fn recorded(&self, kind: &str) -> usize {
        let ledger = std::fs::read_to_string(self.root.join(".swarm/plan-ledger.jsonl")).unwrap_or_default();
        ledger.matches(&format!("\"type\":\"{kind}\"")).count()
    }

    /// Waits until a record of this kind is durable.
    fn until_recorded(&self, kind: &str, times: usize) {
        wait_for(&format!("{kind} is recorded {times} times"), || self.recorded(kind) >= times);
    }

    /// The prompt that a run has been given last.
    pub fn prompt_of(&self, run: &str) -> String {
        let spec = self.root.join(format!(".swarm/run/daemons/{run}.spec.json"));
        let spec: Value =
            serde_json::from_slice(&std::fs::read(spec).unwrap_or_default()).unwrap_or_default();
        let scratch = format!("swarm-{}", spec["nonce"].as_str().unwrap_or_default());
        std::fs::read_to_string(std::env::temp_dir().join(scratch).join("prompt.md")).unwrap_or_default()
    }

    fn refused(&self, args: &[&str]) -> String {
        let out = self.swarm(args);
        let said = String::from_utf8_lossy(&[out.stdout, out.stderr].concat()).into_owned();
        assert!(!out.status.success(), "swarm {args:?} was not refused: {said}");
        said
    }
}
