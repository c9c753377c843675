//! What happens, one line each, as it becomes durable.

use swarm_protocol::event::{Event, line_by};
use swarm_protocol::time::Timestamp;

use crate::output;
use crate::output::time::{near, time_of_day};

/// Progress is no data: it goes to stderr; with `--json` one object per record.
pub fn print(seq: u64, at: Timestamp, event: &Event, json: bool) {
    if json {
        let body = swarm_protocol::record::body(event, "swarm:coordinator", None);
        output::line(&format!("{{\"seq\":{seq},\"ts\":\"{at}\",{body}}}"));
    } else if let Some(text) = line_by(event, &|other: Timestamp| near(other, at)) {
        let task = event.task().map(|t| t.to_string()).unwrap_or_default();
        output::note(&output::harmless(&format!("{}  {task:<8} {text}", time_of_day(at))));
    }
}
