//! `swarm plan history`: every record of the ledger, for people.

use swarm_protocol::time::Timestamp;

use crate::context::{At, Context};
use crate::error::CliError;
use crate::output::table::table;
use crate::output::time::moment;
use crate::swarm::Swarm;
use crate::swarm::history::HistoryRow;

/// Show all events, oldest first
///
/// With `--json` these are the records of the ledger, byte for byte, in one list.
#[derive(Debug, clap::Args)]
pub struct Args {
    #[command(flatten)]
    pub at: At,
    /// Show only the last N records
    #[arg(long, value_name = "N", default_value_t = 50)]
    pub limit: usize,
    /// Show only records after this record number or time, like 2026-01-13T10:00:00Z or 2h
    #[arg(long, value_name = "WHEN")]
    pub since: Option<Since>,
    /// Show only records about this task
    #[arg(long, value_name = "TASK")]
    pub task: Option<swarm_protocol::ids::TaskId>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Since {
    Seq(u64),
    Moment(Timestamp),
    /// Seconds before now.
    Ago(u64),
}

impl std::str::FromStr for Since {
    type Err = String;
    fn from_str(text: &str) -> Result<Self, String> {
        if let Ok(seq) = text.parse() {
            return Ok(Self::Seq(seq));
        }
        if let Some(span) = swarm_protocol::config::Span::parse(text) {
            return Ok(Self::Ago(span.secs));
        }
        match text.parse::<jiff::Timestamp>().map(|at| u64::try_from(at.as_millisecond())) {
            Ok(Ok(ms)) => Ok(Self::Moment(Timestamp(ms))),
            _ => {
                Err("expected a record number, a time like 2026-01-13T10:00:00Z, or a duration like 2h"
                    .into())
            }
        }
    }
}

pub fn run(args: Args, cx: &Context) -> Result<(), CliError> {
    let swarm = Swarm::open(cx)?;
    let now = swarm.now();
    let mut rows = swarm.history(args.at.at)?;
    rows.retain(|row| match args.since {
        Some(Since::Seq(seq)) => row.seq > seq,
        Some(Since::Moment(at)) => row.at > at,
        Some(Since::Ago(secs)) => row.at.plus_secs(secs) > now,
        None => true,
    });
    rows.retain(|row| args.task.is_none() || row.task == args.task);
    rows.drain(..rows.len().saturating_sub(args.limit));
    if cx.out.json {
        return cx.out.json_value(&rows.iter().map(|row| &row.record).collect::<Vec<_>>());
    }
    cx.out.prose(&text(&rows))
}

fn text(rows: &[HistoryRow]) -> String {
    if rows.is_empty() {
        return "No records".into();
    }
    let cells = |row: &HistoryRow| {
        let task = row.task.as_ref().map(ToString::to_string).unwrap_or_default();
        vec![row.seq.to_string(), moment(row.at), row.kind.clone(), task, row.by.clone(), row.text.clone()]
    };
    table(&["seq", "time", "type", "task", "by", "what"], rows.iter().map(cells))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn since_is_a_number_a_time_or_a_length_of_time() {
        assert_eq!("12".parse(), Ok(Since::Seq(12)));
        assert_eq!("2h".parse(), Ok(Since::Ago(7200)));
        assert_eq!("2026-01-13T10:00:00Z".parse(), Ok(Since::Moment(Timestamp(1_768_298_400_000))));
        assert!("yesterday".parse::<Since>().is_err());
    }
}
