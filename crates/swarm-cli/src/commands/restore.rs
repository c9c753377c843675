//! `swarm restore`.

use swarm_engine::by_hand::{listed, saved_view};
use swarm_protocol::deed::SavedView;
use swarm_work::restore::Saved;

use crate::commands::operate::{DryRun, shown_lines};
use crate::context::Context;
use crate::error::CliError;
use crate::output::table::table;
use crate::output::{self, time};
use crate::swarm::Swarm;

/// Restore saved work: branches, unfinished work, removed worktrees, local changes
///
/// Without a name, or with --list, lists the saved work that trunk does not have, with its commits and files; --all lists every copy.
/// For a task the newest entry with work in it is restored, on a new branch and in a folder below .swarm/restored. Existing files are never
/// changed.
///
/// Examples: swarm restore, swarm restore 1.2, swarm restore refs/swarm/wip/1.2/r7
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Task, or a name from the list
    #[arg(value_name = "TASK|NAME", conflicts_with = "list")]
    pub name: Option<String>,
    /// List saved work
    #[arg(long)]
    pub list: bool,
    /// List every saved copy, also those without work of their own
    #[arg(long, conflicts_with = "name")]
    pub all: bool,
    #[command(flatten)]
    pub dry: DryRun,
}

pub fn run(args: Args, cx: &Context) -> Result<(), CliError> {
    let swarm = Swarm::open(cx)?;
    let all = swarm.saved_work()?;
    let Some(name) = args.name else { return list(&swarm, cx, &all, args.all) };
    let saved = chosen(&swarm, &all, &name)?;
    if args.dry.dry_run {
        let place = swarm.would_restore(saved)?;
        let on = place.branch.map(|branch| format!(" on {branch}")).unwrap_or_default();
        let line = format!("{} comes back in {}{on}", place.name, place.path);
        return shown_lines(cx, "restore", &[line]);
    }
    let view = swarm.restore_work(saved)?;
    cx.out.view(&view, |view| match &view.branch {
        Some(branch) => output::harmless(&format!("{} is back in {} on {branch}", view.name, view.path)),
        None => output::harmless(&format!("{} is back in {}", view.name, view.path)),
    })
}

/// By its name, or of a task that which has its work; what else there is of it is said.
fn chosen<'a>(swarm: &Swarm, all: &'a [Saved], name: &str) -> Result<&'a Saved, CliError> {
    let best = swarm.chosen_work(all, name)?;
    if best.name != name {
        let more = all.iter().filter(|one| one.task == name).count().saturating_sub(1);
        if more > 0 {
            output::note(&format!(
                "Note: {more} more of {name} can be restored by name. Run `swarm restore`"
            ));
        }
        if !best.has_work() {
            output::note(&format!("Note: all saved work of {name} is already on trunk"));
        }
    }
    Ok(best)
}

fn list(swarm: &Swarm, cx: &Context, all: &[Saved], every: bool) -> Result<(), CliError> {
    let chosen = listed(all, every);
    let hidden = all.len() - chosen.len();
    let lines: Vec<SavedView> = chosen.into_iter().map(|one| saved_view(one, swarm.now())).collect();
    cx.out.view(&lines, |lines| text(lines))?;
    if hidden > 0 {
        let copies =
            if hidden == 1 { "1 more copy contains" } else { &format!("{hidden} more copies contain") };
        output::note(&format!("Note: {copies} only work that is listed or on trunk: `swarm restore --all`"));
    }
    Ok(())
}

fn text(lines: &[SavedView]) -> String {
    if lines.is_empty() {
        return "No saved work that is not already on trunk".into();
    }
    let cells = |line: &SavedView| {
        let count = |count: Option<usize>| count.map_or(String::new(), |count| count.to_string());
        let (commits, files) = (count(line.commits), count(line.files));
        let (task, what, age) = (line.task.clone(), line.what.clone(), time::length(line.age_secs));
        vec![task, what, age, commits, files, line.name.clone()]
    };
    table(&["task", "what", "age", "commits", "files", "name"], lines.iter().map(cells))
}
