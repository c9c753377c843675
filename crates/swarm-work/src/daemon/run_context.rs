//! What the daemon works with: its spec, the journal, the repository.

mod worktree;

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use swarm_protocol::channel::{FromDaemon, RunKind};
use swarm_protocol::config::SandboxKind;
use tokio::sync::{OnceCell, mpsc, watch};
use tokio::time::Instant;

use super::context::Context;
use super::program::{self, Bounds, Listener, Ran, StopWish};
use super::spec::DaemonSpec;
use super::tools::{Tools, Wanted};
use super::traces::Traces;
use super::walls::{Who, admin_dir_of, names_handed_on};
use crate::person::filter_rule;
use crate::places::without_root;
use swarm_agents::journal::{Journal, Stream};
use swarm_agents::redact::Redactor;
use swarm_agents::script::{MEMBER_VARIABLE, PROBE_ANSWER, PROBE_VARIABLE, ROLE_VARIABLE};
use swarm_agents::secrets;
use swarm_git::{FilterRule, Git, GitError};
use swarm_process::complain;
use swarm_process::containment::{Containment, NoContainment};
use swarm_process::launcher::Launcher;
use swarm_process::{Call, NONCE_VARIABLE, ProcessError, environment};
pub use worktree::NotCommitted;

pub struct RunContext {
    pub spec: DaemonSpec,
    journal: Mutex<Journal>,
    /// What the programs of this run were given and nobody is to read.
    pub redactor: Redactor,
    git: OnceCell<Git>,
    launcher: Launcher,
    /// Chosen once: the machine does not change under a run.
    containment: OnceCell<Result<Containment, NoContainment>>,
    /// What the programs of this run may have left behind.
    pub traces: Traces,
    /// The newest percentage that the agent named.
    pub progress: watch::Sender<u8>,
    /// The span that the work at hand belongs to.
    traceparent: Mutex<Option<String>>,
    told: mpsc::Sender<FromDaemon>,
    wanted: mpsc::Sender<Wanted>,
    /// What the next attempt is told; none for runs that work on nothing.
    pub(super) context: Option<Context>,
}

/// What the work at hand has to tell on its way, and to ask.
pub struct Hears {
    pub told: mpsc::Receiver<FromDaemon>,
    pub wanted: mpsc::Receiver<Wanted>,
}

/// Words on the way that wait for the daemon's loop; one iteration has two or three.
const TOLD_MAX: usize = 64;

/// What came out of a piece of work.
#[derive(Debug)]
pub enum Yield {
    Report(FromDaemon),
    /// Several, in this order.
    Reports(Vec<FromDaemon>),
    /// Told to stop on the way: nothing to report but the end.
    Stopped,
    /// The repository does not answer for this worktree: the run cannot go on.
    NoWorkspace {
        text: String,
    },
}

impl RunContext {
    /// With the other end of what is told while work goes on.
    pub fn new(spec: DaemonSpec, journal: Journal) -> (Self, Hears) {
        let given: BTreeMap<OsString, OsString> =
            spec.env.iter().map(|(name, value)| (name.into(), value.into())).collect();
        // A program may print what it was called with.
        let words = spec.agent_setup.iter().map(|setup| [&setup.command[..], &setup.args[..]].concat());
        let arguments: BTreeMap<OsString, OsString> =
            words.flat_map(|words| environment::secret_arguments(&words)).collect();
        let handed_on = environment::for_program(&names_handed_on(&spec));
        let settings = secrets::settings_in(&spec.worktree);
        let settings: BTreeMap<OsString, OsString> =
            settings.into_iter().map(|(name, value)| (name.into(), value.into())).collect();
        let ((told, from_work), (wants, wanted)) = (mpsc::channel(TOLD_MAX), mpsc::channel(TOLD_MAX));
        let context = Context::open(&spec);
        let run = Self {
            redactor: Redactor::for_environment(
                given.iter().chain(&handed_on).chain(&arguments).chain(&settings),
            ),
            spec,
            journal: Mutex::new(journal),
            git: OnceCell::new(),
            launcher: Launcher::myself(),
            containment: OnceCell::new(),
            traces: Traces::default(),
            progress: watch::Sender::new(0),
            traceparent: Mutex::default(),
            told,
            wanted: wants,
            context,
        };
        (run, Hears { told: from_work, wanted })
    }

