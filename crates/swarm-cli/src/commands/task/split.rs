//! `swarm task split TASK [FILE]`.

use std::path::{Path, PathBuf};

use serde::Serialize;
use swarm_protocol::command::Command;
use swarm_protocol::failure::Usage;
use swarm_protocol::ids::TaskId;
use swarm_protocol::plan::{TaskFile, TaskSpec};

use super::TaskArg;
use crate::commands::answered;
use crate::commands::operate::{Confirm, DryRun, intervene};
use crate::commands::plan::make;
use crate::context::Context;
use crate::error::CliError;
use crate::output;
use crate::swarm::Swarm;
use crate::swarm::plan_file;

/// Split a task into parts
///
/// Parts run one after the other unless they name dependencies; the first one starts from the work done so far. The task is done when
/// all its parts are and its checks pass on trunk; tasks that depend on it wait for that. A part may be split once more.
///
/// Without FILE the planning agent proposes the parts, and you approve them. FILE is a list of tasks as in a plan: a Markdown
/// checklist, or JSON (a list of tasks, or a whole plan). A part without an id gets one: 1.2 is split into 1.2-1, 1.2-2 and
/// so on.
///
/// Example: printf '%s\n' '- [ ] Read the old format' '- [ ] Write the new one' | swarm task split 1.2 -
#[derive(Debug, clap::Args)]
pub struct Args {
    #[command(flatten)]
    pub task: TaskArg,
    /// File with the parts (JSON, or a Markdown checklist; - for stdin); without it an agent proposes them
    #[arg(value_name = "FILE")]
    pub file: Option<PathBuf>,
    /// How the agent should split it
    #[arg(long, value_name = "TEXT", conflicts_with = "file")]
    pub wish: Option<String>,
    /// Profile or agent program that proposes the parts (default: `plan.profile`, else `agent` in the configuration)
    #[arg(long, value_name = "PROFILE", conflicts_with = "file")]
    pub agent: Option<String>,
    #[command(flatten)]
    pub sure: Confirm,
}

/// What is shown for approval, and what became of it.
#[derive(Debug, Serialize)]
struct PartsView<'a> {
    task: &'a TaskId,
    parts: &'a [TaskSpec],
    draft: String,
    usage: Usage,
    approved: bool,
}

pub fn run(args: Args, cx: &Context) -> Result<(), CliError> {
    match &args.file {
        Some(file) => by_file(&args.task.id, file, args.sure.dry_run, cx),
        None => by_agent(&args, cx),
    }
}

fn by_file(id: &TaskId, file: &Path, dry_run: bool, cx: &Context) -> Result<(), CliError> {
    let command = Command::SplitTask { task: id.clone(), parts: plan_file::parts(file, id)?, planning: None };
    intervene(cx, &Swarm::open(cx)?, command, DryRun { dry_run })
        .map_err(|error| plan_file::put_right(error, &format!("swarm task split {id}"), file))
}

fn by_agent(args: &Args, cx: &Context) -> Result<(), CliError> {
    let (swarm, id) = (Swarm::open(cx)?, &args.task.id);
    if args.sure.dry_run {
        swarm.may_split(id)?;
        let file = format!(".swarm/split-{id}.json");
        return make::would_ask(cx, "task split", &swarm.planner(args.agent.as_deref())?, &file);
    }
    let wish = args.wish.as_deref().unwrap_or_default();
    let draft = swarm.propose_parts(id, wish, args.agent.as_deref())?;
    let file = swarm.relative(&draft.file);
    let pasted = swarm.pasted(&draft.file);
    let ways =
        format!("Kept in {file}: `swarm task split {id} {pasted}` takes it as it is, or as you edit it");
    if !cx.out.json {
        let parts: Vec<TaskFile> = draft.parts.iter().cloned().map(TaskFile::from).collect();
        cx.out.prose(&format!("{}\n{}", make::tasks(parts.iter()), make::spent(&draft.usage)))?;
    }
    let question = format!("\nSplit task {id} into these parts?");
    // As JSON nobody is asked: it stays the draft that was asked for.
    let wanted = args.sure.yes || (!cx.out.json && make::asked(cx, &question, &ways)?);
    if cx.out.json && !wanted {
        output::note(&ways);
    }
    let answer = wanted.then(|| swarm.take_parts(id, &draft)).transpose()?;
    match answer {
        _ if cx.out.json => cx.out.json_value(&PartsView {
            task: id,
            parts: &draft.parts,
            draft: file,
            usage: draft.usage,
            approved: wanted,
        }),
        Some(answer) => answered(cx, &answer),
        None => cx.out.prose(&ways),
    }
}
