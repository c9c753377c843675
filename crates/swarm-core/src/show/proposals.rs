//! Proposals for people, and for the program that waits for their answer.

use swarm_protocol::oplog::{OperationState, OperationView};
use swarm_protocol::proposal::{Proposal, ProposalEnd};
use swarm_protocol::time::Timestamp;
use swarm_protocol::view::AttentionView;

use super::operations::by_id;
use crate::state::State;

/// What it is called: as a person would type it.
fn name(proposal: &Proposal) -> String {
    proposal.command.typed().unwrap_or_else(|| proposal.command.kind().into())
}

pub(super) fn entry(proposal: &Proposal, now: Timestamp) -> AttentionView {
    let Proposal { number, by, until, .. } = proposal;
    let mut why = vec![format!("asked for by {by}; it happens exactly as shown, or not at all")];
    why.extend(proposal.says.iter().cloned());
    why.push(format!("void from {} on", until.clock(now)));
    AttentionView {
        what: format!("Proposal {number} waits for your answer: {}", name(proposal)),
        since: proposal.since,
        why: why.join("\n"),
        commands: vec![
            format!("swarm attention --accept {number}"),
            format!("swarm attention --decline {number}"),
        ],
        seen_by: None,
    }
}

/// The record of a proposal says what came of it: that it waits, or how the operation goes that a person let happen.
pub(super) fn followed(state: &State, view: OperationView) -> OperationView {
    if let Some(proposal) = state.proposals.waits_under(&view.id) {
        let number = proposal.number;
        return OperationView {
            state: OperationState::Waits,
            text: format!("Proposal {number} waits for a person: `{}`", name(proposal)),
            hint: Some(format!("swarm attention --accept {number}")),
            ..view
        };
    }
    let Some(ended) = state.proposals.ended_under(&view.id) else { return view };
    let said = format!("Proposal {} is {}", ended.number, ended.end.words());
    match &ended.end {
        ProposalEnd::Accepted { operation, .. } => match by_id(state, operation) {
            Some(came) => OperationView {
                state: came.state,
                step: came.step,
                checkpoint: came.checkpoint,
                hint: came.hint,
                text: format!("{said}. {}", came.text),
                ..view
            },
            None => OperationView { text: said, ..view },
        },
        ProposalEnd::Declined { .. } | ProposalEnd::Void { .. } => {
            let hint = Some("swarm op log".into());
            OperationView { state: OperationState::Failed, text: said, hint, ..view }
        }
    }
}
