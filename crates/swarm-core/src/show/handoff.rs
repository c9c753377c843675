//! What a fresh agent or person needs to go on: as much as somebody reads, and where the rest is.

use serde::Serialize;
use swarm_protocol::view::{AuditView, ConflictView, HandoffView, MoreView};

use super::attention::attention;
use super::status::{approval, phase_view};
use super::task::row;
use crate::stage::Stage;
use crate::state::{State, Task};

/// What each list may take as JSON. Together they stay below what a model reads at once, however large the plan is.
const OPEN_BYTES: usize = 8_000;
const OTHER_BYTES: usize = 2_500;

pub fn handoff(state: &State) -> HandoffView {
    let plan = state.plan.as_ref();
    let phase =
        plan.and_then(|p| p.phases.iter().find(|phase| !phase.complete)).map(|p| phase_view(state, p));
    let open = |at_work: bool| {
        let all = state.tasks_in_order().filter(|t| !t.stage.is_closed());
        all.filter(move |t| matches!(t.stage, Stage::Pending { .. }) != at_work)
    };
    let in_review = state.tasks_in_order().filter(|t| matches!(t.stage, Stage::Review { .. }));
    let rows = |tasks: &mut dyn Iterator<Item = &Task>, bytes| fitting(tasks, bytes, |t| row(state, t));
    let mut more = vec![];
    let mut rest = |what: &str, count: usize, command: &str| {
        if count > 0 {
            more.push(MoreView { what: what.into(), count, command: command.into() });
        }
    };
    let (open, left) = rows(&mut open(true).chain(open(false)), OPEN_BYTES);
    rest("open tasks", left, "swarm task list");
    let (pending_reviews, left) = rows(&mut in_review.into_iter(), OTHER_BYTES);
    rest("reviews to come", left, "swarm review list");
    let (attention, left) = fitting(attention(state).into_iter(), OTHER_BYTES, |entry| entry);
    rest("entries that wait for a person", left, "swarm attention");
    // The youngest decisions count most, and are still told in their order.
    let audits = state.decisions.iter().rev();
    let (mut decisions, left) = fitting(audits, OTHER_BYTES, |a| AuditView {
        at: a.at,
        event: a.event.clone(),
        details: a.details.clone(),
    });
    decisions.reverse();
    rest("earlier decisions", left, "swarm plan history");
    HandoffView {
        seq: state.seq,
        goal: plan.map(|p| p.goal.clone()).unwrap_or_default(),
        phase,
        execution_profile: plan.map(|p| p.profile).unwrap_or_default(),
        open,
        pending_reviews,
        decisions,
        attention,
        conflicts: vec![],
        more,
        approved: approval(state),
    }
}

/// Puts what will conflict into it, as far as there is room.
pub fn foresee(view: &mut HandoffView, conflicts: Vec<ConflictView>) {
    let (shown, left) = fitting(conflicts.into_iter(), OTHER_BYTES, |conflict| conflict);
    view.conflicts = shown;
    if left > 0 {
        let (what, command) = ("conflicts ahead".into(), "swarm status --json".into());
        view.more.push(MoreView { what, count: left, command });
    }
}

/// The first entries that fit, at least one; and how many are left.
fn fitting<I: Iterator, T: Serialize>(
    mut all: I,
    bytes_max: usize,
    view: impl Fn(I::Item) -> T,
) -> (Vec<T>, usize) {
    let (mut shown, mut bytes) = (vec![], 0);
    for entry in all.by_ref() {
        let entry = view(entry);
        bytes += serde_json::to_string(&entry).map_or(0, |text| text.len() + 1);
        if bytes > bytes_max && !shown.is_empty() {
            return (shown, 1 + all.count());
        }
        shown.push(entry);
    }
    (shown, 0)
}
