//! What a git of ours is told by variables.

use std::collections::BTreeMap;
use std::ffi::OsString;

/// Variables handed on from our own environment: where programs, the person's own configuration
/// and temporary files are. No `GIT_DIR`, no `GIT_INDEX_FILE`, no pager, no editor, no password asker.
const HANDED_ON: [&str; 10] = [
    "PATH",
    "HOME",
    "USER",
    "LOGNAME",
    "TMPDIR",
    "XDG_CONFIG_HOME",
    "GIT_CONFIG_GLOBAL",
    "GIT_CONFIG_SYSTEM",
    "GIT_CONFIG_NOSYSTEM",
    "GIT_EXEC_PATH",
];

pub fn base_env() -> BTreeMap<OsString, OsString> {
    let mut env: BTreeMap<OsString, OsString> =
        HANDED_ON.iter().filter_map(|name| Some(((*name).into(), std::env::var_os(name)?))).collect();
    for (name, value) in [("LC_ALL", "C"), ("GIT_TERMINAL_PROMPT", "0"), ("GIT_OPTIONAL_LOCKS", "0")] {
        env.insert(name.into(), value.into());
    }
    env
}
