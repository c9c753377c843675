//! The configuration in force, and where each value comes from.

use std::collections::BTreeMap;

use serde::Serialize;
use swarm_engine::settings::{self, Settings, SettingsError, Source};
use swarm_tui::keys::{Keymap, Wrong, with_own};

use super::Swarm;
use crate::error::CliError;

/// One setting.
#[derive(Debug, Serialize)]
pub struct Setting {
    pub key: String,
    pub value: serde_json::Value,
    #[serde(flatten)]
    pub source: Source,
}

/// The variables that may set a key.
pub fn environment() -> BTreeMap<String, String> {
    std::env::vars_os()
        .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)))
        .filter(|(name, _)| name.starts_with("SWARM_"))
        .collect()
}

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
        let Settings { config, sources } = self.configuration()?;
        let whole = serde_json::to_value(&config).expect("a configuration is plain data");
        let value_of = |key: &str| key.split('.').try_fold(&whole, |value, part| value.get(part)).cloned();
        let setting = |(key, source): (String, Source)| {
            let value = value_of(&key).unwrap_or_default();
            Setting { key, value, source }
        };
        Ok(sources.into_iter().map(setting).collect())
    }
}
