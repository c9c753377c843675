//! The council has been heard as far as it takes.

use swarm_protocol::council::{Decision, Seat, Voice};
use swarm_protocol::event::Event;
use swarm_protocol::ids::{Oid, TaskId};
use swarm_protocol::outcome::Next;
use swarm_protocol::plan::BlockKind;
use swarm_protocol::review::{ReviewNote, Reviewer};
use swarm_protocol::time::Timestamp;

use crate::limits::VERDICT_NOTES_MAX;
use crate::planted::{self, Bug};
use crate::react;
use crate::reviewer::reviewer;
use crate::stage::Stage;
use crate::state::{State, Task};

/// What follows from the voices about submitted work, once nobody is speaking: whoever is being asked is let finish,
/// so that the next attempt is told everything at once.
pub(super) fn decides(state: &State, now: Timestamp) -> Option<Event> {
    state.waiting_reviews().find_map(|id| {
        let task = state.task(id)?;
        let Stage::Review { tip, tree, .. } = &task.stage else { return None };
        if reviewer(state, task) != Reviewer::Council {
            return None;
        }
        let decision = match state.policy.council.decide(|name| task.voice(name)) {
            Decision::Open if planted::is(Bug::OneVoiceIsEnough) && task.seats().next().is_some() => {
                Decision::Passes
            }
            decision => decision,
        };
        match decision {
            Decision::Open => None,
            Decision::Passes => {
                Some(react::approved(id.clone(), tip.clone(), tree.clone(), Reviewer::Council.word()))
            }
            Decision::SentBack => Some(sent_back(state, id, task, tip, now)),
            Decision::NoQuorum => no_quorum(state, id, task),
        }
    })
}

/// With what everybody remarked, also those who would have let it pass.
fn sent_back(state: &State, id: &TaskId, task: &Task, tip: &Oid, now: Timestamp) -> Event {
    let share = VERDICT_NOTES_MAX / task.seats().count().max(1);
    let by_member = |(name, seat): (&String, &Seat)| remarks(name, &seat.notes, share);
    let next = react::after_changes(state, task, now);
    Event::ChangesRequested {
        task: id.clone(),
        status: next.status(),
        tip: tip.clone(),
        round: task.review_rounds + 1,
        notes: task.seats().flat_map(by_member).collect(),
        next,
        run: task.seats().map(|(_, seat)| seat.run.clone()).max(),
    }
}

/// What one member remarked, in its name: as much of it as has room beside what the others did.
fn remarks(member: &str, notes: &[ReviewNote], bytes_max: usize) -> Vec<ReviewNote> {
    let (mut said, mut room) = (Vec::new(), bytes_max);
    for note in notes {
        let named = ReviewNote { text: format!("{member}: {}", note.text), ..note.clone() };
        let bytes = serde_json::to_vec(&named).map_or(usize::MAX, |bytes| bytes.len());
        let Some(rest) = room.checked_sub(bytes) else { break };
        room = rest;
        said.push(named);
    }
    let more = match notes.len() - said.len() {
        0 => return said,
        1 => "1 more remark".to_string(),
        n => format!("{n} more remarks"),
    };
    said.push(ReviewNote { text: format!("{member}: and {more}"), ..ReviewNote::default() });
    said
}

fn no_quorum(state: &State, id: &TaskId, task: &Task) -> Option<Event> {
    let (run, rules) = (task.seats().map(|(_, seat)| seat.run.clone()).max()?, &state.policy.council);
    let absent: Vec<String> = task
        .seats()
        .filter(|(_, seat)| seat.voice == Voice::Absent)
        .map(|(name, seat)| format!("{name}: {}", seat.said))
        .collect();
    let passed = task.seats().filter(|(_, seat)| seat.voice.passes()).count();
    let why = format!(
        "the council has no quorum: {passed} of {} let it pass, {} must. Without a verdict: {}",
        rules.members.len(),
        rules.quorum(),
        absent.join("; ")
    );
    let next = Next::Blocked { block: BlockKind::Review, why: crate::text::tail(&why) };
    Some(Event::ReviewLost {
        task: id.clone(),
        status: next.status(),
        run,
        why: crate::text::tail(&why),
        next,
        counts: None,
    })
}

#[cfg(test)]
mod tests {
    use swarm_protocol::council::MEMBERS_MAX;

    use super::*;

    #[test]
    fn what_all_members_remark_fits_into_one_record() {
        let text = |n: usize| format!("{n} {}", "x".repeat(2_500));
        let notes: Vec<ReviewNote> =
            (0..100).map(|n| ReviewNote { text: text(n), ..ReviewNote::default() }).collect();
        let said: Vec<ReviewNote> =
            (0..MEMBERS_MAX).flat_map(|_| remarks("x", &notes, VERDICT_NOTES_MAX / MEMBERS_MAX)).collect();
        let bytes = serde_json::to_vec(&said).expect("plain data").len();
        assert!((VERDICT_NOTES_MAX / 2..VERDICT_NOTES_MAX + 4_096).contains(&bytes), "{bytes}");
        let left_out = 101 - said.len() / MEMBERS_MAX;
        assert_eq!(
            said.last().map(|note| note.text.clone()),
            Some(format!("x: and {left_out} more remarks"))
        );
        assert_eq!(remarks("x", &notes[..1], VERDICT_NOTES_MAX)[0].text, format!("x: {}", text(0)));
    }
}
