//! Wishes of programs that wait for a person, and what came of the last ones.

use std::collections::{BTreeMap, VecDeque};

use serde::{Deserialize, Serialize};
use swarm_protocol::ids::CommandId;
use swarm_protocol::proposal::{Proposal, ProposalEnd};

#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Proposals {
    pub ever: u64,
    pub waiting: BTreeMap<u64, Proposal>,
    /// Newest last (bounded).
    pub ended: VecDeque<Ended>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ended {
    pub number: u64,
    pub id: CommandId,
    pub end: ProposalEnd,
}

impl Proposals {
    pub fn is_empty(&self) -> bool {
        self.ever == 0
    }

    /// The one that was asked under this id and waits.
    pub fn waits_under(&self, id: &CommandId) -> Option<&Proposal> {
        self.waiting.values().find(|proposal| proposal.id == *id)
    }

    /// How the one ended that was asked under this id, or that this command of a person found to be void.
    pub fn ended_under(&self, id: &CommandId) -> Option<&Ended> {
        let found_by = |ended: &Ended| matches!(&ended.end, ProposalEnd::Void { operation, .. } if operation.as_ref() == Some(id));
        self.ended.iter().rev().find(|ended| ended.id == *id || found_by(ended))
    }
}
