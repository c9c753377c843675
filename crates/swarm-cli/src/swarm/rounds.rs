//! The rounds of a task's review, and its work as text.

use swarm_core::show;
use swarm_engine::work_diff::{Part, Stretch, part, stretch_of};
use swarm_git::DiffKind;
use swarm_protocol::diff::{DiffAsk, RoundView};
use swarm_protocol::ids::{Oid, TaskId};
use swarm_protocol::record::event_of;
use swarm_protocol::time::Timestamp;
use swarm_protocol::view::ReviewView;

use super::Swarm;
use crate::error::CliError;

impl Swarm {
    /// What is or waits to be reviewed, longest waiting first.
    pub fn reviews(&self, at: Option<u64>) -> Result<Vec<ReviewView>, CliError> {
        Ok(show::reviews(&self.planned(at)?))
    }

    /// The review that the task is in.
    pub fn review(&self, id: &TaskId) -> Result<ReviewView, CliError> {
        let state = self.planned(None)?;
        show::review(&state, id).ok_or_else(|| match show::task(&state, id) {
            Some(task) => {
                let text = format!("Task {id} is not in review: {}", task.row.stage);
                CliError::refused_now(text).run_instead("swarm review list")
            }
            None => super::read::unknown(&state, id),
        })
    }

    /// Everything that was ever submitted for this task, oldest first.
    pub fn rounds(&self, id: &TaskId) -> Result<Vec<RoundView>, CliError> {
        let mut rounds: Vec<RoundView> = Vec::new();
        self.records(None, &mut |line| {
            let event = event_of(line.body).map_err(|error| error.to_string())?;
            if event.task() == Some(id) {
                let ts = std::str::from_utf8(line.ts).unwrap_or_default();
                show::note_round(&mut rounds, event, Timestamp::parse(ts).unwrap_or_default());
            }
            Ok(())
        })?;
        Ok(rounds)
    }

    /// Where the work of the task begins and ends: as it is now, as it was submitted, or since it was.
    pub fn work_of(&self, ask: &DiffAsk) -> Result<Stretch, CliError> {
        let id = &ask.task;
        let state = self.planned(None)?;
        if state.task(id).is_none() {
            return Err(super::read::unknown(&state, id));
        }
        let of_submission = ask.round.is_some() || ask.since.is_some();
        let rounds = if of_submission { self.rounds(id)? } else { Vec::new() };
        let found = self.runtime.block_on(async {
            let trunk = self.trunk_name().await?;
            let all = Part::default();
            let now = stretch_of(&self.git, &trunk, &state, id, &all).await?;
            if now.is_none() || !of_submission {
                return Ok::<_, CliError>(now);
            }
            let part = part(ask, &rounds)
                .map_err(|error| CliError::refused_now(error.message).run_instead(error.hint))?;
            Ok(stretch_of(&self.git, &trunk, &state, id, &part).await?)
        })?;
        found.ok_or_else(|| {
            CliError::refused_now(format!("Task {id} has no work to show yet"))
                .run_instead(format!("swarm task show {id}"))
        })
    }

    /// What changed there. Bytes: a file is in whatever encoding it is.
    pub fn diff_of(&self, stretch: &Stretch, kind: DiffKind) -> Result<Vec<u8>, CliError> {
        Ok(self.runtime.block_on(self.git.diff_text(&stretch.from, &stretch.to, kind))?)
    }

    /// The commit that is meant: a name, or the first digits.
    pub fn commit_named(&self, name: &str) -> Result<Oid, CliError> {
        let found = self.runtime.block_on(self.git.resolve(name))?;
        found
            .ok_or_else(|| CliError::usage(format!("There is no commit {name}")).run_instead("git log --all"))
    }

    /// Whether one commit is in the history of another.
    pub fn is_in(&self, older: &Oid, newer: &Oid) -> Result<bool, CliError> {
        Ok(self.runtime.block_on(self.git.is_ancestor(older, newer))?)
    }

    /// Where the branch of the task is now.
    pub fn tip_of(&self, id: &TaskId) -> Result<Option<Oid>, CliError> {
        Ok(self.runtime.block_on(self.git.ref_value(&format!("refs/heads/{}", id.branch())))?)
    }
}
