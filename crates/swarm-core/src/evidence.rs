//! What the gates of a task rest on, for people and other tools to read. It completes nothing: the ledger does.

use serde_json::{Value, json};
use swarm_protocol::council::{Decision, Seat, Voice};
use swarm_protocol::ids::TaskId;
use swarm_protocol::plan::Status;

use crate::state::State;

/// What the council said about the work of the task, the last time it was asked; none where it never was.
pub fn evidence(state: &State, id: &TaskId) -> Option<Value> {
    let task = state.task(id)?;
    let last = task.council.values().max_by_key(|seat| (seat.round, seat.at))?;
    let same = |seat: &&Seat| seat.round == last.round && seat.tree == last.tree;
    let voice_of = |name: &str| task.council.get(name).filter(same).map(|seat| seat.voice);
    let rules = &state.policy.council;
    let members: serde_json::Map<String, Value> = task
        .council
        .iter()
        .filter(|(_, seat)| same(seat))
        .map(|(name, seat)| {
            let said = json!({
                "verdict": seat.voice, "summary": seat.said, "notes": seat.notes, "run": seat.run, "at": seat.at,
            });
            (name.clone(), said)
        })
        .collect();
    let verdict = match rules.decide(voice_of) {
        Decision::Passes if rules.members.keys().any(|name| voice_of(name) == Some(Voice::Concerns)) => {
            "CONCERNS"
        }
        Decision::Passes => "APPROVE",
        Decision::SentBack => "REJECT",
        Decision::NoQuorum => "NO_QUORUM",
        Decision::Open => "PENDING",
    };
    Some(json!({
        "taskId": id,
        "status": task.stage.status(),
        "completed": task.stage.status() == Status::Done,
        "gates": {
            "council": {
                "verdict": verdict,
                "round": last.round,
                "tree": last.tree,
                "quorum": rules.quorum(),
                "veto": rules.veto,
                "members": members,
            }
        }
    }))
}
