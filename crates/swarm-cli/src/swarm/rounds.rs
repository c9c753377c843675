//! The rounds of a task's review, and its work as text.

use serde::Serialize;
use swarm_core::show;
use swarm_engine::work_diff::stretch;
use swarm_git::DiffKind;
use swarm_protocol::event::Event;
use swarm_protocol::gist::gist;
use swarm_protocol::ids::{Oid, TaskId};
use swarm_protocol::operation::SavedStage;
use swarm_protocol::record::event_of;
use swarm_protocol::time::Timestamp;
use swarm_protocol::view::{ReviewView, WorkView};

use super::Swarm;
use crate::error::CliError;

/// Work that was submitted once, and what became of it.
#[derive(Debug, Clone, Serialize)]
pub struct Round {
    pub round: usize,
    pub commit: Oid,
    pub at: Timestamp,
    /// None: there is none yet.
    pub verdict: Option<String>,
    pub notes: Vec<String>,
}

/// From where to where a task changes something.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Stretch {
    pub from: Oid,
    pub to: Oid,
}

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
    pub fn rounds(&self, id: &TaskId) -> Result<Vec<Round>, CliError> {
        let mut rounds: Vec<Round> = Vec::new();
        self.records(None, &mut |line| {
            let event = event_of(line.body).map_err(|error| error.to_string())?;
            if event.task() == Some(id) {
                let ts = std::str::from_utf8(line.ts).unwrap_or_default();
                take_in(&mut rounds, event, Timestamp::parse(ts).unwrap_or_default());
            }
            Ok(())
        })?;
        Ok(rounds)
    }

    /// Where the work of the task begins and ends: as it is now, or as it was submitted.
    pub fn work_of(&self, id: &TaskId, round: Option<usize>) -> Result<Stretch, CliError> {
        let state = self.planned(None)?;
        if state.task(id).is_none() {
            return Err(super::read::unknown(&state, id));
        }
        let nothing = || {
            CliError::refused_now(format!("Task {id} has no work to show yet"))
                .run_instead(format!("swarm task show {id}"))
        };
        let work = show::work(&state, id);
        let trunk = self.runtime.block_on(self.trunk_name())?;
        let found = self.runtime.block_on(stretch(&self.git, &trunk, &state, id))?;
        let now = found.map(|(from, to)| Stretch { from, to }).ok_or_else(nothing)?;
        let Some(wanted) = round else { return Ok(now) };
        let rounds = self.rounds(id)?;
        let found = rounds.into_iter().find(|round| round.round == wanted);
        let found = found.ok_or_else(|| {
            CliError::refused_now(format!("Task {id} was not submitted for a review {wanted} times"))
                .run_instead(format!("swarm review show {id}"))
        })?;
        match &work {
            Some(WorkView::Submitted { base, .. } | WorkView::OnBranch { base, .. }) => {
                self.own_part(base, &found.commit)
            }
            // It stands on trunk under other names.
            _ => {
                let from = self.runtime.block_on(self.git.merge_base(&now.from, &found.commit))?;
                Ok(Stretch { from: from.unwrap_or(now.from), to: found.commit })
            }
        }
    }

    /// What the task itself changes: what came from trunk into its branch meanwhile is not its work.
    fn own_part(&self, base: &Oid, tip: &Oid) -> Result<Stretch, CliError> {
        let from = self.runtime.block_on(async {
            let trunk = self.trunk_name().await?;
            Ok::<_, CliError>(self.git.own_work_begins(&trunk, base, tip).await?)
        })?;
        Ok(Stretch { from, to: tip.clone() })
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

fn take_in(rounds: &mut Vec<Round>, event: Event, at: Timestamp) {
    let judged = |verdict: &str, notes: Vec<String>, rounds: &mut Vec<Round>| {
        if let Some(last) = rounds.last_mut().filter(|round| round.verdict.is_none()) {
            (last.verdict, last.notes) = (Some(verdict.to_owned()), notes);
        }
    };
    match event {
        Event::ReviewAsked { tip, .. } => {
            let round = rounds.len() + 1;
            rounds.push(Round { round, commit: tip, at, verdict: None, notes: vec![] });
        }
        Event::ChangesRequested { notes, .. } => {
            judged("needs changes", notes.iter().map(ToString::to_string).collect(), rounds);
        }
        Event::ReviewFailed { output, .. } => judged("needs changes", vec![gist(&output)], rounds),
        Event::TaskApproved { .. } => judged("approved", vec![], rounds),
        // The verdict was undone.
        Event::TaskRestored { stage: Some(SavedStage::Review { tip, .. }), .. } => {
            if let Some(last) = rounds.last_mut().filter(|round| round.commit == tip) {
                (last.verdict, last.notes) = (None, vec![]);
            }
        }
        _ => {}
    }
}
