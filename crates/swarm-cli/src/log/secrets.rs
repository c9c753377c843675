//! What must not stand in a log: values of this process and of the agents it knows, and whatever looks like a key.

use std::ffi::{OsStr, OsString};
use std::sync::{PoisonError, RwLock};

use swarm_agents::redact::Redactor;
use swarm_process::environment::is_secret;

static REDACTOR: RwLock<Option<Redactor>> = RwLock::new(None);

/// From now on these too are left out, as far as their names say that they are secret; those of our own environment
/// always are.
pub fn hide(more: impl IntoIterator<Item = (OsString, OsString)>) {
    let all: Vec<(OsString, OsString)> = std::env::vars_os().chain(more).collect();
    let redactor = Redactor::for_environment(all.iter().map(|(name, value)| (name, value)));
    *REDACTOR.write().unwrap_or_else(PoisonError::into_inner) = Some(redactor);
}

/// The values that stand behind a switch with the name of a secret: `--api-key VALUE`, `--token=VALUE`.
pub fn of_command_line(words: &[String]) -> Vec<(OsString, OsString)> {
    let switches = words.iter().enumerate().filter(|(_, word)| word.starts_with('-'));
    let values = switches.filter_map(|(n, word)| {
        let (name, value) = match word.split_once('=') {
            Some((name, value)) => (name, value),
            None => (word.as_str(), words.get(n + 1)?.as_str()),
        };
        is_secret(OsStr::new(name)).then(|| (name.into(), value.into()))
    });
    values.collect()
}

/// The text without secrets.
pub fn redacted(text: &str) -> String {
    match &*REDACTOR.read().unwrap_or_else(PoisonError::into_inner) {
        Some(redactor) => redactor.redact(text).into_owned(),
        None => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_behind_secret_switches_are_found_and_others_are_not() {
        let words = ["run", "--api-key", "abcdefgh", "--model", "large", "--auth-token=ijklmnop", "--key"];
        let found = of_command_line(&words.map(str::to_owned));
        let values: Vec<_> = found.iter().map(|(_, value)| value.to_str().unwrap_or_default()).collect();
        assert_eq!(values, ["abcdefgh", "ijklmnop"]);
    }
}
