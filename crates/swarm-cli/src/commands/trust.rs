//! `swarm trust`: agree to what came with the repository.

use serde::Serialize;
use swarm_engine::trust::Steering;
use swarm_protocol::oplog::PreviewView;

use crate::commands::operate::{Confirm, agreed, unconfirmed};
use crate::context::Context;
use crate::error::CliError;
use crate::output::harmless;
use crate::swarm::Swarm;

/// Lines that may stand above a question: a terminal scrolls back so far, and what was not to be seen is not agreed to.
const LINES_ASKED: usize = 500;

/// Agree to configuration, hooks and prompts that came with the repository
///
/// `.swarm/config.json`, `.swarm/hooks` and `.swarm/prompts` decide which programs run outside the sandbox. If git tracks
/// them, they may have come with a clone, a pull or a merge: `swarm run` does not use them before a person has agreed to
/// exactly that content. Files that git does not track are your own and need no agreement. The answer is stored outside the
/// repository. If there are more than 500 lines, read them with `--dry-run`, then agree with `--yes`.
///
/// Example: swarm trust --dry-run
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Forget everything that was agreed to in this repository
    #[arg(long)]
    forget: bool,
    #[command(flatten)]
    sure: Confirm,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct View {
    files: Vec<FileView>,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct FileView {
    path: String,
    tracked: bool,
    agreed: bool,
}

pub fn run(args: &Args, cx: &Context) -> Result<(), CliError> {
    let swarm = Swarm::open(cx)?;
    if args.forget {
        let seen = PreviewView::of_lines("trust", &["what was agreed to here is forgotten".into()]);
        if agreed(cx, &seen, args.sure)? {
            swarm.agree_to_nothing()?;
            return told(cx, &swarm, "Forgotten; `swarm run` asks again");
        }
        return Ok(());
    }
    let mut unknown = swarm.steering()?;
    unknown.retain(|file| file.tracked && !file.agreed);
    if unknown.is_empty() {
        return told(cx, &swarm, "Nothing needs your agreement");
    }
    if let Some(file) = unknown.iter().find(|file| file.digest.is_none()) {
        let path = file.path.display();
        return Err(CliError::environment(format!("Cannot agree to {path}"))
            .because("it is not a file that can be read, or it is larger than 1 MiB")
            .say(format!("Look at {path}, and remove it")));
    }
    let lines: Vec<String> = unknown.iter().flat_map(|file| shown(&swarm, file)).collect();
    if lines.len() > LINES_ASKED && !args.sure.yes && !args.sure.dry_run {
        return Err(unconfirmed(&format!("{} lines are too many for a question", lines.len()))
            .say("Read them with `swarm trust --dry-run | less`, then agree with `swarm trust --yes`"));
    }
    if !agreed(cx, &PreviewView::of_lines("trust: these decide what runs", &lines), args.sure)? {
        return Ok(());
    }
    swarm.agree_to(&unknown)?;
    told(cx, &swarm, "Agreed; you are asked again if one of them changes")
}

fn shown(swarm: &Swarm, file: &Steering) -> Vec<String> {
    let text = swarm.lines_of(&file.path).into_iter().map(|line| format!("  {}", harmless(&line)));
    std::iter::once(format!("{}:", file.path.display())).chain(text).collect()
}

fn told(cx: &Context, swarm: &Swarm, words: &str) -> Result<(), CliError> {
    let view = |file: Steering| FileView {
        path: file.path.display().to_string(),
        tracked: file.tracked,
        agreed: file.agreed || !file.tracked,
    };
    let files = swarm.steering()?.into_iter().map(view).collect();
    cx.out.view(&View { files }, |_| words.to_owned())
}
