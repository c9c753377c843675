//! `swarm restore`.

use serde::Serialize;
use swarm_engine::hands::restore::Saved;

use crate::cli::Context;
use crate::error::CliError;
use crate::output::table::table;
use crate::output::{self, time};
use crate::swarm::Swarm;

/// Bring back work that was saved: branches, unfinished work, removed worktrees
///
/// Without a name, or with --list, shows what there is. What is brought back gets a branch of its own and a
/// folder below .swarm/restored; nothing that is there is changed.
///
/// Examples: swarm restore, swarm restore 1.2, swarm restore refs/swarm/wip/1.2/r7
#[derive(Debug, clap::Args)]
pub struct Args {
    /// A task (its newest), or a name from the list
    #[arg(value_name = "TASK|NAME", conflicts_with = "list")]
    pub name: Option<String>,
    /// Show what there is
    #[arg(long)]
    pub list: bool,
}

#[derive(Debug, Serialize)]
struct Line {
    name: String,
    task: String,
    what: &'static str,
    age_secs: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    files: Option<usize>,
    subject: String,
}

#[derive(Debug, Serialize)]
struct Back {
    name: String,
    path: String,
    branch: Option<String>,
}

pub fn run(args: Args, cx: &Context) -> Result<(), CliError> {
    let swarm = Swarm::open(cx)?;
    let all = swarm.saved_work()?;
    let Some(name) = args.name else { return list(&swarm, cx, &all) };
    let saved = chosen(&all, &name)?;
    let back = swarm.restore_work(saved)?;
    let view = Back { name: saved.name.clone(), path: swarm.relative(&back.path), branch: back.branch };
    cx.out.view(&view, |view| match &view.branch {
        Some(branch) => output::harmless(&format!("{} is back in {} on {branch}", view.name, view.path)),
        None => output::harmless(&format!("{} is back in {}", view.name, view.path)),
    })
}

/// By its name, or the newest of a task.
fn chosen<'a>(all: &'a [Saved], name: &str) -> Result<&'a Saved, CliError> {
    if let Some(one) = all.iter().find(|one| one.name == name) {
        return Ok(one);
    }
    let of_task: Vec<&Saved> = all.iter().filter(|one| one.task == name).collect();
    match of_task.first() {
        Some(newest) => {
            if of_task.len() > 1 {
                let more = of_task.len() - 1;
                output::note(&format!(
                    "Note: {more} more of {name} can be restored by name. Run `swarm restore`"
                ));
            }
            Ok(newest)
        }
        None => {
            Err(CliError::environment(format!("Nothing named {name} was saved")).run_instead("swarm restore"))
        }
    }
}

fn list(swarm: &Swarm, cx: &Context, all: &[Saved]) -> Result<(), CliError> {
    let now_secs = i64::try_from(swarm.now().0 / 1000).unwrap_or(i64::MAX);
    let line = |one: &Saved| Line {
        name: one.name.clone(),
        task: one.task.clone(),
        what: one.shelf.word(),
        age_secs: u64::try_from(now_secs.saturating_sub(one.at_secs)).unwrap_or(0),
        files: one.files,
        subject: one.subject.clone(),
    };
    let lines: Vec<Line> = all.iter().map(line).collect();
    cx.out.view(&lines, |lines| text(lines))
}

fn text(lines: &[Line]) -> String {
    if lines.is_empty() {
        return "Nothing was saved".into();
    }
    let cells = |line: &Line| {
        let files = line.files.map_or(String::new(), |count| count.to_string());
        vec![line.task.clone(), line.what.to_owned(), time::length(line.age_secs), files, line.name.clone()]
    };
    table(&["task", "what", "age", "files", "name"], lines.iter().map(cells))
}
