//! What the gates of a task rest on, for people and other tools to read. It completes nothing: the ledger does.

use serde_json::{Value, json};
use swarm_protocol::council::{Decision, Seat, Voice};
use swarm_protocol::ids::TaskId;
use swarm_protocol::plan::Status;

use crate::state::State;

/// What the council said about the work of the task, the last time it was asked; none where it never was.
pub fn evidence(state: &State, id: &TaskId) -> Option<Value> {
    let task = state.task(id)?;
    // By time: rounds begin anew with work that is done again.
    let last = task.council.values().max_by_key(|seat| (seat.at, seat.round))?;
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

/// The same of a task whose present work no council has judged; none: there is no such task.
pub fn no_evidence(state: &State, id: &TaskId) -> Option<Value> {
    let status = state.task(id)?.stage.status();
    Some(json!({ "taskId": id, "status": status, "completed": status == Status::Done, "gates": {} }))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use swarm_protocol::council::CouncilRules;
    use swarm_protocol::event::Event;
    use swarm_protocol::ids::{Oid, RunId};
    use swarm_protocol::plan::TaskSpec;
    use swarm_protocol::time::Timestamp;

    use super::*;

    #[test]
    fn what_was_said_before_the_work_was_taken_back_is_no_evidence_of_what_is_done_again() {
        let task = TaskId::new("1.1").expect("an id");
        let mut state = State::default();
        let members = ["a", "b", "c"].map(|name| (name.to_owned(), "judge".to_owned()));
        state.policy.council = CouncilRules { members: BTreeMap::from(members), quorum: 0, veto: false };
        let spec = TaskSpec::new(task.clone(), "First");
        state.apply(&Event::TaskAdded { task: task.clone(), phase: 1, after: None, spec }, Timestamp(1));
        let spoken = [
            (2, 'b', 2, "b", Voice::Approve),
            (3, 'b', 2, "c", Voice::Approve),
            // Rolled back, and judged again from the first round on.
            (4, 'd', 1, "a", Voice::Reject),
        ];
        for (at, tree, round, member, voice) in spoken {
            let tree = Oid::new(tree.to_string().repeat(40)).expect("hex digits");
            let (run, member, said, notes) = (RunId::nth(at), member.to_owned(), String::new(), vec![]);
            let spoke =
                Event::CouncilSpoke { task: task.clone(), run, member, tree, round, voice, said, notes };
            state.apply(&spoke, Timestamp(at));
        }
        let council = &evidence(&state, &task).expect("a council has spoken")["gates"]["council"];
        assert_eq!((&council["verdict"], &council["round"]), (&json!("PENDING"), &json!(1)));
        assert_eq!(council["members"].as_object().map(serde_json::Map::len), Some(1));
    }
}
