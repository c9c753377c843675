//! `swarm plan show`.

use swarm_protocol::plan::PlanFile;
use swarm_protocol::planfile;

use crate::context::{At, Context};
use crate::error::CliError;
use crate::output::harmless_lines;
use crate::swarm::Swarm;

/// Show the plan
///
/// A Markdown checklist, or with `--json` the form that `swarm plan save` reads.
#[derive(Debug, clap::Args)]
pub struct Args {
    #[command(flatten)]
    pub at: At,
}

pub fn run(args: Args, cx: &Context) -> Result<(), CliError> {
    let plan = Swarm::open(cx)?.plan_file(args.at.at)?;
    cx.out.document(&plan, |plan: &PlanFile| harmless_lines(&planfile::to_markdown(plan)))
}
