//! An agent that proposed a plan: over before anything of it is in the ledger, and so a trace of its own.

use swarm_protocol::ids::CommandId;
use swarm_protocol::planning::Planning;

use super::names;
use super::span::{Key, Span};

/// `by` is the operation that took what was proposed.
pub(super) fn span(ledger: &str, by: &CommandId, planning: &Planning) -> Span {
    let key = Key { ledger, within: None };
    let mut span = key.open(names::PLAN, &["plan", by.as_str()], planning.began);
    span.name = format!("{} {}", names::PLAN, planning.profile);
    span.say(names::OPERATION_NAME, names::PLAN);
    span.say(names::OPERATION_ID, by.as_str());
    span.say(names::PROFILE, planning.profile.as_str());
    span.say_program(&planning.program, planning.model.as_deref());
    span.say(names::ASKED, planning.asked);
    if let Some(session) = &planning.session {
        span.say(names::CONVERSATION_ID, session.as_str());
    }
    span.say_usage(&planning.usage);
    span.end(planning.ended, None)
}
