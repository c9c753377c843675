//! Operations that move git, as a command sees them: what one would do, and its end.
//!
//! Where nobody coordinates, the same loop runs in this process, starts nothing new, and ends when the operation has.
//! Whoever kills it leaves a promise that the next coordinator keeps.

#![allow(dead_code, reason = "for the commands of operations, which do not all exist yet")]

use std::time::Duration;

use swarm_core::operation::Record;
use swarm_engine::preview::{NoPreview, Place, preview};
use swarm_protocol::command::{Answer, Command};
use swarm_protocol::ids::CommandId;
use swarm_protocol::oplog::PreviewView;

use super::Swarm;
use crate::error::CliError;
use crate::watch::Watch;

/// Between two looks whether a coordinator is still there; what it writes is seen at once.
const LOOK_EVERY: Duration = Duration::from_secs(2);

impl Swarm {
    /// What the command would do now. Reads only: beside a coordinator as well as without one.
    pub fn preview(&self, command: &Command) -> Result<PreviewView, CliError> {
        let state = self.state(None)?;
        let paths = self.paths.clone().with_worktrees(&self.configuration()?.config.worktree.dir);
        let trunk = match &state.trunk {
            Some(trunk) => trunk.clone(),
            None => self.runtime.block_on(self.git.current_branch())?.unwrap_or_default(),
        };
        let place = Place { git: &self.git, paths: &paths, trunk: &trunk };
        let now = self.now().max(state.at);
        match self.runtime.block_on(preview(&place, &state, command, now)) {
            Ok(preview) => Ok(preview),
            Err(NoPreview::Refused(refusal)) => Err(refusal.into()),
            Err(error) => Err(CliError::environment("Cannot find out what would happen").because_of(&error)),
        }
    }

    /// Carries a command out and waits for the end of what it has begun.
    pub fn operate(&self, command: Command) -> Result<Answer, CliError> {
        let watch = Watch::folder(&self.paths.swarm);
        let answer = self.ask(command)?;
        loop {
            let state = self.state(None)?;
            if let Some(record) = state.ops.record(&answer.id) {
                return outcome(record, answer);
            }
            if state.ops.running.as_ref().is_none_or(|running| running.id != answer.id) {
                return Ok(answer);
            }
            if !self.has_coordinator() {
                self.carry_out_ourselves()?;
                self.is_over(&answer.id)?;
                continue;
            }
            let over = || self.state(None).is_ok_and(|state| state.ops.record(&answer.id).is_some());
            watch.until(LOOK_EVERY, over);
        }
    }

    /// Carries out what the state owes, unless somebody coordinates by now and does.
    pub(super) fn carry_out_ourselves(&self) -> Result<(), CliError> {
        match self.bring_to_rest(self.state(None)?.trunk) {
            Err(error) if error.kind == "owned" => Ok(()),
            done => done,
        }
    }

    fn is_over(&self, id: &CommandId) -> Result<(), CliError> {
        let open = self.state(None)?.ops.running.is_some_and(|running| running.id == *id);
        if open && !self.has_coordinator() {
            let error = CliError::environment("It was left before its end; nothing of it is lost");
            return Err(error.say("`swarm run` finishes it first"));
        }
        Ok(())
    }
}

fn outcome(record: &Record, answer: Answer) -> Result<Answer, CliError> {
    match &record.failed {
        Some((why, hint)) => Err(CliError::refused_now(why.clone()).run_instead(hint.clone())),
        None => Ok(Answer { text: record.text.clone(), ..answer }),
    }
}
