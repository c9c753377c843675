//! The one way from a command to the swarm: its files, its ledger, or the coordinator that holds it.

mod ask;
mod begins;
mod coordinator;
mod close;
mod hooks;
mod left_alone;
pub mod files;
pub mod history;
pub mod imports;
pub mod inside;
mod operate;
pub mod plan_file;
pub mod planning;
mod read;
mod rebuild;
mod releases;
mod reopen;
pub mod rounds;
pub mod runs;
pub mod salvage;
pub mod session;
pub mod screen;
mod settings;
mod signals;
mod stop;
mod tallied;
mod trouble;
mod trust;
pub mod verdict;
mod visits;
pub mod watchers;
mod web;
mod tokens;
mod who;
mod describe;
mod work_conflict;
pub mod worktrees;

pub use ask::{Presence, READ_ONLY};
pub use coordinator::ANSWER_WITHIN;
pub use read::Glance;
pub use reopen::after_a_close;
pub use settings::environment;
pub use stop::unsaved_words;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use swarm_engine::anchor;
use swarm_engine::clock::wall_clock;
use swarm_engine::paths::{NotOurs, Paths};
use swarm_engine::store::{Notice, OpenOptions};
use swarm_git::{Git, GitError};
use swarm_protocol::time::Timestamp;
use tokio::runtime::Runtime;

use crate::context::Context;
use crate::error::CliError;
use crate::log;
use crate::output;

fn runtime() -> Result<Runtime, CliError> {
    let built = tokio::runtime::Builder::new_current_thread().enable_all().build();
    built.map_err(|error| CliError::environment("Cannot start").because(error))
}

/// A repository with (perhaps) a swarm in it.
pub struct Swarm {
    paths: Paths,
    git: Git,
    /// The folder that the person stands in.
    here: PathBuf,
    /// One thread is enough: a command waits for one thing at a time.
    runtime: Runtime,
    /// Through which front end the person came, as the ledger names them.
    by: &'static str,
    /// What has been said already: a command that reads the ledger twice has one thing to say of it.
    told: Mutex<BTreeSet<String>>,
}

impl Swarm {
    /// The branch that is checked out where the person stands.
    pub fn current_branch(&self) -> Option<String> {
        self.git.current_branch()
    }

    /// Finds the repository that the person means. Nothing is read or written of the swarm yet.
    pub fn open(cx: &Context) -> Result<Self, CliError> {
        let runtime = runtime()?;
        let git = runtime.block_on(Git::discover(&cx.repo))?;
        Self::of(cx, runtime, git)
    }

    /// The same where git cannot read the repository: whoever looks at a swarm or stops it does not need git.
    pub fn open_unread(cx: &Context) -> Result<Self, CliError> {
        let runtime = runtime()?;
        let git = match runtime.block_on(Git::discover(&cx.repo)) {
            Ok(git) => git,
            Err(error @ (GitError::Damaged { .. } | GitError::Failed { .. })) => {
                let unread = Git::unread(&cx.repo).filter(|git| git.main_checkout.join(".swarm").is_dir());
                let Some(git) = unread else { return Err(error.into()) };
                output::note(&output::harmless(&format!("Note: {error}; see `swarm doctor`")));
                git
            }
            Err(error) => return Err(error.into()),
        };
        Self::of(cx, runtime, git)
    }

    fn of(cx: &Context, runtime: Runtime, git: Git) -> Result<Self, CliError> {
        let paths = Paths::new(&git.main_checkout, &git.common_dir);
        paths.are_ours().map_err(not_ours)?;
        log::lies_in(&paths.swarm);
        Ok(Self { paths, git, here: cx.repo.clone(), runtime, by: cx.by, told: Mutex::default() })
    }

    /// The same for a person who came through another front end.
    pub fn through(self, by: &'static str) -> Self {
        Self { by, ..self }
    }

    pub fn now(&self) -> Timestamp {
        wall_clock()
    }

    /// The main checkout.
    pub fn root(&self) -> &Path {
        &self.paths.root
    }

    /// A path as people see it: from the root of the repository.
    pub fn relative(&self, path: &Path) -> String {
        self.paths.shown(path).to_string()
    }

    /// The same as a word of a command, which is pasted where the person stands: below the root its name from there means another
    /// file.
    pub fn pasted(&self, path: &Path) -> String {
        let is_at_root = std::env::current_dir().is_ok_and(|here| here == self.paths.root);
        let named = if is_at_root { self.relative(path) } else { path.display().to_string() };
        output::word(&named)
    }

    fn options(&self, role: &str) -> OpenOptions {
        OpenOptions::new(role)
    }

    /// With the files gone git alone may remember that there was a ledger. What cannot be asked says nothing.
    fn options_to_read(&self) -> OpenOptions {
        let options = self.options("read");
        if self.paths.ledger.exists() || tokio::runtime::Handle::try_current().is_ok() {
            return options;
        }
        options.anchors(self.runtime.block_on(anchor::witnesses(&self.git)).unwrap_or_default())
    }

    /// Says what a person should know, where it does not spoil the data.
    fn tell(&self, notices: &[Notice]) {
        for notice in notices {
            let hint = match &notice.file {
                Some(file) => notice.hint.replace(&self.relative(file), &self.pasted(file)),
                None => notice.hint.clone(),
            };
            let hint = match hint.as_str() {
                "" => String::new(),
                hint if hint.starts_with("swarm ") => format!(". Run `{hint}`"),
                hint => format!(". {hint}"),
            };
            let said = format!("Note: {}{hint}", output::harmless(&notice.text));
            if self.told.lock().unwrap_or_else(PoisonError::into_inner).insert(said.clone()) {
                output::note(&said);
            }
        }
    }
}

/// The link alone is to go: whatever it leads to, and the rest of the folder, is of value.
fn not_ours(error: NotOurs) -> CliError {
    let hint = match &error {
        NotOurs::Link { path, .. } => format!("Remove the link, and nothing else: `rm {}`", path.display()),
        NotOurs::NoFolder { path } => format!("Move {} aside and begin again", path.display()),
    };
    CliError::environment("Cannot use the folder .swarm").because(error).say(hint)
}
