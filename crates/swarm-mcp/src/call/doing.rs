//! Tools that change something: looked up what has to be, shown first where much is at stake, done once.

use serde_json::{Map, Value, json};
use sha2::{Digest, Sha256};
use swarm_protocol::api::ApiError;
use swarm_protocol::command::{Answer, Command};
use swarm_protocol::ids::{CommandId, Oid, TaskId};
use swarm_protocol::oplog::PreviewView;
use swarm_protocol::plan::ExecutionProfile;
use swarm_protocol::review::Verdict;
use swarm_server::ledger::Look;
use tokio::time::Instant;

use super::{Caller, Told, id_of, members};
use crate::limits::{FOLLOW_FOR, LOOK_AGAIN, NUMBERS_TRIED_MAX};
use crate::wish::{What, Wish};

impl Caller {
    pub(super) async fn fulfil(
        &self,
        tool: &str,
        arguments: Map<String, Value>,
        wish: Wish,
    ) -> Result<Told, ApiError> {
        if !wish.careful {
            return self.carry_out(wish).await;
        }
        let Some(expect) = wish.expect.clone() else { return self.shown_first(tool, arguments, &wish).await };
        self.confirmed(wish, expect).await
    }

    /// What it would do, and the call that does it.
    async fn shown_first(
        &self,
        tool: &str,
        mut arguments: Map<String, Value>,
        wish: &Wish,
    ) -> Result<Told, ApiError> {
        let (text, mut facts) = self.would(wish).await?;
        facts.insert("done".into(), json!(false));
        if let Some(expect) = facts.get("expect").cloned() {
            arguments.insert("expect".into(), expect);
            facts.insert("next".into(), json!({ "tool": tool, "arguments": arguments }));
        }
        Ok((format!("Preview, nothing is done yet. {text}"), facts))
    }

    /// A preview as facts; `expect` is always there where one can be given.
    pub(super) async fn would(&self, wish: &Wish) -> Result<Told, ApiError> {
        let preview = self.preview_of(&wish.what).await?;
        let text = sentence(&preview);
        let mut facts = members(serde_json::to_value(&preview).unwrap_or_default());
        // Every ref of the plan is in `says` already, in words.
        facts.remove("plan");
        match wish.careful {
            true => facts.insert("expect".into(), json!(expected(&preview))),
            false => facts.remove("expect"),
        };
        Ok((text, facts))
    }

    async fn preview_of(&self, what: &What) -> Result<PreviewView, ApiError> {
        match what {
            What::Deed(deed) => {
                let deed = deed.clone();
                self.source.beside(move |desk| desk.would(&deed)).await
            }
            other => {
                let command = self.command_of(other).await?;
                self.source.preview(command).await
            }
        }
    }

    /// The wish with what was shown, or why it would do something else by now.
    pub(super) async fn as_shown(&self, wish: Wish, expect: String) -> Result<Wish, ApiError> {
        // Sent again after a lost answer: the old answer is what is wanted, whatever a preview says now.
        match self.asked_before(&wish).await? {
            true => Ok(wish),
            false => Ok(self.still_as_shown(wish, &expect).await?.0),
        }
    }

    pub(super) async fn asked_before(&self, wish: &Wish) -> Result<bool, ApiError> {
        let Some(id) = wish.id.clone() else { return Ok(false) };
        Ok(self.source.beside(move |desk| Ok(desk.past_answer(&id))).await?.is_some())
    }

    pub(super) async fn still_as_shown(
        &self,
        mut wish: Wish,
        expect: &str,
    ) -> Result<(Wish, PreviewView), ApiError> {
        let preview = self.preview_of(&wish.what).await?;
        if expected(&preview) != expect {
            return Err(ApiError::new(
                "not_as_shown",
                "It would now do something else",
                "Look at the preview again",
            ));
        }
        // Compared once more where it is carried out, so that nothing comes in between.
        if let What::Command(command) = wish.what {
            wish.what = What::Command(command.expecting(preview.expect.clone()));
        }
        Ok((wish, preview))
    }

