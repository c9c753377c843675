//! Spans of the tools that agents called, off what daemons wrote down beside the journals.

use std::path::Path;

use swarm_agents::journal::{calls_file, calls_of};
use swarm_core::trace::{Span, calls_wanted, span_of_tool};
use swarm_protocol::ids::RunId;

/// Those inside this span, where it is an iteration; `agents` is the folder that holds the journals. Whoever asks later, when
/// the journals are gone, has none.
pub fn tools_in(agents: &Path, ledger: &str, span: &Span) -> Vec<Span> {
    let Some(wanted) = calls_wanted(span) else { return Vec::new() };
    let Ok(run) = RunId::new(wanted.run) else { return Vec::new() };
    let journal = agents.join(wanted.agent).join("logs").join(format!("{run}.jsonl"));
    let calls = calls_of(&calls_file(&journal), wanted.iteration);
    calls.iter().map(|call| span_of_tool(ledger, &run, span, call)).collect()
}
