//! Records of the ledger as rows for people.

use serde_json::value::RawValue;
use swarm_ledger::{Access, Line, OnDamage, Recovery, recover};
use swarm_protocol::ids::TaskId;
use swarm_protocol::record::{Margin, event_of};
use swarm_protocol::time::Timestamp;

use super::Swarm;
use super::describe::describe;
use crate::error::CliError;

/// One record.
#[derive(Debug)]
pub struct HistoryRow {
    pub seq: u64,
    pub at: Timestamp,
    pub kind: String,
    pub task: Option<TaskId>,
    pub by: String,
    pub text: String,
    /// The line of the ledger itself.
    pub record: Box<RawValue>,
}

impl Swarm {
    /// All records up to `at`, oldest first.
    pub fn history(&self, at: Option<u64>) -> Result<Vec<HistoryRow>, CliError> {
        let mut rows = vec![];
        self.records(at, &mut |line| {
            rows.push(row(line)?);
            Ok(())
        })?;
        Ok(rows)
    }

    /// Each line of the ledger up to `at`, oldest first.
    pub(super) fn records(
        &self,
        at: Option<u64>,
        each: &mut dyn FnMut(&Line<'_>) -> Result<(), String>,
    ) -> Result<(), CliError> {
        // Says what there is to say about a ledger that is absent, damaged or shorter than `at`.
        self.plan_file(at)?;
        let options = self.options("read");
        let request = Recovery {
            vfs: &options.vfs,
            paths: &self.paths.ledger_paths(),
            witnesses: &[],
            bases: &[],
            on_damage: OnDamage::Ask,
            access: Access::Read,
        };
        let mut unreadable = None;
        recover(&request, &mut |line| {
            if at.is_none_or(|at| line.seq <= at)
                && let Err(why) = each(line)
            {
                unreadable = unreadable.take().or(Some((line.seq, why)));
            }
        })
        .map_err(swarm_engine::store::StoreError::Open)?;
        match unreadable {
            None => Ok(()),
            Some((seq, why)) => Err(CliError::environment(format!("Cannot read record {seq}")).because(why)),
        }
    }
}

fn row(line: &Line<'_>) -> Result<HistoryRow, String> {
    let margin = Margin::read(line.bytes).map_err(|error| error.to_string())?;
    let event = event_of(line.body).map_err(|error| error.to_string())?;
    let text = std::str::from_utf8(line.bytes).map_err(|error| error.to_string())?;
    let ts = std::str::from_utf8(line.ts).unwrap_or_default();
    Ok(HistoryRow {
        seq: line.seq,
        at: Timestamp::parse(ts).unwrap_or_default(),
        kind: event.kind().to_owned(),
        task: event.task().cloned(),
        by: margin.by.into_owned(),
        text: describe(&event),
        record: RawValue::from_string(text.trim_end().to_owned()).map_err(|error| error.to_string())?,
    })
}
