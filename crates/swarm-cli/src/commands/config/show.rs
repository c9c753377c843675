//! `swarm config show`.

use crate::context::Context;
use crate::error::CliError;
use crate::output::table::table;
use crate::swarm::Swarm;

/// Show every setting, its value and its source
///
/// Flags override the environment, the environment overrides `.swarm/config.json`, and the file overrides the default.
/// A long value is cut; `--json` has all of it.
#[derive(Debug, clap::Args)]
pub struct Args {}

/// What of a value stands in the table: a list of paths would push its source out of every screen.
const VALUE_MAX: usize = 60;

pub fn run(_args: Args, cx: &Context) -> Result<(), CliError> {
    let settings = Swarm::open(cx)?.settings()?;
    cx.out.view(&settings, |settings| {
        let rows =
            settings.iter().map(|s| vec![s.key.clone(), cut(&s.value.to_string()), s.source.to_string()]);
        table(&["key", "value", "from"], rows)
    })
}

fn cut(value: &str) -> String {
    match value.char_indices().nth(VALUE_MAX) {
        Some((at, _)) => format!("{}…", &value[..at]),
        None => value.to_owned(),
    }
}