    pub(super) async fn carry_out(&self, wish: Wish) -> Result<Told, ApiError> {
        let id = id_of(wish.id)?;
        if let Some(answer) = self.done_before(&id, &wish.what).await? {
            return Ok(answered(&answer));
        }
        match wish.what {
            What::Deed(deed) => {
                let done = self.source.beside(move |desk| desk.carry_out(&deed)).await?;
                Ok((done.text, members(done.data)))
            }
            What::AddNumbered { .. } => self.add_numbered(id, wish.what).await,
            other => {
                let command = self.command_of(&other).await?;
                let has_steps = has_steps(&command);
                let answer = self.source.send(id, command).await?;
                if has_steps { self.followed(answer).await } else { Ok(answered(&answer)) }
            }
        }
    }

    /// The answer that work which was submitted or approved under this id got before. What it was about is gone when it is
    /// done, and cannot be looked up again.
    async fn done_before(&self, id: &CommandId, what: &What) -> Result<Option<Answer>, ApiError> {
        let (kind, task) = match what {
            What::Submit { task } => ("worktree merge", task),
            What::Approve { task } => ("review approve", task),
            _ => return Ok(None),
        };
        let asked = id.clone();
        let past = self.source.beside(move |desk| Ok(desk.past_answer(&asked))).await?;
        let Some(past) = past else { return Ok(None) };
        let Ok(seen) = self.source.look(Look::Operation(id.clone()), None).await else { return Ok(None) };
        let is_same = seen.view["kind"] == kind && seen.view["subject"] == task.as_str();
        Ok(is_same.then_some(past))
    }

    /// The next free number, and another one where somebody was quicker.
    async fn add_numbered(&self, id: CommandId, what: What) -> Result<Told, ApiError> {
        let mut tried = 0;
        loop {
            let command = self.command_of(&what).await?;
            match self.source.send(id.clone(), command).await {
                Err(error) if error.kind == "duplicate_task" && tried < NUMBERS_TRIED_MAX => tried += 1,
                answer => return Ok(answered(&answer?)),
            }
        }
    }

    /// A command, with what it needs looked up.
    async fn command_of(&self, what: &What) -> Result<Command, ApiError> {
        match what {
            What::Command(command) => Ok(command.clone()),
            What::AddNumbered { phase, after, task } => {
                let rows = self.source.look(Look::Tasks, None).await?.view;
                let (phase, id) = free_place(&rows, *phase, after.as_ref())?;
                let mut task = task.clone();
                task.id = id;
                Ok(Command::AddTask { phase: Some(phase), after: after.clone(), task })
            }
            What::Approve { task } => {
                let reviews = self.source.look(Look::Reviews, None).await?.view;
                let tip = submitted(&reviews, task)?;
                Ok(Command::Review { task: task.clone(), verdict: Verdict::Approve { tip, left_out: None } })
            }
            What::Submit { task } => {
                let task = task.clone();
                self.source.beside(move |desk| desk.submission(&task)).await
            }
            What::Profile { parallel, at_once, council } => {
                let now = self.source.look(Look::Status, None).await?.view["profile"].take();
                let now: ExecutionProfile = serde_json::from_value(now).unwrap_or_default();
                let profile = ExecutionProfile {
                    parallelization_enabled: parallel.unwrap_or(now.parallelization_enabled),
                    max_concurrent_tasks: at_once.unwrap_or(now.max_concurrent_tasks),
                    council_parallel: council.unwrap_or(now.council_parallel),
                    locked: now.locked,
                };
                Ok(Command::SetProfile { profile })
            }
            What::MarkDone { task } => Err(self.what_is_missing(task).await?),
            What::Deed(_) => Err(ApiError::new("bug", "A deed is no command", "swarm doctor")),
        }
    }

    /// A task is done when its work is on trunk and verified. What is between it and that.
    async fn what_is_missing(&self, task: &TaskId) -> Result<ApiError, ApiError> {
        let view = self.source.look(Look::Task(task.clone()), None).await?.view;
        let stage = view["stage"].as_str().unwrap_or_default();
        let why = view["why"].as_str().map(|why| format!(", {why}")).unwrap_or_default();
        let text = format!("A task cannot be marked as done by hand: {task} is {stage}{why}");
        Ok(ApiError::new("done_is_found_out", text, format!("swarm task show {task}")))
    }

