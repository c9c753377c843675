//! Events of worktrees that are given up and come back.

use swarm_protocol::event::Event;
use swarm_protocol::time::Timestamp;

use super::legacy;
use crate::stage::Stage;
use crate::state::{NotRevived, State};

impl State {
    /// Whether the event was one of these.
    pub(super) fn apply_worktree(&mut self, event: &Event, at: Timestamp) -> bool {
        match event {
            Event::WorktreeRemoved { task, left } => self.change(task, |t| {
                t.base = None;
                (t.worktree, t.leaving) = (false, false);
                t.kept = None;
                (t.session, t.not_revived) = (None, None);
                // What is done is on trunk; anything else comes back with the task.
                match t.stage {
                    Stage::Done { .. } => t.left = None,
                    _ => t.left = left.clone().or(t.left.take()),
                }
            }),
            Event::WorktreeAwaited { task } => self.change(task, |t| t.leaving = true),
            Event::WorktreeRevived { task, base } => self.change(task, |t| {
                (t.left, t.not_revived, t.effect_failures) = (None, None, 0);
                if let Some(base) = base {
                    (t.base, t.worktree, t.bare) = (Some(base.clone()), true, false);
                }
            }),
            Event::RevivalFailed { task, why, hint, tries: Some(tries), given_up } => {
                self.change(task, |t| {
                    let since = t.not_revived.as_ref().map_or(at, |before| before.since);
                    let (why, hint, given_up) = (why.clone(), hint.clone(), *given_up == Some(true));
                    t.not_revived = Some(NotRevived { tries: *tries, since, why, hint, given_up });
                })
            }
            Event::RevivalFailed { task, given_up, tries: None, .. } => self.change(task, |t| {
                t.effect_failures += 1;
                if given_up.unwrap_or_else(|| legacy::gives_up(t.effect_failures)) {
                    (t.left, t.effect_failures) = (None, 0);
                }
            }),
            Event::WorktreeKept { task, why } => self.change(task, |t| {
                t.leaving = false;
                if t.stage.is_closed() {
                    t.kept = Some(why.clone());
                }
            }),
            _ => return false,
        }
        true
    }
}
