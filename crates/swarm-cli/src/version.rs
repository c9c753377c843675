//! `swarm --version --verbose`: what the report of a bug has to say. It needs no repository.

use std::ffi::OsString;
use std::process::ExitCode;

use serde_json::json;

use crate::exit::Exit;
use crate::output::{self, Output};

/// Set where a release is made.
const COMMIT: Option<&str> = option_env!("SWARM_COMMIT");

const WORDS: [&[&str]; 3] = [&["--version", "-V"], &["--verbose", "-v"], &["--json"]];

/// Prints it, if these words and no others are asked for; the version alone is not ours to say.
pub fn answer(arguments: &[OsString]) -> Option<ExitCode> {
    let says = |words: &[&str]| arguments.iter().any(|argument| words.iter().any(|word| argument == word));
    let [version, verbose, json] = WORDS;
    let more = says(verbose) || says(json);
    let all = arguments.iter().all(|argument| WORDS.concat().iter().any(|word| argument == word));
    (says(version) && more && all).then(|| match told(says(json)) {
        Ok(()) => Exit::Done.into(),
        Err(error) => output::report(&error, says(json)),
    })
}

fn told(as_json: bool) -> Result<(), crate::error::CliError> {
    let kernel = std::fs::read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default();
    let system = [std::env::consts::OS, kernel.trim()].join(" ");
    let facts = [
        ("version", swarm_process::release()),
        ("commit", COMMIT.unwrap_or("not recorded: this is no release").to_owned()),
        ("features", features().to_owned()),
        ("target", std::env::consts::ARCH.to_owned()),
        ("kernel", system.trim().to_owned()),
        ("git", git()),
    ];
    let out = Output::new(as_json);
    if as_json {
        let members = facts.map(|(name, value)| (name.to_owned(), json!(value)));
        return out.json_value(&serde_json::Map::from_iter(members));
    }
    let lines = facts.iter().skip(1).map(|(name, value)| format!("{:<10}{value}\n", format!("{name}:")));
    out.text(&format!("swarm {}\n{}", facts[0].1, lines.collect::<String>()))
}

/// There are none to choose: every build has all of it.
fn features() -> &'static str {
    if cfg!(debug_assertions) { "all, with assertions (a build for development)" } else { "all" }
}

fn git() -> String {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let found = runtime.map(|runtime| runtime.block_on(swarm_git::version()));
    match found {
        Ok(Ok((major, minor, patch))) => format!("{major}.{minor}.{patch}"),
        Ok(Err(error)) => format!("cannot be asked: {error}"),
        Err(error) => format!("cannot be asked: {error}"),
    }
}
