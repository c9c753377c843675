//! What daemons say: who they are, what they report, and news that never enters the ledger.

use swarm_core::input::Report;
use swarm_core::more_files;
use swarm_protocol::api::AgentNews;
use swarm_protocol::attempt::{CallAnswer, ReserveArgs, ReserveMode};
use swarm_protocol::channel::{Downward, FromDaemon, Greeting, Hello, Upward};
use swarm_protocol::ids::RunId;

use super::Coordinator;
use super::executors::report_of;
use super::not_taken::key_of;
use super::turn::Afterwards;
use crate::channel::DaemonLink;
use crate::store::StoreError;
use swarm_process::complain;
use swarm_work::supervisor::{is_secret, secret_of};

impl Coordinator {
    pub(super) fn hello(
        &mut self,
        hello: Hello,
        link: DaemonLink,
        after: &mut Afterwards,
    ) -> Result<(), StoreError> {
        let state = self.store.state();
        let Some(run) = state.runs.get(&hello.run) else {
            let why = "this run is over".into();
            link.send(Downward::Greeting(Greeting::Stop { epoch: state.epoch, why }));
            return Ok(());
        };
        let secret = secret_of(&self.world.key, &hello.run, &run.nonce);
        if !is_secret(&secret, &hello.secret) || hello.epoch > state.epoch {
            tracing::warn!(run = %hello.run, epoch = hello.epoch, "a daemon is not let in");
            return Ok(()); // not ours, or we are not its newest coordinator: the link is dropped
        }
        tracing::info!(run = %hello.run, task = %run.task, version = hello.version, "a daemon says hello");
        let received = self.links.received(&hello.run);
        self.links.welcome(link, state.epoch, received);
        if let Some(known) = self.hellos.get(&hello.run) {
            known.send_replace(true);
        }
        self.report(Report::Spawned { run: hello.run, host: hello.host }, after)
    }

    pub(super) fn frame(
        &mut self,
        run: RunId,
        frame: Upward,
        after: &mut Afterwards,
    ) -> Result<(), StoreError> {
        let Upward::Report { n, report } = frame else {
            match frame {
                Upward::Reserve { ask, files } => self.needs_files(run, ask, files, after)?,
                news => self.heard(&run, news),
            }
            return Ok(());
        };
        if n > self.links.received(&run) {
            self.remember_learning(&run, &report);
            let known = self.store.state().runs.get(&run).map(|r| (r.kind, r.task.clone()));
            if let Some((kind, task)) = known
                && let Some(report) = report_of(&run, kind, &task, report)
            {
                self.report_or_failure(&key_of(&run, kind), report, after)?;
            }
        }
        after.acks.push((run, n));
        Ok(())
    }

    /// Answered when the disk has what was granted. Whose files they are is the run's to say, and the run the link's.
    fn needs_files(
        &mut self,
        run: RunId,
        ask: u64,
        files: ReserveArgs,
        after: &mut Afterwards,
    ) -> Result<(), StoreError> {
        let ReserveArgs { globs, mode } = files;
        let shared = mode == ReserveMode::Shared;
        let answer = match more_files(self.store.state(), &run, &globs, shared, self.clock.now()) {
            Ok(text) => {
                self.report(Report::NeedsFiles { run: run.clone(), files: globs, shared }, after)?;
                CallAnswer::done(text)
            }
            Err(refusal) => CallAnswer::refused(refusal.message()),
        };
        after.answers.push((run, ask, answer));
        Ok(())
    }

    /// What an agent learned is kept in files that people read and edit too; the next prompt tells it.
    fn remember_learning(&self, run: &RunId, report: &FromDaemon) {
        let FromDaemon::Signal { signal, text } = report else { return };
        let Some(agent) = self.store.state().runs.get(run).and_then(|run| run.agent.as_ref()) else { return };
        let kept = self.world.learnings.take_in(agent, signal, text);
        complain(&format!("keep what {agent} learned"), kept);
    }

    /// News that never enters the ledger.
    fn heard(&self, run: &RunId, frame: Upward) {
        let Some(known) = self.store.state().runs.get(run) else { return };
        let now = self.clock.now();
        let first = || AgentNews {
            run: run.clone(),
            task: known.task.clone(),
            agent: known.agent.clone(),
            iteration: 0,
            percent: None,
            doing: None,
            journal_bytes: 0,
            heard: now,
        };
        self.feed.heard(run, first, |news| {
            news.heard = now;
            match frame {
                Upward::Heartbeat { iteration, journal_bytes } => {
                    (news.iteration, news.journal_bytes) = (iteration, journal_bytes);
                }
                Upward::Progress { percent } => news.percent = Some(percent.min(100)),
                Upward::Doing { text } => news.doing = Some(text),
                Upward::Hello(_) | Upward::Report { .. } | Upward::Reserve { .. } => {}
            }
        });
    }

    /// An agent tried what is not its to do. It was refused; people learn of it.
    pub(super) fn overstep(
        &mut self,
        run: Option<&RunId>,
        nonce: Option<&str>,
        what: String,
        after: &mut Afterwards,
    ) -> Result<(), StoreError> {
        let is_it = |id: &RunId, nonce_of: &str| match nonce {
            Some(nonce) => nonce == nonce_of, // names itself by what only it was given
            None => run == Some(id),
        };
        let found = self.store.state().runs.iter().find(|(id, run)| is_it(id, &run.nonce));
        let Some((run, task)) = found.map(|(id, run)| (id.clone(), run.task.clone())) else { return Ok(()) };
        self.report(Report::Overstep { task, run: Some(run), what }, after)
    }
}
