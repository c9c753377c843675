//! The end of a swarm that was told to stop, also where what an agent left cannot be saved.

use swarm_core::effect::Key;
use swarm_core::input::Input;
use swarm_protocol::ids::RunId;

use super::agenda::Happening;
use super::fault::Fault;
use super::oracle::{Broken, broken};
use super::story::Story;

/// A save that fails is tried so often before a swarm that was told to stop ends without it,
const TRIES_MIN: u32 = 3;
/// and no oftener than this.
const TRIES_MAX: u32 = 10;

impl Story {
    /// Whether what this run left resists every try to save it.
    pub fn cannot_save(&mut self, run: &RunId) -> bool {
        let resists = self.truth.unsaved.contains(run) || self.strikes(Fault::SaveFails, 3);
        if resists {
            self.truth.unsaved.insert(run.clone());
        }
        resists
    }

    /// A drained coordinator with nothing left leaves in good order; somebody starts the next one.
    pub fn leaves_after_drain(&mut self) -> Result<(), Broken> {
        let Some(c) = self.coordinator.as_mut() else { return Ok(()) };
        if c.leaves {
            if c.pending.is_empty() {
                self.live_equals_replay()?;
                self.coordinator = None;
                self.agenda.at(self.now.plus_ms(1_000), Happening::Start);
            }
            return Ok(());
        }
        let idle = c.pending.is_empty() && c.executors.keys().all(Key::is_watch);
        if !c.state.draining || !idle {
            return Ok(());
        }
        // In vain so often, by what was seen here.
        let tried = c.owed_in_vain();
        c.leaves = c.state.runs.is_empty() || c.stops_short();
        match (c.leaves, tried) {
            (true, Some(tried)) if !c.state.runs.is_empty() && tried < TRIES_MIN => Err(broken(
                "what cannot be saved is tried again before a stop ends without it",
                format!("{tried} tries"),
            )),
            (true, _) => self.take_in(Input::Leaving, vec![]),
            (false, Some(tried)) if tried > TRIES_MAX => {
                Err(broken("a stop ends, whatever cannot be saved", format!("{tried} tries")))
            }
            (false, _) => Ok(()),
        }
    }
}
