//! Calls of tools inside an iteration. They are not in the ledger: daemons write them down beside the journals.

use swarm_protocol::attempt::ToolCall;
use swarm_protocol::ids::RunId;
use swarm_protocol::time::Timestamp;

use super::names;
use super::span::{Key, Span, Value};

/// Whose calls belong below a span.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CallsWanted<'a> {
    pub run: &'a str,
    pub agent: &'a str,
    pub iteration: u64,
}

/// None for a span that is no iteration.
pub fn calls_wanted(span: &Span) -> Option<CallsWanted<'_>> {
    let said =
        |wanted: &str| span.attributes.iter().find(|(name, _)| *name == wanted).map(|(_, value)| value);
    match (span.kind, said(names::RUN)?, said(names::AGENT_NAME)?, said(names::ITERATION)?) {
        (names::INVOKE_AGENT, Value::Text(run), Value::Text(agent), Value::Whole(iteration)) => {
            Some(CallsWanted { run, agent, iteration: *iteration })
        }
        _ => None,
    }
}

/// A call as a span below its iteration, and inside it: the clock of who wrote it down is not the ledger's.
pub fn span_of_tool(ledger: &str, run: &RunId, iteration: &Span, call: &ToolCall) -> Span {
    let key = Key { ledger, within: Some((iteration.trace, iteration.id)) };
    let parts = ["tool", run.as_str(), &call.iteration.to_string(), &call.n.to_string()];
    let within = |at: Timestamp| at.clamp(iteration.start, iteration.end);
    let mut span = key.open(names::EXECUTE_TOOL, &parts, within(call.began));
    span.name = format!("{} {}", names::EXECUTE_TOOL, call.name);
    span.task.clone_from(&iteration.task);
    span.say(names::OPERATION_NAME, names::EXECUTE_TOOL);
    span.say(names::TOOL_NAME, call.name.as_str());
    span.end(within(call.ended), (call.ok == Some(false)).then_some("tool_failed"))
}