    /// An operation with steps is followed for a while: most end at once.
    pub(super) async fn followed(&self, answer: Answer) -> Result<Told, ApiError> {
        let ends = Instant::now() + FOLLOW_FOR;
        let (_, mut facts) = answered(&answer);
        loop {
            let look = Look::Operation(answer.id.clone());
            let Ok(seen) = self.source.look(look, None).await else { return Ok((answer.text, facts)) };
            let operation = seen.view;
            let text = operation["text"].as_str().unwrap_or(&answer.text).to_owned();
            let state = operation["state"].as_str().unwrap_or_default().to_owned();
            if state == "failed" {
                let hint = operation["hint"].as_str().unwrap_or("swarm op log").to_owned();
                return Err(ApiError::new("operation_failed", text, hint));
            }
            if state != "under_way" || Instant::now() >= ends {
                for name in ["state", "step", "checkpoint"] {
                    if !operation[name].is_null() {
                        facts.insert(name.into(), operation[name].clone());
                    }
                }
                facts.insert("seq".into(), json!(seen.seq));
                return Ok((text, facts));
            }
            tokio::time::sleep(LOOK_AGAIN / 2).await;
        }
    }
}

fn answered(answer: &Answer) -> Told {
    let facts = members(json!({ "id": answer.id, "seq": answer.seq, "repeated": answer.repeated }));
    (answer.text.clone(), facts)
}

/// Commands that are answered when they are recorded and carried out step by step.
fn has_steps(command: &Command) -> bool {
    use Command::{Abort, MakeCheckpoint, Redo, Rollback, RollbackTask, Undo};
    matches!(
        command,
        Rollback { .. }
            | RollbackTask { .. }
            | Abort { .. }
            | Undo { .. }
            | Redo { .. }
            | MakeCheckpoint { .. }
    )
}

/// What is to be given back to show that this very preview was seen.
fn expected(preview: &PreviewView) -> String {
    if let Some(expect) = &preview.expect {
        return expect.clone();
    }
    // Where git does not move, the core compares nothing: then it is all that was shown.
    let shown = json!({ "facts": preview.facts, "says": preview.says.tasks, "stops": preview.stops });
    let hash = Sha256::digest(shown.to_string());
    hash.iter().take(8).map(|byte| format!("{byte:02x}")).collect()
}

pub(super) fn sentence(preview: &PreviewView) -> String {
    if preview.nothing {
        return "Nothing would change".into();
    }
    let says = &preview.says;
    let parts = [&says.tasks, &says.commits, &says.work, &says.foreign, &says.stays];
    let lines: Vec<&str> = parts.into_iter().flatten().map(String::as_str).take(6).collect();
    let stops = match preview.stops.len() {
        0 => String::new(),
        1 => "1 run would stop. ".into(),
        count => format!("{count} runs would stop. "),
    };
    let text = if lines.is_empty() { preview.text.clone() } else { lines.join("; ") };
    format!("{stops}{text}")
}

fn submitted(reviews: &Value, task: &TaskId) -> Result<Oid, ApiError> {
    let of_task = |review: &&Value| review["task"] == task.as_str();
    let review = reviews.as_array().into_iter().flatten().find(of_task);
    let tip = review.and_then(|review| serde_json::from_value(review["submitted"].clone()).ok());
    tip.ok_or_else(|| {
        let text = format!("Task {task} has no work that waits for a review");
        ApiError::new("not_in_review", text, format!("swarm task show {task}"))
    })
}

/// The phase that a new task goes to, and its next number there. Numbers in gaps are not taken again: somebody may
/// still speak of the task that had it.
fn free_place(rows: &Value, phase: Option<u32>, after: Option<&TaskId>) -> Result<(u32, TaskId), ApiError> {
    let rows = rows.as_array().map(Vec::as_slice).unwrap_or_default();
    let phase_of = |row: &Value| row["phase"].as_u64().and_then(|phase| u32::try_from(phase).ok());
    let beside = after.and_then(|id| rows.iter().find(|row| row["id"] == id.as_str()).and_then(phase_of));
    let phase = phase.or(beside).or_else(|| rows.iter().filter_map(phase_of).max()).unwrap_or(1);
    let prefix = format!("{phase}.");
    let number = |row: &Value| row["id"].as_str()?.strip_prefix(&prefix)?.parse::<u64>().ok();
    let next = rows.iter().filter_map(number).max().unwrap_or(0).saturating_add(1);
    let id = TaskId::new(format!("{phase}.{next}"));
    id.map(|id| (phase, id)).map_err(|error| ApiError::new("bug", error.to_string(), "swarm doctor"))
}
