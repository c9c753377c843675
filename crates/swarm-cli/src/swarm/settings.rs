//! The configuration in force, and where each value comes from.

pub use swarm_engine::settings::environment;
use swarm_engine::settings::{self, Setting, Settings, SettingsError, Source};
use swarm_tui::keys::{Keymap, Wrong, with_own};

use super::Swarm;
use crate::error::CliError;

impl Swarm {
    /// The configuration as it holds for this command.
    pub(super) fn configuration(&self) -> Result<Settings, CliError> {
        let settings = settings::load(&self.paths.config, &environment(), &[])?;
        self.keymap(&settings)?;
        Ok(settings)
    }

    /// How the screen is to be: whether the mouse is for it, and its keys.
    pub fn of_screen(&self) -> Result<(bool, Keymap), CliError> {
        let settings = settings::load(&self.paths.config, &environment(), &[])?;
        Ok((settings.config.tui.mouse, self.keymap(&settings)?))
    }

    fn keymap(&self, settings: &Settings) -> Result<Keymap, CliError> {
        let refused = |wrong: Wrong| {
            let key = format!("tui.keys.{}", wrong.name);
            let place = match settings.sources.get(&key) {
                Some(Source::File { line }) => format!("{}:{line}", self.paths.config.display()),
                _ => key.clone(),
            };
            SettingsError { place, why: format!("{key}: {}", wrong.why), hint: wrong.hint }
        };
        Ok(with_own(&settings.config.tui.keys).map_err(refused)?)
    }

    /// Every key with its value.
    pub fn settings(&self) -> Result<Vec<Setting>, CliError> {
        Ok(self.configuration()?.listed())
    }
}
