//! Agents that nobody coordinates: the ledger says what they did when it was written last, their daemons what is left of them.

use swarm_core::{State, show};
use swarm_protocol::channel::RunKind;
use swarm_protocol::time::Timestamp;
use swarm_protocol::view::StatusView;
use swarm_work::daemon::RunFiles;
use swarm_work::supervisor::lives_here;

use super::Swarm;
use super::ask::Presence;

impl Swarm {
    /// What is shown of agents while nobody coordinates is what there is of them, and it waits for a person.
    /// Gives who coordinates, where that had to be asked.
    pub(super) fn show_as_left_alone(&self, state: &State, view: &mut StatusView) -> Option<Presence> {
        let nothing_is_left = !state.running && view.agents.is_empty();
        if nothing_is_left || self.is_watched() {
            return None;
        }
        let there = self.presence();
        if there.is_somebody() {
            return Some(there);
        }
        view.attention.splice(0..0, show::left_alone(state)).for_each(drop);
        for agent in &mut view.agents {
            let files = RunFiles::new(&self.paths.swarm, &agent.run);
            if lives_here(&files, &self.paths.root) {
                if state.draining {
                    agent.doing = "stopping".into();
                }
            } else {
                // It is not at work for longer and longer: this is when it ended, as far as that is known.
                (agent.doing, agent.held) = ("gone".into(), false);
                (agent.iteration, agent.since) = (0, ended_at(&files).unwrap_or(state.at));
            }
        }
        Some(there)
    }

    /// Processes of agents that a signal holds.
    pub(super) fn held(&self, state: &State) -> Vec<u32> {
        let files = state.runs.keys().map(|id| RunFiles::new(&self.paths.swarm, id));
        let here = files.filter(|files| lives_here(files, &self.paths.root));
        here.filter_map(|files| files.stopped_daemon()).collect()
    }

    /// Agents whose processes are there, and other runs, of those that the ledger knows.
    pub(super) fn runs_at_work(&self, state: &State) -> (usize, usize) {
        let (dir, root) = (&self.paths.swarm, &self.paths.root);
        let there = state.runs.iter().filter(|(id, _)| lives_here(&RunFiles::new(dir, id), root));
        let (agents, others): (Vec<_>, Vec<_>) = there.partition(|(_, run)| run.kind == RunKind::Work);
        (agents.len(), others.len())
    }
}

/// By its last word.
fn ended_at(files: &RunFiles) -> Option<Timestamp> {
    let changed = std::fs::metadata(files.exit()).ok()?.modified().ok()?;
    let since = changed.duration_since(std::time::UNIX_EPOCH).ok()?;
    Some(Timestamp(u64::try_from(since.as_millis()).ok()?))
}

/// What is said beside agents that a signal holds, which do nothing by themselves.
pub(super) fn note_of_held(pids: &[u32]) -> String {
    let pids = pids.iter().map(u32::to_string).collect::<Vec<_>>().join(" ");
    format!(
        "Note: no coordinator is running, and agents are suspended by a signal: `kill -CONT {pids}` continues them, \
            `swarm run` ends them and continues their work"
    )
}

/// What is said beside them. `others`: reviews and verifications that run.
pub(super) fn note(at_work: usize, others: usize, draining: bool) -> String {
    match (at_work, draining) {
        (0, _) if others > 0 => {
            "Note: no coordinator is running, and no agent is working; reviews and checks continue. `swarm run` \
                adopts them".into()
        }
        (0, _) => {
            "Note: no coordinator is running, and these agents have ended too. `swarm run` continues their work"
                .into()
        }
        (1, true) => {
            "Note: no coordinator is running, and 1 agent is still stopping: it saves its work and ends by itself".into()
        }
        (n, true) => format!(
            "Note: no coordinator is running, and {n} agents are still stopping: they save their work and end by themselves"
        ),
        (_, false) => {
            "Note: no coordinator is running; live agents continue. `swarm run` adopts them".into()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{note, note_of_held};

    #[test]
    fn agents_that_a_signal_holds_are_not_said_to_end_by_themselves() {
        let said = note_of_held(&[7, 9]);
        assert!(said.contains("`kill -CONT 7 9`") && !said.contains("by themselves"), "{said}");
    }

    #[test]
    fn what_still_runs_is_not_said_to_be_gone() {
        assert!(note(0, 0, false).contains("have ended too"));
        for draining in [false, true] {
            assert!(!note(0, 1, draining).contains("gone"), "{}", note(0, 1, draining));
        }
        assert!(note(1, 1, true).contains("1 agent is still stopping"));
    }
}
