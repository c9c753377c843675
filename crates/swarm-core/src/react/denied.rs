//! The sandbox, or the program's own rules, did not allow what the work needs: it is handed to the
//! profile with broader rights where there is one, else a person is asked.

use swarm_protocol::event::Event;
use swarm_protocol::failure::Failure;
use swarm_protocol::outcome::Next;
use swarm_protocol::plan::BlockKind;
use swarm_protocol::time::Timestamp;

use super::failure::{Consequences, with_hint};
use super::work::Live;
use crate::state::State;

pub(super) fn denied(state: &State, l: &Live<'_>, failure: &Failure, now: Timestamp) -> Consequences {
    let profile = l.record.profile.as_deref().unwrap_or_else(|| state.preferred_profile(l.task));
    // Profiles that pass a task round in a circle would do so for ever.
    let fresh = |broader: &&str| *broader != profile && !l.task.denied_under.contains(*broader);
    match state.broader_than(profile).filter(fresh) {
        Some(broader) => {
            let why = format!("{profile} was denied: {}", crate::text::tail(&failure.text));
            let assigned = Event::ProfileAssigned { task: l.id.clone(), profile: broader.into(), why };
            Consequences { next: Next::Pending { not_before: now, counts: false }, then: vec![assigned] }
        }
        None => {
            let why = format!("{}; no profile with broader rights is configured for it", with_hint(failure));
            Consequences::from(Next::Blocked { block: BlockKind::Sandbox, why })
        }
    }
}
