//! `swarm config show`.

use crate::context::Context;
use crate::error::CliError;
use crate::output::table::table;
use crate::swarm::Swarm;

/// Show every setting, its value and its source
///
/// Flags override the environment, the environment overrides `.swarm/config.json`, and the file overrides the default.
#[derive(Debug, clap::Args)]
pub struct Args {}

pub fn run(_args: Args, cx: &Context) -> Result<(), CliError> {
    let settings = Swarm::open(cx)?.settings()?;
    cx.out.view(&settings, |settings| {
        let rows = settings.iter().map(|s| vec![s.key.clone(), s.value.to_string(), s.source.to_string()]);
        table(&["key", "value", "from"], rows)
    })
}
