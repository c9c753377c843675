//! What the whole ledger adds up to: costs by what became of the work, and numbers for monitoring, and what happened as spans.

use std::collections::BTreeMap;

use swarm_core::metrics::{Around, Tally};
use swarm_core::over_time::OverTime;
use swarm_core::show;
use swarm_core::spending::{By, CostView, Spending};
use swarm_core::trace::{Span, Spans};
use swarm_engine::coordinator::free_bytes;
use swarm_engine::tool_spans::tools_in;
use swarm_ledger::Line;
use swarm_protocol::config::Confirm;
use swarm_protocol::event::Event;
use swarm_protocol::ids::TaskId;
use swarm_protocol::over_time::OverTimeView;
use swarm_protocol::plan::Status;
use swarm_protocol::record::event_of;
use swarm_protocol::time::Timestamp;

use super::Swarm;
use crate::error::CliError;

impl Swarm {
    pub fn costs(&self, by: By, at: Option<u64>) -> Result<CostView, CliError> {
        let mut spending = Spending::default();
        self.each_event(at, |_, event, at| spending.note(event, at))?;
        let rows = show::rows(&self.planned(at)?);
        let status: BTreeMap<TaskId, Status> = rows.into_iter().map(|row| (row.id, row.status)).collect();
        Ok(spending.view(by, |task| status.get(task).copied()))
    }

    /// How far the plan came and what it cost, from its beginning to now.
    pub fn over_time(&self) -> Result<OverTimeView, CliError> {
        let mut over_time = OverTime::default();
        self.each_event(None, |_, event, at| over_time.note(event, at))?;
        Ok(over_time.view())
    }

    /// The page that Prometheus reads.
    pub fn metrics(&self) -> Result<String, CliError> {
        let mut tally = Tally::default();
        self.each_event(None, |seq, event, at| tally.note(seq, event, at))?;
        let state = self.planned(None)?;
        let board = show::board(&state, self.now().max(state.at));
        let around = Around { disk_free: free_bytes(&self.paths.swarm), live: None };
        Ok(tally.text(&board, env!("CARGO_PKG_VERSION"), &around))
    }

    /// What has ended up to `at` as spans, and with `unfinished` what has not; the id of the ledger.
    pub fn spans(
        &self,
        at: Option<u64>,
        unfinished: bool,
        each: &mut dyn FnMut(&str, Span) -> Result<(), CliError>,
    ) -> Result<String, CliError> {
        let (mut spans, mut last) = (Spans::default(), Timestamp::ZERO);
        let mut failed = Ok(());
        let mut ended = Vec::new();
        self.records(at, &mut |line| {
            if let Ok(event) = event_of(line.body) {
                last = moment(line);
                spans.note(line.seq, &event, last, &mut |span| ended.push(span));
            }
            for span in ended.drain(..) {
                // Below an iteration the tools that were called in it.
                let tools = tools_in(&self.paths.agents, spans.ledger(), &span);
                for span in tools.into_iter().chain([span]) {
                    if failed.is_ok() {
                        failed = each(spans.ledger(), span);
                    }
                }
            }
            Ok(())
        })?;
        failed?;
        if unfinished {
            spans.under_way(last, &mut |span| ended.push(span));
        }
        ended.into_iter().try_for_each(|span| each(spans.ledger(), span))?;
        Ok(spans.ledger().to_owned())
    }

    /// Who confirms what an MCP client wants to take back.
    pub fn mcp_confirm(&self) -> Result<Confirm, CliError> {
        Ok(self.configuration()?.config.mcp.confirm)
    }

    /// A record of a newer program says nothing that we could count.
    fn each_event(
        &self,
        at: Option<u64>,
        mut each: impl FnMut(u64, &Event, Timestamp),
    ) -> Result<(), CliError> {
        self.records(at, &mut |line| {
            if let Ok(event) = event_of(line.body) {
                each(line.seq, &event, moment(line));
            }
            Ok(())
        })
    }
}

fn moment(line: &Line<'_>) -> Timestamp {
    std::str::from_utf8(line.ts).ok().and_then(Timestamp::parse).unwrap_or_default()
}
