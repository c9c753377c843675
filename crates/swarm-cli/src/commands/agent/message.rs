//! `swarm agent message WHO TEXT…`.

use std::io::Read;
use std::time::Duration;

use serde::Serialize;
use swarm_protocol::command::{Answer, Command};
use swarm_protocol::ids::TaskId;
use swarm_protocol::view::MessageView;

use crate::commands::operate::{DryRun, shown};
use crate::context::Context;
use crate::error::CliError;
use crate::output::harmless;
use crate::swarm::Swarm;

/// Bytes that are read from stdin; what is longer than the swarm takes is refused by it.
const TEXT_MAX: u64 = 64 * 1024;

/// Send a message to an agent
///
/// The message is part of the prompt of the next iteration and counts as delivered when that iteration has ended. Without an
/// agent at work it waits for the next attempt. If the agent of a task has asked a question, the message is the answer, and
/// the task continues. `swarm task show` lists all messages of a task and their state.
///
/// Example: swarm agent message 1.2 Use the parser in src/lib.rs instead of a new one
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Task (1.2), agent (ed-001) or run (r17)
    #[arg(value_name = "WHO")]
    pub who: String,
    /// Text of the message; - reads stdin
    #[arg(value_name = "TEXT", required = true, num_args = 1..)]
    pub text: Vec<String>,
    /// Wait until the message is delivered
    #[arg(long)]
    pub wait: bool,
    /// Maximum time to wait
    #[arg(long, value_name = "SECONDS", default_value = "3600", requires = "wait", value_parser = clap::value_parser!(u64).range(1..=604_800))]
    pub timeout: u64,
    #[command(flatten)]
    pub dry: DryRun,
}

/// The answer, and how far the message has come.
#[derive(Debug, Serialize)]
struct Sent {
    #[serde(flatten)]
    answer: Answer,
    task: TaskId,
    #[serde(skip_serializing_if = "Option::is_none")]
    delivery: Option<MessageView>,
}

pub fn run(args: Args, cx: &Context) -> Result<(), CliError> {
    let text = text_of(args.text)?;
    let swarm = Swarm::open(cx)?;
    let task = swarm.task_of(&args.who)?;
    let command = Command::MessageAgent { task: task.clone(), text };
    if args.dry.dry_run {
        return shown(cx, &swarm.preview(&command)?);
    }
    let watch = swarm.watch_ledger();
    let answer = swarm.ask(command)?;
    let mut delivery = swarm.message(&task, &answer.id)?;
    if args.wait {
        let limit = Duration::from_secs(args.timeout);
        // Where nobody works on it any more, nothing will be delivered.
        watch.until(limit, || {
            delivery = swarm.message(&task, &answer.id).ok().flatten();
            delivery.as_ref().is_some_and(is_landed) || !swarm.may_deliver(&task)
        });
        if !delivery.as_ref().is_some_and(is_landed) {
            return Err(not_delivered(&swarm, &task, args.timeout));
        }
    }
    let waits = !delivery.as_ref().is_some_and(is_landed);
    cx.out.view(&Sent { answer, task, delivery }, describe)?;
    if waits {
        swarm.note_that_nothing_goes_on(&swarm.presence());
    }
    Ok(())
}

/// It stays queued; the reason why nobody waits for it any more.
fn not_delivered(swarm: &Swarm, task: &TaskId, secs: u64) -> CliError {
    let shown = format!("swarm task show {task}");
    if !swarm.is_coordinated() {
        return CliError::no_coordinator("The message is queued; no swarm is running to deliver it")
            .run_instead("swarm run");
    }
    match swarm.may_deliver(task) {
        true => CliError::refused_now(format!("The message is queued and was not delivered within {secs} s")),
        false => CliError::refused_now(format!("The message came too late: task {task} is closed")),
    }
    .run_instead(shown)
}

fn is_landed(message: &MessageView) -> bool {
    message.landed.is_some()
}

fn describe(sent: &Sent) -> String {
    match sent.delivery.as_ref().and_then(|message| message.landed.as_ref()) {
        Some(landed) => {
            format!("Delivered to task {} in iteration {} of {}", sent.task, landed.iteration, landed.run)
        }
        None => harmless(&sent.answer.text),
    }
}

fn text_of(words: Vec<String>) -> Result<String, CliError> {
    if words != ["-"] {
        return Ok(words.join(" "));
    }
    let mut text = String::new();
    let read = std::io::stdin().lock().take(TEXT_MAX + 1).read_to_string(&mut text);
    read.map_err(|error| CliError::environment("Cannot read the message from stdin").because(error))?;
    Ok(text.trim_end().to_owned())
}