    /// Programs that are started from here on hang their spans below this one.
    pub(super) fn belongs_to(&self, traceparent: Option<String>) {
        *self.traceparent.lock().unwrap_or_else(PoisonError::into_inner) = traceparent;
    }

    /// A sentence for the ledger: without secrets and without places of this machine.
    pub fn sentence(&self, text: &str) -> String {
        let text = without_root(&self.redactor.redact(text), &self.spec.worktree);
        let text = self.spec.shared.as_ref().map_or(text.clone(), |shared| without_root(&text, shared));
        without_root(&text, &self.spec.root)
    }

    /// A line for the history, at once.
    pub fn tell(&self, text: String) {
        self.note(&text);
        // Full: the daemon's loop has not looked for long, and more of the same would not help.
        let _ = self.told.try_send(FromDaemon::Noted { text });
    }

    /// Asks the coordinator. A loop that does not look leaves the agent without an answer, and it asks again.
    pub(super) fn wants(&self, wanted: Wanted) {
        let _ = self.wanted.try_send(wanted);
    }

    /// Serves the tools of an agent at work. Without them it prints what it has to say.
    pub(super) fn open_tools(&self) -> Option<Tools> {
        if self.spec.kind != RunKind::Work {
            return None;
        }
        match Tools::open(self.tmp().join("tools"), self.told.clone()) {
            Ok(tools) => Some(tools),
            Err(error) => {
                self.note(&format!("the tools of the run are not served: {error}"));
                None
            }
        }
    }

    /// Where the agent works: the worktree, the tree that it shares with others, or an empty folder for a question.
    pub fn place(&self) -> PathBuf {
        self.place_of(Who::Agent)
    }

    /// Commands judge what is committed, and that is in the task's own worktree.
    pub(super) fn place_of(&self, who: Who) -> PathBuf {
        if self.spec.kind != RunKind::Probe {
            let shared = self.spec.shared.as_ref().filter(|_| who != Who::Command);
            return shared.unwrap_or(&self.spec.worktree).clone();
        }
        let place = self.tmp().join("probe");
        complain("make a folder for a question", plain_folder(&place));
        place
    }

    /// Git's record of the worktree; none for a run without one.
    pub async fn record(&self) -> Option<PathBuf> {
        if self.spec.kind != RunKind::Work {
            return None;
        }
        admin_dir_of(&self.git().await.ok()?.common_dir, &self.spec.worktree)
    }

    /// Where git keeps the log of what is committed in the worktree.
    pub async fn commit_log(&self) -> Option<PathBuf> {
        match self.own() {
            Some(own) => Some(own.dir),
            None => self.record().await,
        }
    }

    /// A call of the agent program in the worktree, with the keys it needs. None for an empty command line.
    pub fn call(&self, argv: &[String]) -> Option<Call> {
        self.call_of(Who::Agent, argv)
    }

    pub(super) fn call_of(&self, who: Who, argv: &[String]) -> Option<Call> {
        let (program, args) = argv.split_first()?;
        let mut call = Call::new(program).args(args).cwd(self.place_of(who));
        call.env = self.environment(who);
        call.env.extend(self.spec.env.iter().map(|(name, value)| (name.into(), value.into())));
        let agent = self.spec.agent.as_ref().map_or("", |agent| agent.as_str());
        let named = [
            (NONCE_VARIABLE, self.spec.nonce.as_str()),
            ("SWARM_RUN", self.spec.run.as_str()),
            ("SWARM_TASK", self.spec.task.as_str()),
            ("SWARM_AGENT_ID", agent),
            ("SWARM_ATTEMPT", &self.spec.attempt.to_string()),
            ("SWARM_START", &self.spec.start.unwrap_or(self.spec.attempt).to_string()),
        ];
        call.env.extend(named.map(|(name, value)| (name.into(), value.into())));
        let parent = self.traceparent.lock().unwrap_or_else(PoisonError::into_inner).clone();
        call.env.extend(parent.map(|parent| (environment::TRACEPARENT.into(), parent.into())));
        if let Some(question) = &self.spec.question {
            call.env.insert(ROLE_VARIABLE.into(), question.form.role().into());
            let member = question.member.as_ref().map(|member| (MEMBER_VARIABLE.into(), member.into()));
            call.env.extend(member);
        }
        if self.spec.kind == RunKind::Probe {
            let answer = self.spec.swarm_dir().join(PROBE_ANSWER);
            call.env.insert(PROBE_VARIABLE.into(), answer.into());
        }
        Some(call)
    }

