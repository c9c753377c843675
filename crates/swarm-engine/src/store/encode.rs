//! Events as the ledger takes them.

use swarm_core::State;
use swarm_core::hash::plan_hash;
use swarm_ledger::{Fragment, LedgerPaths, Vfs, payload};
use swarm_protocol::event::Event;
use swarm_protocol::record;

use super::error::StoreError;

/// A plan snapshot above this is a file of its own: records are read whole, one by one.
const INLINE_MAX: usize = 64 * 1024;

/// The bodies of one batch. `state` has taken the events in; the last plan event carries its hash.
pub(super) fn fragments(
    state: &State,
    events: &mut [Event],
    by: &str,
    vfs: &dyn Vfs,
    paths: &LedgerPaths,
) -> Result<Vec<Fragment>, StoreError> {
    for event in events.iter_mut() {
        move_large_plan_out(event, vfs, paths)?;
    }
    let last_plan_event = events.iter().rposition(Event::is_plan_event);
    let hash = last_plan_event.map(|_| plan_hash(state));
    let body = |(at, event): (usize, &Event)| {
        let hash = if Some(at) == last_plan_event { hash.as_deref() } else { None };
        let body = record::body(event, by, hash);
        must_read_back(event, &body)?;
        Ok(Fragment::new(body))
    };
    events.iter().enumerate().map(body).collect()
}

/// A record that nobody could read again would be the end of the ledger: it is refused before it is written. This costs a
/// small part of the sync that follows.
fn must_read_back(event: &Event, body: &str) -> Result<(), StoreError> {
    let why = match record::event_of(body.as_bytes()) {
        Ok(read) if read == *event => return Ok(()),
        Ok(_) => "it would come back as another one".into(),
        Err(error) => error.to_string(),
    };
    Err(StoreError::Unwritable { kind: event.kind(), why })
}

/// Durable before the record that names it.
fn move_large_plan_out(event: &mut Event, vfs: &dyn Vfs, paths: &LedgerPaths) -> Result<(), StoreError> {
    let Event::Snapshot { data } = event else { return Ok(()) };
    let Some(plan) = &data.plan else { return Ok(()) };
    let bytes = plan.to_string().into_bytes();
    if bytes.len() > INLINE_MAX {
        let hash = payload::put(vfs, paths, &bytes).map_err(StoreError::Payload)?;
        data.plan = None;
        data.file = Some(hash.to_string());
        data.payload_hash = hash.to_string();
    }
    Ok(())
}

/// The first record names its ledger by chance, so that no two ledgers are ever taken for one.
pub(super) fn draw_ledger_id() -> Result<String, StoreError> {
    let mut bytes = [0u8; 16];
    let mut filled = 0;
    while filled < bytes.len() {
        let more = rustix::rand::getrandom(&mut bytes[filled..], rustix::rand::GetRandomFlags::empty());
        filled += more.map_err(|e| {
            StoreError::io("read random bytes for", std::path::Path::new("the ledger"))(e.into())
        })?;
    }
    Ok(bytes.iter().map(|b| format!("{b:02x}")).collect())
}
