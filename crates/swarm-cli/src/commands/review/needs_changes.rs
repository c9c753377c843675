//! `swarm review needs-changes TASK`.

use swarm_protocol::command::Command;
use swarm_protocol::review::{ReviewNote, Verdict};

use super::say_who_goes_on;
use crate::commands::operate::{DryRun, intervene};
use crate::commands::task::TaskArg;
use crate::context::Context;
use crate::error::CliError;
use crate::swarm::Swarm;

/// Send submitted work back with notes
///
/// A fresh attempt in the same worktree gets the notes. After `review.rounds` rounds the task is blocked instead.
///
/// Example: swarm review needs-changes 1.2 'handle empty input' --note src/parse.rs:40 'this panics'
#[derive(Debug, clap::Args)]
#[command(override_usage = "swarm review needs-changes [OPTIONS] <TASK> [WHAT] [--note <PLACE> <TEXT>]...")]
pub struct Args {
    #[command(flatten)]
    pub task: TaskArg,
    /// What has to change
    #[arg(value_name = "WHAT")]
    pub what: Option<String>,
    /// A note about a place: FILE or FILE:LINE, and what has to change there; may be given several times
    #[arg(long, num_args = 2, value_names = ["PLACE", "TEXT"], action = clap::ArgAction::Append)]
    pub note: Vec<String>,
    #[command(flatten)]
    pub dry: DryRun,
}

pub fn run(args: Args, cx: &Context) -> Result<(), CliError> {
    let general = args.what.map(|text| ReviewNote { text, ..ReviewNote::default() });
    let placed = args.note.chunks_exact(2).map(|pair| at_place(&pair[0], &pair[1]));
    let notes: Vec<ReviewNote> = general.into_iter().chain(placed).collect();
    let command = Command::Review { task: args.task.id, verdict: Verdict::NeedsChanges { notes } };
    let swarm = Swarm::open(cx)?;
    intervene(cx, &swarm, command, args.dry)?;
    say_who_goes_on(&swarm, args.dry);
    Ok(())
}

fn at_place(place: &str, text: &str) -> ReviewNote {
    let numbered = place.rsplit_once(':').and_then(|(file, line)| Some((file, line.parse().ok()?)));
    let (file, line) = numbered.map_or((place, None), |(file, line)| (file, Some(line)));
    ReviewNote { file: Some(file.to_owned()), line, text: text.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_is_a_file_with_or_without_a_line() {
        let told = |place| at_place(place, "why").to_string();
        assert_eq!(told("src/a.rs:12"), "src/a.rs:12: why");
        assert_eq!(told("src/a.rs"), "src/a.rs: why");
        assert_eq!(told("odd:name"), "odd:name: why");
    }
}