    /// The bounds of the agent program.
    pub async fn bounds(&self, deadline: Option<Instant>) -> Bounds {
        self.bounds_of(Who::Agent, deadline).await
    }

    /// The net, if it is known already.
    pub(super) fn net_as_known(&self) -> Option<&Containment> {
        match self.containment.get() {
            Some(chosen) => chosen.as_ref().ok(),
            None if self.wanted_containment() != self.spec.guard.containment => None,
            None => self.spec.known.containment.as_ref(),
        }
    }

    pub(super) async fn bounds_of(&self, who: Who, deadline: Option<Instant>) -> Bounds {
        let containment = self.containment.get_or_init(async || {
            let wanted = self.wanted_containment();
            let told = self.spec.known.containment.as_ref();
            let chosen = match told.filter(|net| wanted == self.spec.guard.containment && net.is_there()) {
                Some(net) => Ok(net.clone()),
                None => Containment::choose(wanted, &self.launcher).await,
            };
            if let Ok(chosen) = &chosen {
                let view = if chosen.can_bind() { ", with a view of the files of their own" } else { "" };
                self.note(&format!("processes are held together by: {}{view}", chosen.word()));
            }
            chosen
        });
        Bounds {
            nonce: self.spec.nonce.clone(),
            grace: self.spec.stop_grace(),
            deadline,
            containment: containment.await.clone(),
            sandbox: self.sandbox(who).await,
            swarm_dir: self.spec.swarm_dir(),
            launcher: self.launcher.clone(),
        }
    }

    /// Starts a program of this run and comes back when it and everything it started are gone.
    pub async fn run(
        &self,
        call: Call,
        bounds: &Bounds,
        listener: &mut dyn Listener,
        stop: &mut StopWish,
    ) -> Result<Ran, ProcessError> {
        self.traces.begins();
        let _lent = match bounds.sandbox.as_ref().and_then(|walls| walls.git.as_ref()) {
            Some(_) => self.lend().await,
            None => None,
        };
        let ran = program::run(call, bounds, listener, stop).await;
        if ran.as_ref().is_ok_and(|ran| ran.left.is_empty()) {
            self.traces.ended_with_all();
        }
        ran
    }

    pub(super) async fn git(&self) -> Result<&Git, GitError> {
        let open = async || {
            let git = match &self.spec.known.repository {
                Some(known) => Git::of(known.clone()),
                None => Git::discover(&self.spec.root).await?,
            };
            let guard = &self.spec.guard;
            git.run_filters(match guard.sandbox {
                SandboxKind::None => FilterRule::Free,
                _ => filter_rule(guard.network, &guard.hide),
            });
            Ok(git.with_env(NONCE_VARIABLE, &self.spec.nonce))
        };
        self.git.get_or_try_init(open).await
    }

    fn journal(&self) -> MutexGuard<'_, Journal> {
        self.journal.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A line of the program. A disk that does not take it is not the program's fault: work goes on,
    /// and the log of the daemon says what is missing.
    pub fn print(&self, stream: Stream, text: &str, more: bool) {
        let text = self.redactor.line(stream, text);
        complain("keep a line of output", self.journal().print(stream, &text, more));
    }

    /// A line of the daemon.
    pub fn note(&self, text: &str) {
        complain("keep a note", self.journal().note(&self.redactor.redact(text)));
    }

    /// Everything printed so far is durable: before it is reported that the program has ended.
    pub fn settle_journal(&self) {
        complain("make the output durable", self.journal().settle());
    }

    pub fn journal_bytes(&self) -> u64 {
        self.journal().bytes()
    }
}

/// An earlier program of the run may have put a link in its place. Where the next has no view of its own, the kernel would
/// let that one write whatever the link leads to.
fn plain_folder(place: &Path) -> std::io::Result<()> {
    if std::fs::symlink_metadata(place).is_ok_and(|meta| !meta.is_dir()) {
        std::fs::remove_file(place)?;
    }
    std::fs::create_dir_all(place)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_link_in_place_of_a_folder_is_taken_away() {
        let dir = tempfile::tempdir().expect("a folder");
        let place = dir.path().join("probe");
        std::os::unix::fs::symlink("/", &place).expect("linked");
        for _ in 0..2 {
            plain_folder(&place).expect("made");
            assert!(std::fs::symlink_metadata(&place).expect("there").is_dir());
        }
    }
}
