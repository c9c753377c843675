//! The place of a task: its phase, its neighbours, its rank.

use swarm_protocol::ids::TaskId;
use swarm_protocol::plan::Extra;

use crate::state::{Phase, State};

/// Distance between two neighbours when a task is appended.
const RANK_STEP: i64 = 1 << 20;

impl State {
    pub(super) fn move_task(&mut self, id: &TaskId, phase: u32, after: Option<&TaskId>) {
        let Some(old) = self.tasks.get(id).map(|t| t.phase) else { return };
        if let Some(phase) = self.phase_mut(old) {
            phase.tasks.retain(|t| t != id);
        }
        self.place(id, phase, after);
    }

    /// Puts the task into the phase: after another task of it, or first. A task that comes into a
    /// complete phase opens it again.
    pub(super) fn place(&mut self, id: &TaskId, phase: u32, after: Option<&TaskId>) {
        let Some(plan) = &mut self.plan else { return };
        if !plan.phases.iter().any(|p| p.id == phase) {
            plan.phases.push(Phase {
                id: phase,
                name: String::new(),
                extra: Extra::new(),
                complete: false,
                tasks: vec![],
            });
        }
        let Some(phase) = plan.phases.iter_mut().find(|p| p.id == phase) else { return };
        phase.complete = false;
        let at = after
            .map_or(0, |a| phase.tasks.iter().rposition(|t| t == a).map_or(phase.tasks.len(), |i| i + 1));
        phase.tasks.insert(at, id.clone());
        let rank_at = |i: usize| phase.tasks.get(i).and_then(|t| self.tasks.get(t)).map(|t| t.rank);
        let before = if at == 0 { None } else { rank_at(at - 1) };
        let behind = rank_at(at + 1);
        let rank = match (before, behind) {
            (None, None) => Some(0),
            (Some(b), None) => b.checked_add(RANK_STEP),
            (None, Some(n)) => n.checked_sub(RANK_STEP),
            (Some(b), Some(n)) if n - b > 1 => Some(b + (n - b) / 2),
            _ => None,
        };
        let id_of_phase = phase.id;
        self.change(id, |t| t.phase = id_of_phase);
        match rank {
            Some(rank) => self.change(id, |t| t.rank = rank),
            None => self.renumber(id_of_phase),
        }
    }

    /// The gaps of a phase are used up: all its tasks get new ranks.
    fn renumber(&mut self, phase: u32) {
        let ids = self.phase(phase).map(|p| p.tasks.clone()).unwrap_or_default();
        for (i, id) in ids.iter().enumerate() {
            self.change(id, |t| t.rank = i as i64 * RANK_STEP);
            self.reindex(id);
        }
    }
}
