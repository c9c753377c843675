//! Events of proposals.

use swarm_protocol::event::Event;

use super::keep;
use crate::limits::PROPOSALS_MAX;
use crate::state::State;
use crate::state::proposals::Ended;

impl State {
    pub(super) fn apply_proposal(&mut self, event: &Event) -> bool {
        match event {
            Event::ProposalMade { proposal } => {
                self.proposals.ever = self.proposals.ever.max(proposal.number);
                self.proposals.waiting.insert(proposal.number, proposal.clone());
            }
            Event::ProposalEnded { number, end } => {
                if let Some(proposal) = self.proposals.waiting.remove(number) {
                    let ended = Ended { number: *number, id: proposal.id, end: end.clone() };
                    keep(&mut self.proposals.ended, PROPOSALS_MAX, ended);
                }
            }
            _ => return false,
        }
        true
    }
}
