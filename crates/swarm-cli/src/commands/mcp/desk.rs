//! What MCP tools do beside the ledger, with the hands that the command line has.

use serde_json::{Value, json};
use swarm_agents::journal::read_raw;
use swarm_engine::by_hand::GiveUp;
use swarm_mcp::desk::{Deed, Desk, Done};
use swarm_protocol::api::{ApiError, HistoryPage, LogPage};
use swarm_protocol::command::Command;
use swarm_protocol::config::Confirm;
use swarm_protocol::deed::WorktreeMade;
use swarm_protocol::ids::TaskId;
use swarm_protocol::oplog::PreviewView;
use swarm_work::remove::Removal;

use crate::error::CliError;
use crate::swarm::Swarm;
use crate::swarm::inside::refuse_agents;
use crate::swarm::screen::{Screen, told};

/// Bytes of a journal that are read for one answer.
const LOG_BYTES_MAX: usize = 1 << 20;

impl Desk for Screen {
    fn confirm(&self) -> Result<Confirm, ApiError> {
        self.swarm().mcp_confirm().map_err(told)
    }

    fn would(&self, deed: &Deed) -> Result<PreviewView, ApiError> {
        // As the coordinator answers whoever asks it what a command would do.
        refuse_agents(name_of(deed)).map_err(told)?;
        would(self.swarm(), deed).map_err(told)
    }

    fn carry_out(&self, deed: &Deed) -> Result<Done, ApiError> {
        carry_out(self.swarm(), deed).map_err(told)
    }

    fn submission(&self, task: &TaskId) -> Result<Command, ApiError> {
        // What lies in a worktree is looked at before the coordinator, which would refuse it, is asked.
        refuse_agents("worktree merge").map_err(told)?;
        self.swarm().submits(task).map_err(told)
    }

    fn worktrees(&self) -> Result<Value, ApiError> {
        let lines = self.swarm().worktree_views().map_err(told)?;
        Ok(serde_json::to_value(lines).unwrap_or_default())
    }

    fn log(&self, who: &str, from: u64, lines: usize) -> Result<LogPage, ApiError> {
        log(self.swarm(), who, from, lines).map_err(told)
    }

    fn history(&self, from: u64, limit: usize) -> Result<HistoryPage, ApiError> {
        let rows = self.swarm().history(None).map_err(told)?;
        let seq = rows.last().map_or(0, |row| row.seq);
        let mut rows = rows.into_iter().skip_while(|row| row.seq < from);
        let records: Vec<Value> =
            rows.by_ref().take(limit).filter_map(|row| serde_json::from_str(row.record.get()).ok()).collect();
        Ok(HistoryPage { seq, records, next: rows.next().map(|row| row.seq) })
    }
}

fn would(swarm: &Swarm, deed: &Deed) -> Result<PreviewView, CliError> {
    let (kind, lines) = match deed {
        Deed::ClosePlan { stop } => return swarm.preview_close(*stop),
        Deed::Init { isolation } => {
            swarm.may_init(*isolation)?;
            let made = swarm.would_init().created;
            ("init", made.iter().map(|path| format!("{path} is created")).collect())
        }
        Deed::CreateWorktree { task, from } => {
            ("worktree create", swarm.would_make_worktree(task, from.as_deref())?)
        }
        Deed::CleanUp { task } => {
            swarm.refuse_without_worktree(task)?;
            let look = GiveUp { only_look: true, ..GiveUp::default() };
            let line = match swarm.give_up_worktree(task, look)? {
                Removal::Removed => format!("the worktree of {task} is removed"),
                Removal::Kept { why } => format!("the worktree of {task} stays: {why}"),
            };
            ("worktree cleanup", vec![line])
        }
    };
    Ok(PreviewView::of_lines(kind, &lines))
}

/// As a person types it.
fn name_of(deed: &Deed) -> &'static str {
    match deed {
        Deed::Init { .. } => "init",
        Deed::CreateWorktree { .. } => "worktree create",
        Deed::CleanUp { .. } => "worktree cleanup",
        Deed::ClosePlan { .. } => "close",
    }
}

fn carry_out(swarm: &Swarm, deed: &Deed) -> Result<Done, CliError> {
    // These ask nobody who could see who we are, so it is looked at here.
    refuse_agents(name_of(deed))?;
    Ok(match deed {
        Deed::Init { isolation } => {
            if let Some(theirs) = swarm.foreign_plan() {
                let text = format!("{} is a plan of another tool", swarm.relative(&theirs));
                return Err(CliError::foreign_plan(text).run_instead("swarm init --import"));
            }
            let made = swarm.init(*isolation)?;
            let text = match made.created.as_slice() {
                [] => "Everything is there already".to_owned(),
                created => format!("Created {}", created.join(", ")),
            };
            Done { text, data: json!({ "created": made.created, "kept": made.kept }) }
        }
        Deed::CreateWorktree { task, from } => {
            let made = swarm.make_worktree(task, from.as_deref())?;
            let word = if made.created { "Made" } else { "Found" };
            let text = format!("{word} {} on {}", made.path, made.branch);
            let WorktreeMade { task, path, branch, created, .. } = made;
            Done { text, data: json!({ "task": task, "path": path, "branch": branch, "created": created }) }
        }
        Deed::CleanUp { task } => clean_up(swarm, task)?,
        Deed::ClosePlan { stop } => {
            let answer = swarm.close(*stop)?;
            Done { text: answer.text.clone(), data: json!({ "id": answer.id, "seq": answer.seq }) }
        }
    })
}

fn clean_up(swarm: &Swarm, task: &TaskId) -> Result<Done, CliError> {
    let stays = swarm.clean_up(task, false, false)?.why;
    let text = match &stays {
        None => format!("The worktree of {task} is removed"),
        Some(why) => format!("The worktree of {task} stays: {why}"),
    };
    Ok(Done { text, data: json!({ "task": task, "removed": stays.is_none(), "why": stays }) })
}

fn log(swarm: &Swarm, who: &str, from: u64, lines: usize) -> Result<LogPage, CliError> {
    // An agent reads its own journal from the coordinator, which can tell whose it is.
    refuse_agents("agent logs")?;
    let run = swarm.run_of(who)?;
    let journal = swarm.journal_of(&run);
    let read = match read_raw(&journal, from, lines, LOG_BYTES_MAX) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => vec![],
        read => read.map_err(|error| {
            CliError::environment(format!("Cannot read {}", swarm.relative(&journal))).because(error)
        })?,
    };
    let cursor = read.last().map_or(from, |line| line.cursor);
    let length = std::fs::metadata(&journal).map_or(cursor, |file| file.len());
    let lines = read.iter().filter_map(|line| serde_json::from_str(&line.text).ok()).collect();
    Ok(LogPage { run: run.run, lines, cursor, end: cursor >= length })
}
