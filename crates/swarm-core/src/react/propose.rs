//! A program wants what takes something back, and a person decides. What is accepted is carried out under the person's name,
//! exactly as it was shown; where it would do something else by now, the proposal is void.

use sha2::{Digest, Sha256};
use swarm_protocol::command::{Command, Envelope};
use swarm_protocol::event::Event;
use swarm_protocol::ids::CommandId;
use swarm_protocol::proposal::{Proposal, ProposalEnd};
use swarm_protocol::refusal::Refusal;
use swarm_protocol::time::Timestamp;

use super::command::Outcome;
use super::operate;
use crate::limits::{PROPOSAL_SAYS_MAX, PROPOSAL_SECS, PROPOSALS_MAX};
use crate::operation::facts;
use crate::state::State;

/// Through which front end programs come: it proposes and never agrees.
const PROGRAM: &str = "person:mcp";

/// Whose wish it is, and under which id.
pub(super) struct Asker {
    pub id: CommandId,
    pub by: String,
}

pub(super) fn propose(
    state: &State,
    asker: Asker,
    command: Command,
    says: Vec<String>,
    now: Timestamp,
) -> Result<Outcome, Refusal> {
    let Some(typed) = command.typed() else {
        let (what, why) = ("The proposal".into(), "only what takes something back is proposed".into());
        return Err(Refusal::BadValue { what, why });
    };
    let bytes: usize = says.iter().map(String::len).sum();
    if bytes > PROPOSAL_SAYS_MAX {
        let what = "The preview of the proposal in bytes".into();
        return Err(Refusal::TooLarge { what, limit: PROPOSAL_SAYS_MAX as u64, got: bytes as u64 });
    }
    let facts = facts_of(state, &command, now)?;
    if facts.is_none() && operate::expected(&command).is_none() {
        let (what, why) = ("The proposal".into(), "it does not say which preview it is about".into());
        return Err(Refusal::BadValue { what, why });
    }
    let waiting = &state.proposals.waiting;
    if let Some(same) = waiting.values().find(|other| other.command == command && other.facts == facts) {
        return Err(Refusal::AlreadyProposed { number: same.number, id: same.id.clone() });
    }
    if waiting.len() >= PROPOSALS_MAX {
        let (limit, got) = (PROPOSALS_MAX as u64, waiting.len() as u64 + 1);
        return Err(Refusal::TooLarge { what: "The number of proposals that wait".into(), limit, got });
    }
    let number = state.proposals.ever + 1;
    let Asker { id, by } = asker;
    let until = now.plus_secs(PROPOSAL_SECS);
    let proposal = Proposal { number, id, by, since: now, until, command, says, facts };
    let answer = format!("Proposal {number} waits for a person: `{typed}`");
    Ok(Outcome::new(vec![Event::ProposalMade { proposal }], answer))
}

/// Carries it out in the name of the person who accepts it, in the batch that says so.
pub(super) fn accept(
    state: &State,
    asker: Asker,
    number: u64,
    now: Timestamp,
) -> Result<Vec<Event>, Refusal> {
    let Asker { id, by } = asker;
    if !by.starts_with("person:") || by == PROGRAM {
        return Err(Refusal::NotForAgents { what: "attention --accept".into() });
    }
    let proposal = waiting(state, number).filter(|proposal| now < proposal.until);
    let proposal = proposal.ok_or(Refusal::UnknownProposal { number })?;
    let ended = |end| Event::ProposalEnded { number, end };
    let envelope = Envelope { id: id.clone(), by: by.clone(), command: proposal.command.clone() };
    let events = as_it_was(state, proposal, now).and_then(|()| super::command::react(state, envelope, now));
    let events = match events {
        Ok(events) => events,
        Err(refusal) => {
            let why = refusal.message();
            let answer = format!("Nothing was done, proposal {number} is void: {why}");
            let void = ProposalEnd::Void { why, operation: Some(id.clone()) };
            let (kind, subject) = ("attention --accept".into(), Some(number.to_string()));
            let (by, facts, undoes, checkpoint, planning) = (Some(by), None, None, None, None);
            let record =
                Event::Operation { id, kind, subject, answer, by, facts, undoes, checkpoint, planning };
            return Ok(vec![ended(void), record]);
        }
    };
    let accepted = ended(ProposalEnd::Accepted { by, operation: id });
    Ok(std::iter::once(accepted).chain(events).collect())
}

pub(super) fn decline(
    state: &State,
    by: String,
    number: u64,
    reason: Option<String>,
) -> Result<Outcome, Refusal> {
    waiting(state, number).ok_or(Refusal::UnknownProposal { number })?;
    if let Some(reason) = &reason {
        super::validate::reason(reason)?;
    }
    let end = ProposalEnd::Declined { by, reason };
    Ok(Outcome::new(vec![Event::ProposalEnded { number, end }], format!("Proposal {number} is declined")))
}

/// Nobody has decided in time.
pub(crate) fn too_old(state: &State, now: Timestamp) -> Option<Event> {
    let old = state.proposals.waiting.values().find(|proposal| proposal.until <= now)?;
    let why = format!("nobody decided within {} hours", PROPOSAL_SECS / 3_600);
    let end = ProposalEnd::Void { why, operation: None };
    Some(Event::ProposalEnded { number: old.number, end })
}

fn waiting(state: &State, number: u64) -> Option<&Proposal> {
    state.proposals.waiting.get(&number)
}

/// Where git moves, the operation itself compares what it finds with what was shown.
fn as_it_was(state: &State, proposal: &Proposal, now: Timestamp) -> Result<(), Refusal> {
    if proposal.facts == facts_of(state, &proposal.command, now)? {
        return Ok(());
    }
    Err(Refusal::PreviewChanged { command: proposal.command.typed().unwrap_or_default() })
}

/// Hash of the facts that it would change at once; none: it has steps.
fn facts_of(state: &State, command: &Command, now: Timestamp) -> Result<Option<String>, Refusal> {
    let envelope = Envelope {
        id: CommandId::new("look").expect("a plain word"),
        by: "person:api".into(),
        command: command.clone(),
    };
    let events = super::command::react(state, envelope, now)?;
    if events.iter().any(|event| matches!(event, Event::OperationAsked { .. })) {
        return Ok(None);
    }
    let touched = facts::touched(state, &events);
    let before = facts::read_all(state, &touched);
    let mut then = state.clone();
    events.iter().for_each(|event| then.apply(event, now));
    let after = facts::read_all(&then, &touched);
    let changes = facts::changes(touched, before, after);
    let text = serde_json::to_string(&changes).unwrap_or_default();
    Ok(Some(crate::hash::hex(&Sha256::digest(text.as_bytes()))))
}
