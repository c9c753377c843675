//! The log for support: what this process did, below `.swarm/logs` and, with `-v`, on stderr.
//!
//! Each process of the binary sets it up once, at its start. The coordinator, its watcher and every daemon keep a file
//! of their own; a command keeps none unless `SWARM_LOG` is set. Lines are handed to a thread through a queue with a
//! bound and are lost where it is full, the disk is full or the folder cannot be written: work never waits for them.
//! Nothing that is decided reads a log; what happened stands in the ledger.

mod file;
mod json;
mod line;
mod queue;
mod secrets;

use std::ffi::OsString;
use std::path::Path;
use std::time::Duration;

use swarm_protocol::ids::RunId;
use tracing::level_filters::LevelFilter;
use tracing_subscriber::Layer;
use tracing_subscriber::filter::Targets;
use tracing_subscriber::fmt;
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::util::SubscriberInitExt;

use crate::output;
use file::Kept;
use json::Json;
use queue::Queue;
pub use secrets::hide;
use swarm_process::environment::secret_arguments;

/// Which lines are kept: `debug`, or `swarm_git=debug,swarm_work=trace`.
pub const VARIABLE: &str = swarm_work::supervisor::LOG_VARIABLE;

/// `json`: lines of JSON in the files.
const FORMAT: &str = swarm_work::supervisor::LOG_FORMAT_VARIABLE;

/// How long the end of a process waits for its last lines.
const FLUSH_WITHIN: Duration = Duration::from_millis(300);

/// What this process is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Part {
    /// Does one thing and ends.
    Command,
    Watcher,
    Coordinator,
    Daemon(RunId),
}

impl Part {
    fn kept(&self) -> Kept {
        match self {
            Self::Command => Kept { name: "commands".into(), bytes_max: 1 << 20, files_max: 2 },
            Self::Watcher => Kept { name: "watcher".into(), bytes_max: 256 << 10, files_max: 2 },
            Self::Coordinator => Kept { name: "coordinator".into(), bytes_max: 4 << 20, files_max: 3 },
            // There is one for each run: see `file::DAEMONS_MAX`.
            Self::Daemon(run) => Kept { name: format!("daemon-{run}"), bytes_max: 256 << 10, files_max: 2 },
        }
    }
}

/// From now on this process logs. `verbose`: how often `-v` was said.
pub fn start(part: &Part, verbose: u8) {
    let asked = std::env::var(VARIABLE).ok().filter(|text| !text.trim().is_empty());
    if *part == Part::Command && verbose == 0 && asked.is_none() {
        return;
    }
    secrets::hide([]);
    let asked = asked.and_then(|text| match text.parse::<Targets>() {
        Ok(targets) => Some(targets),
        Err(error) => {
            // A daemon's stderr is read by nobody who could put it right.
            if !matches!(part, Part::Daemon(_)) {
                output::note(&format!("{VARIABLE} is not understood and is ignored: {error}"));
            }
            None
        }
    });
    let keeps_file = *part != Part::Command || asked.is_some();
    let as_json = is_json(part);
    let queue = keeps_file.then(|| Queue::start(part.kept(), as_json)).flatten();
    let kept = asked.clone().unwrap_or_else(|| ours(LevelFilter::INFO));
    let (json, text) = if as_json { (queue.map(|_| Json), None) } else { (None, queue) };
    let json = json.map(|lines| lines.with_filter(kept.clone()));
    let file = text.map(|queue| fmt::layer().with_ansi(false).with_writer(queue).with_filter(kept));
    let level = match verbose {
        0 => None,
        1 => Some(LevelFilter::DEBUG),
        _ => Some(LevelFilter::TRACE),
    };
    let shown = level.map(|level| {
        let lines = fmt::layer().with_ansi(false).with_writer(line::stderr);
        lines.with_filter(asked.unwrap_or_else(|| ours(level)))
    });
    if tracing_subscriber::registry().with(file).with(json).with(shown).try_init().is_err() {
        output::note("The log was set up twice");
    }
}

/// What is asked for, and text where that is not understood.
fn is_json(part: &Part) -> bool {
    let asked = std::env::var(FORMAT).unwrap_or_default();
    let known = ["", "text", "json"].contains(&asked.as_str());
    if !known && !matches!(part, Part::Daemon(_)) {
        output::note(&format!("{FORMAT} is text or json; {asked:?} is ignored"));
    }
    asked == "json"
}

/// Our own crates at this level, and nobody else's.
fn ours(level: LevelFilter) -> Targets {
    Targets::new().with_target("swarm", level)
}

/// Where `.swarm` is: the file is opened as soon as it is there. Until then lines wait.
pub fn lies_in(swarm: &Path) {
    queue::say(|| queue::Message::LiesIn(swarm.join("logs")));
}

/// The log of the daemon that this spec describes.
pub fn of_daemon(spec: &swarm_work::daemon::DaemonSpec) {
    start(&Part::Daemon(spec.run.clone()), 0);
    let given = spec.env.iter().map(|(name, value)| (OsString::from(name), OsString::from(value)));
    let setup = spec.agent_setup.iter();
    let words = setup.flat_map(|setup| secret_arguments(&[&setup.command[..], &setup.args[..]].concat()));
    hide(given.chain(words).collect::<Vec<_>>());
    lies_in(&spec.swarm_dir());
}

/// Waits a moment until what was logged is written. To be called where the process ends.
pub fn flush() {
    queue::flush(FLUSH_WITHIN);
}
