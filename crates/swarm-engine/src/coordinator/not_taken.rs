//! Reports that no record can hold. Whoever said it has failed, as far as anybody will ever know, and the rest goes on:
//! a loop that ended with it would end again at each start.

use swarm_core::effect::Key;
use swarm_core::input::{KeyName, Report};
use swarm_protocol::channel::RunKind;
use swarm_protocol::ids::{RunId, TaskId};

use super::Coordinator;
use super::turn::Afterwards;
use crate::store::StoreError;
use swarm_ledger::AppendError;
use swarm_process::complain;

/// The effect that stays with the daemon of a run.
pub(super) fn key_of(run: &RunId, kind: RunKind) -> Key {
    match kind {
        RunKind::Work => Key::Work(run.clone()),
        RunKind::Verify => Key::Verify(run.clone()),
        RunKind::Review => Key::Review(run.clone()),
        RunKind::Probe => Key::Probe(run.clone()),
    }
}

/// Why, in words; the error itself where the record is not the reason: then nothing can be recorded, whatever it is.
fn as_failure(error: StoreError) -> Result<String, StoreError> {
    match error {
        StoreError::NotTaken(error @ (AppendError::TooLarge { .. } | AppendError::BadRecord(_))) => {
            Ok(format!("what came of it cannot be recorded: {error}"))
        }
        error => Err(error),
    }
}

impl Coordinator {
    /// News on the way. The word with which its effect ends comes all the same, and counts.
    pub(super) fn news(&mut self, report: Report, after: &mut Afterwards) -> Result<(), StoreError> {
        let Err(error) = self.report(report, after) else { return Ok(()) };
        complain::<(), _>("take in a report", Err(as_failure(error)?));
        Ok(())
    }

    /// What an effect came to, or what its daemon says. What cannot be recorded is its failure.
    pub(super) fn report_or_failure(
        &mut self,
        key: &Key,
        report: Report,
        after: &mut Afterwards,
    ) -> Result<(), StoreError> {
        let Err(error) = self.report(report, after) else { return Ok(()) };
        let why = as_failure(error)?;
        tracing::warn!(?key, why, "a report is told as a failure");
        let (key, task) = (KeyName::from(key), self.task_of(key));
        let failed = match task {
            Some(task) => Report::EffectFailed { key, task, why },
            None => Report::Broke { key, why },
        };
        self.report(failed, after)
    }

