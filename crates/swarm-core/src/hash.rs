//! Two hashes of a plan: the structure (without statuses) for approval, the whole for the chain.

use serde_json::Value;
use sha2::{Digest, Sha256};

use crate::state::{State, Task};

/// Hash of goal, phases, tasks and execution profile, without any status.
pub fn structure_hash(state: &State) -> String {
    plan_digest(state, false)
}

/// Hash of the plan with the statuses of its tasks: `plan_hash_after` in the ledger.
pub fn plan_hash(state: &State) -> String {
    plan_digest(state, true)
}

pub(crate) fn hex(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    let mut out = String::with_capacity(bytes.len() * 2);
    for b in bytes {
        out.push(DIGITS[usize::from(b >> 4)] as char);
        out.push(DIGITS[usize::from(b & 15)] as char);
    }
    out
}

fn plan_digest(state: &State, statuses: bool) -> String {
    let Some(plan) = &state.plan else { return hex(&Sha256::digest(b"no plan")) };
    let mut hash = Sha256::new();
    let header = serde_json::json!({
        "goal": plan.goal,
        "execution_profile": plan.profile,
        "extra": plan.extra,
    });
    hash.update(canonical(&header));
    for phase in &plan.phases {
        let head = serde_json::json!({ "id": phase.id, "name": phase.name, "extra": phase.extra });
        hash.update(canonical(&head));
        for task in phase.tasks.iter().filter_map(|id| state.task(id)) {
            hash.update(task_digest(task));
            if statuses {
                hash.update(task.stage.status().word());
            }
        }
    }
    hex(&hash.finalize())
}

/// Digest of what a task asks for. A struct serialises in a fixed order; only unknown members need sorting.
fn task_digest(task: &Task) -> [u8; 32] {
    let mut hash = Sha256::new();
    if task.spec.extra.is_empty() {
        hash.update(serde_json::to_vec(&task.spec).unwrap_or_default());
    } else {
        hash.update(canonical(&serde_json::to_value(&task.spec).unwrap_or(Value::Null)));
    }
    hash.finalize().into()
}

/// JSON with sorted members, whatever order the library was built to keep.
fn canonical(value: &Value) -> String {
    fn write(value: &Value, out: &mut String) {
        match value {
            Value::Object(map) => {
                let mut members: Vec<_> = map.iter().collect();
                members.sort_by(|a, b| a.0.cmp(b.0));
                out.push('{');
                for (i, (name, value)) in members.into_iter().enumerate() {
                    if i > 0 {
                        out.push(',');
                    }
                    out.push_str(&Value::from(name.as_str()).to_string());
                    out.push(':');
                    write(value, out);
                }
                out.push('}');
            }
            Value::Array(items) => {
                out.push('[');
                for (i, item) in items.iter().enumerate() {
                    if i > 0 {
                        out.push(',');
                    }
                    write(item, out);
                }
                out.push(']');
            }
            leaf => out.push_str(&leaf.to_string()),
        }
    }
    let mut out = String::new();
    write(value, &mut out);
    out
}
