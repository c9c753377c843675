//! A member of the council has been asked. Its voice is about one tree; what the council decides follows when nobody
//! speaks any more.

use swarm_protocol::council::Voice;
use swarm_protocol::event::Event;
use swarm_protocol::failure::{Consequence, Failure};
use swarm_protocol::ids::{Oid, RunId, TaskId};
use swarm_protocol::judgement::Judgement;
use swarm_protocol::outcome::Next;
use swarm_protocol::review::ReviewNote;
use swarm_protocol::time::Timestamp;

use super::failure::backoff_ms;
use super::quota::{self, Met};
use crate::limits::REVIEW_TRIES;
use crate::state::{State, Task};

/// Who was asked about what.
pub(super) struct Seated<'a> {
    pub run: &'a RunId,
    pub id: TaskId,
    pub task: &'a Task,
    pub tree: &'a Oid,
    pub member: &'a str,
}

impl Seated<'_> {
    fn voice(self, voice: Voice, said: String, notes: Vec<ReviewNote>) -> Event {
        let said = crate::text::tail(&said);
        let Self { run, id, task, tree, member } = self;
        let (run, tree, member) = (run.clone(), tree.clone(), member.to_owned());
        let round = task.review_rounds + 1;
        Event::CouncilSpoke { task: id, run, member, tree, round, voice, said, notes }
    }

    fn again(self, why: String, not_before: Timestamp, counts: Option<bool>) -> Event {
        let (next, run) = (Next::Review { not_before }, self.run.clone());
        Event::ReviewLost { task: self.id, status: next.status(), run, why, next, counts }
    }
}

/// Who has no verdict is asked again for a while, and is absent then: the others can decide without, where they are
/// enough.
pub(super) fn spoke(
    state: &State,
    seated: Seated<'_>,
    judgement: Result<Judgement, String>,
    failure: Option<&Failure>,
    now: Timestamp,
) -> Vec<Event> {
    let why = match judgement {
        Ok(Judgement { voice, summary, notes }) => return vec![seated.voice(voice, summary, notes)],
        Err(why) => crate::text::tail(&why),
    };
    let record = state.runs.get(seated.run);
    match (failure.map(|failure| (failure, failure.class.consequence())), record) {
        (Some((failure, Consequence::Quota)), Some(record)) => {
            let gate =
                quota::used_up(state, Met { task: &seated.id, run: seated.run, record }, failure, now).then;
            std::iter::once(seated.again(why, now, Some(false))).chain(gate).collect()
        }
        (Some((_, Consequence::Setup)), _) => vec![seated.voice(Voice::Absent, why, vec![])],
        _ => {
            let n = seated.task.council_lost.get(seated.member).copied().unwrap_or(0) + 1;
            vec![match n > state.policy.transient_max.min(REVIEW_TRIES) {
                true => seated.voice(Voice::Absent, why, vec![]),
                false => seated.again(why, now.plus_ms(backoff_ms(state, n)), None),
            }]
        }
    }
}
