//! `swarm plan salvage`.

use crate::commands::answered;
use crate::context::Context;
use crate::error::CliError;
use crate::output::table::table;
use crate::swarm::Swarm;
use crate::swarm::salvage::Lost;

/// Recover records after damage to the ledger
///
/// Records in the quarantine files are applied again under the current rules. Then the loss counts as seen, the warning disappears,
/// and the ledger can be written again. Nothing is ever deleted.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Only list the quarantined records
    #[arg(long)]
    pub dry_run: bool,
}

pub fn run(args: Args, cx: &Context) -> Result<(), CliError> {
    let swarm = Swarm::open(cx)?;
    if args.dry_run {
        return cx.out.view(&swarm.lost()?, |lost| text(lost));
    }
    answered(cx, &swarm.salvage()?)
}

fn text(lost: &[Lost]) -> String {
    if lost.is_empty() {
        return "No lost records in quarantine".into();
    }
    let cells = |record: &Lost| {
        let then = record.why_not.clone().unwrap_or_else(|| "can be brought back".into());
        vec![record.seq.to_string(), record.what.clone(), then, record.file.clone()]
    };
    table(&["seq", "what", "then", "file"], lost.iter().map(cells))
}
