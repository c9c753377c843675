//! What must not stand in a log: values of this process and of the agents it knows, and whatever looks like a key.

use std::ffi::OsString;
use std::sync::{PoisonError, RwLock};

use swarm_agents::redact::Redactor;

static REDACTOR: RwLock<Option<Redactor>> = RwLock::new(None);

/// From now on these too are left out, as far as their names say that they are secret; those of our own environment
/// always are.
pub fn hide(more: impl IntoIterator<Item = (OsString, OsString)>) {
    let all: Vec<(OsString, OsString)> = std::env::vars_os().chain(more).collect();
    let redactor = Redactor::for_environment(all.iter().map(|(name, value)| (name, value)));
    *REDACTOR.write().unwrap_or_else(PoisonError::into_inner) = Some(redactor);
}

/// The text without secrets.
pub fn redacted(text: &str) -> String {
    match &*REDACTOR.read().unwrap_or_else(PoisonError::into_inner) {
        Some(redactor) => redactor.redact(text).into_owned(),
        None => text.to_owned(),
    }
}
