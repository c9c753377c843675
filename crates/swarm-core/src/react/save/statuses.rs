//! Statuses that a plan file brings: which are taken over, and which not.

use swarm_protocol::event::Event;
use swarm_protocol::plan::{BlockKind, PlanFile, Status, TaskFile};

use crate::limits::REASON_MAX;
use crate::state::State;

/// Tasks named of those whose status in the file is not taken over.
const NAMED_MAX: usize = 5;

/// Statuses that an import takes over; what was under way elsewhere starts anew here.
pub(super) fn of(file: &PlanFile) -> Vec<Event> {
    let tasks = file.phases.iter().flat_map(|p| &p.tasks);
    tasks
        .filter_map(|task| {
            let status = task.status?;
            let taken =
                matches!(status, Status::Done | Status::Blocked | Status::Deferred | Status::Cancelled);
            taken.then(|| Event::TaskStatusChanged {
                task: task.id.clone(),
                status,
                why: Some(reason(task)),
                block: (status == Status::Blocked).then_some(BlockKind::Human),
                proof: None,
                was: None,
            })
        })
        .collect()
}

/// Why it is so, where the file says it: other tools have a word for it.
fn reason(task: &TaskFile) -> String {
    let said = ["blocked_reason", "close_reason"].iter().find_map(|key| task.extra.get(*key)?.as_str());
    let said = said.map(str::trim).filter(|text| !text.is_empty()).unwrap_or("imported");
    said.char_indices().take_while(|(at, c)| at + c.len_utf8() <= REASON_MAX).map(|(_, c)| c).collect()
}

/// Tasks that the file calls something else than what has become of them here. Those that are cancelled have words of
/// their own.
pub(super) fn not_taken(state: &State, statuses: &[Event]) -> Option<String> {
    let kept = statuses.iter().filter(|event| !is_taken(state, event)).filter_map(|event| {
        let Event::TaskStatusChanged { task, status, .. } = event else { return None };
        let here = state.task(task)?.stage.status();
        (here != *status && here != Status::Cancelled).then(|| format!("{task}, which {}", here.sentence()))
    });
    let kept: Vec<String> = kept.collect();
    let more = if kept.len() > NAMED_MAX { " …" } else { "" };
    let shown = kept.iter().take(NAMED_MAX).map(String::as_str).collect::<Vec<_>>().join(", ");
    (!kept.is_empty()).then(|| format!("{shown}{more}"))
}

/// An import never takes a status away from work that is under way or done here.
pub(super) fn is_taken(state: &State, event: &Event) -> bool {
    let Event::TaskStatusChanged { task, status, .. } = event else { return true };
    state.task(task).is_none_or(|t| t.stage.status() == Status::Pending && *status != Status::Pending)
}