    fn task_of(&self, key: &Key) -> Option<TaskId> {
        match key {
            Key::Stop(run)
            | Key::Prepare(run)
            | Key::Work(run)
            | Key::Verify(run)
            | Key::Review(run)
            | Key::Probe(run) => Some(self.store.state().runs.get(run)?.task.clone()),
            Key::Build(task)
            | Key::Publish(task)
            | Key::Release(task)
            | Key::Watch(task)
            | Key::Remove(task)
            | Key::Revive(task)
            | Key::Rewind(task) => Some(task.clone()),
            Key::Prove
            | Key::Mark(_)
            | Key::WatchTrunk(_)
            | Key::Survey(_)
            | Key::Save(_)
            | Key::Move(_)
            | Key::Resolve(_)
            | Key::Forget(_)
            | Key::Hook(_) => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;
    use std::sync::{Arc, RwLock};

    use swarm_agents::learnings::LearningFiles;
    use swarm_agents::prompts::Prompts;
    use swarm_core::effect::Effect;
    use swarm_git::Git;
    use swarm_protocol::command::{Command, Envelope, SaveKind};
    use swarm_protocol::config::Config;
    use swarm_protocol::ids::{CommandId, Oid};
    use swarm_protocol::operation::Saved;
    use swarm_protocol::outcome::Mode;
    use swarm_protocol::planfile;
    use swarm_work::supervisor::Launch;

    use super::*;
    use crate::coordinator::World;
    use crate::paths::Paths;
    use crate::store::{OpenOptions, Opened, Store};

    fn sh(root: &Path, args: &[&str]) {
        let done = std::process::Command::new("git").current_dir(root).args(args).output().expect("git runs");
        assert!(done.status.success(), "{args:?}: {}", String::from_utf8_lossy(&done.stderr));
    }

    fn writer(opened: Result<Opened, StoreError>) -> Store {
        match opened.expect("a ledger") {
            Opened::Writer(store) => store,
            Opened::Busy(owner) => panic!("busy: {owner:?}"),
        }
    }

    fn save_a_plan(paths: &Paths) {
        let plan = b"# Ship it\n## Phase 1: Base\n- [ ] 1.1 First\n";
        let command = Command::SavePlan {
            plan: planfile::parse("test", plan).expect("a plan"),
            kind: SaveKind::Save,
            source: "test".into(),
            reset_statuses: false,
            planning: None,
        };
        let mut store = writer(Store::open_writer(paths, OpenOptions::new("test")));
        let (id, now) = (CommandId::new("saved").expect("an id"), store.clock().now());
        let envelope = Envelope { id, by: "person:test".into(), command };
        store.submit_blocking(envelope, now).expect("a plan can be saved");
        store.finish().expect("it ends");
    }

    /// One that has taken over.
    async fn coordinator(root: &Path) -> Coordinator {
        sh(root, &["init", "-q", "-b", "main"]);
        let who = ["-c", "user.name=a", "-c", "user.email=a@localhost"];
        sh(root, &[&who[..], &["commit", "-q", "--allow-empty", "-m", "start"]].concat());
        let git = Git::discover(root).await.expect("a fit repository");
        let paths = Paths::new(&git.main_checkout, &git.common_dir);
        save_a_plan(&paths);
        let store = writer(Store::become_coordinator(&paths, OpenOptions::new("test")));
        let config = Config { mode: Mode::Autopilot, agent: "script".into(), ..Config::default() };
        let world = World {
            git,
            trunk: RwLock::new("main".into()),
            launch: Launch::of("/bin/false"),
            agent: config.agent.clone(),
            config,
            agent_chosen: false,
            reviewer_chosen: false,
            prompts: Prompts::load(&paths.swarm.join("prompts")).expect("the built-in ones"),
            learnings: LearningFiles::new(&paths.swarm),
            paths,
            plan: store.ledger_id().unwrap_or_default().to_owned(),
            tending: Default::default(),
            previewing: Default::default(),
            armed: Default::default(),
            containment: Default::default(),
            key: [7; 32],
        };
        Coordinator::start(store, Arc::new(world), true).await.expect("it starts")
    }

    #[tokio::test]
    async fn a_report_that_no_record_can_hold_is_a_failure_of_its_task_and_the_rest_goes_on() {
        let dir = tempfile::tempdir().expect("a folder");
        let mut coordinator = coordinator(dir.path()).await;
        let (run, mut after) = (RunId::nth(1), Afterwards::default());
        // Nothing begins before the first checkpoint.
        let saves = |effect| if let Effect::Save { name, .. } = effect { Some(name) } else { None };
        let name = swarm_core::owed(coordinator.state()).into_iter().find_map(saves).expect("one is due");
        let saved = Report::Saved { name, saved: Saved::default() };
        coordinator.report(saved, &mut after).expect("it is made");
        let oid = || Oid::new("a".repeat(40)).expect("an oid");
        let large = || {
            let branch = "x".repeat(2 << 20);
            Report::Prepared { run: RunId::nth(1), branch, base: oid(), tip: oid() }
        };
        let refused = coordinator.report(large(), &mut after);
        assert!(matches!(refused, Err(StoreError::NotTaken(_))), "{refused:?}");
        coordinator.news(large(), &mut after).expect("it is left out");
        assert!(!coordinator.state().runs[&run].ended, "nothing has happened");
        let key = Key::Prepare(run.clone());
        coordinator.report_or_failure(&key, large(), &mut after).expect("it is told as a failure");
        let state = coordinator.state();
        assert!(state.runs[&run].ended);
        let last = state.tasks[&state.runs[&run].task].last_end.as_ref().map(|how| how.describe());
        assert!(last.as_ref().is_some_and(|how| how.contains("cannot be recorded")), "{last:?}");
    }
}
