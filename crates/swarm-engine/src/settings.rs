//! The configuration as it holds now: flag over environment over file over default, each value with
//! where it comes from. A key nobody knows and a value that cannot be are refused with their line:
//! a setting that silently does nothing is worse than none.

mod elsewhere;
mod keys;
mod lines;

use std::collections::BTreeMap;
use std::fmt;
use std::path::{Path, PathBuf};

use serde_json::Value;
use swarm_protocol::config::Config;

use keys::Keys;
pub use keys::env_name;

/// A configuration file is at most so large.
pub const FILE_BYTES_MAX: u64 = 1 << 20;
/// What a hook and the program of an attempt are told in a variable that has the name of a key's, each behind what says
/// that the environment is theirs: who works on the task, and the program's session of the last iteration.
const GIVEN: [(&str, &str); 2] = [("SWARM_HOOK", "SWARM_AGENT"), ("SWARM_RUN", "SWARM_SESSION")];

/// The configuration and where each of its values comes from, by dotted key.
#[derive(Debug, Clone, PartialEq)]
pub struct Settings {
    pub config: Config,
    pub sources: BTreeMap<String, Source>,
}

/// One setting.
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct Setting {
    pub key: String,
    pub value: Value,
    #[serde(flatten)]
    pub source: Source,
}

impl Settings {
    /// Every key with its value and where that comes from.
    pub fn listed(self) -> Vec<Setting> {
        let whole = serde_json::to_value(&self.config).unwrap_or_default();
        let value_of = |key: &str| key.split('.').try_fold(&whole, |value, part| value.get(part)).cloned();
        let setting = |(key, source): (String, Source)| {
            let value = value_of(&key).unwrap_or_default();
            Setting { key, value, source }
        };
        self.sources.into_iter().map(setting).collect()
    }
}

/// The variables of this process that may set a key.
pub fn environment() -> BTreeMap<String, String> {
    std::env::vars_os()
        .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)))
        .filter(|(name, _)| name.starts_with("SWARM_"))
        .collect()
}

#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
#[serde(tag = "from", rename_all = "snake_case")]
pub enum Source {
    Default,
    File { line: usize },
    Environment { name: String },
    Flag { name: String },
}

impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Default => f.write_str("default"),
            Self::File { line } => write!(f, "config.json line {line}"),
            Self::Environment { name } => write!(f, "environment {name}"),
            Self::Flag { name } => write!(f, "flag {name}"),
        }
    }
}

/// A value given on the command line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Flag {
    /// `--agent`
    pub name: String,
    /// `agent`
    pub key: String,
    pub value: String,
}

/// A configuration that cannot be used; nothing was started.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SettingsError {
    /// The file and line, the variable or the flag.
    pub place: String,
    pub why: String,
    pub hint: String,
}

impl fmt::Display for SettingsError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Cannot use the configuration at {}: {}", self.place, self.why)
    }
}

impl std::error::Error for SettingsError {}

/// Loads the configuration. A missing file is fine: everything has a default.
pub fn load(
    file: &Path,
    environment: &BTreeMap<String, String>,
    flags: &[Flag],
) -> Result<Settings, SettingsError> {
    let text = read(file)?;
    let mut loader = Loader::new(file);
    loader.take_file(&text)?;
    loader.take_environment(environment)?;
    loader.take_flags(flags)?;
    loader.finish()
}

/// The configuration that a file with this text would be, whatever the environment says.
pub fn of_text(text: &str) -> Result<Settings, SettingsError> {
    let mut loader = Loader::new(Path::new("config.json"));
    loader.take_file(text)?;
    loader.finish()
}

fn read(file: &Path) -> Result<String, SettingsError> {
    let fail = |why: String, hint: &str| {
        Err(SettingsError { place: file.display().to_string(), why, hint: hint.into() })
    };
    match std::fs::metadata(file) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(String::new()),
        Err(error) => return fail(format!("it cannot be read: {error}"), &hint_of(file, &error)),
        Ok(meta) if meta.len() > FILE_BYTES_MAX => {
            return fail(format!("it has {} bytes, at most {FILE_BYTES_MAX} are read", meta.len()), "");
        }
        Ok(_) => {}
    }
    match std::fs::read(file).map(String::from_utf8) {
        Ok(Ok(text)) => Ok(text),
        Ok(Err(_)) => fail("it is not UTF-8 text".into(), "Save the file as UTF-8"),
        Err(error) => fail(format!("it cannot be read: {error}"), &hint_of(file, &error)),
    }
}

fn hint_of(file: &Path, error: &std::io::Error) -> String {
    match error.kind() {
        std::io::ErrorKind::PermissionDenied => crate::store::access_hint(file),
        _ => String::new(),
    }
}

struct Loader {
    file: PathBuf,
    keys: Keys,
    /// What has been set so far, as the file would say it.
    value: Value,
    sources: BTreeMap<String, Source>,
}

impl Loader {
    fn new(file: &Path) -> Self {
        Self {
            file: file.to_path_buf(),
            keys: Keys::new(),
            value: Value::Object(Default::default()),
            sources: BTreeMap::new(),
        }
    }

    fn take_file(&mut self, text: &str) -> Result<(), SettingsError> {
        if text.trim().is_empty() {
            return Ok(());
        }
        let entries = lines::keys_with_lines(text).map_err(|(line, why)| self.at_line(line, why, ""))?;
        let value: Value = json5::from_str(text).map_err(|error| {
            let line = error.position().map_or(1, |position| position.line + 1);
            self.at_line(line, error.to_string(), "Check commas, quotes and brackets before this place")
        })?;
        if !value.is_object() {
            return Err(self.at_line(1, "it is not an object".into(), "Begin with { and end with }"));
        }
        for lines::Entry { path, line, twice } in entries {
            let key = path.join(".");
            if let Some(first) = twice {
                return Err(self.at_line(
                    line,
                    format!("{key} is set twice, first at line {first}"),
                    "Keep one of them",
                ));
            }
            if !self.keys.knows(&key) {
                let (why, hint) = self.keys.unknown(&key);
                return Err(self.at_line(line, why, &hint));
            }
            if self.keys.is_inside(&key) {
                continue;
            }
            let found = path.iter().try_fold(&value, |value, part| value.get(part));
            let Some(found) = found else {
                let why = format!("{key} is written with an escape");
                return Err(self.at_line(line, why, "Write each of its letters as it is"));
            };
            if self.keys.is_group(&key) && found.is_object() {
                continue;
            }
            self.set(&key, found.clone(), Source::File { line })?;
        }
        Ok(())
    }

    fn take_environment(&mut self, environment: &BTreeMap<String, String>) -> Result<(), SettingsError> {
        let is_given =
            |name: &str| GIVEN.iter().any(|(mark, given)| *given == name && environment.contains_key(*mark));
        for key in self.keys.leaves().to_vec() {
            let name = env_name(&key);
            if let Some(text) = environment.get(&name).filter(|_| !is_given(&name)) {
                let value = self.keys.value_of(&key, text);
                self.set(&key, value, Source::Environment { name })?;
            }
        }
        Ok(())
    }

    fn take_flags(&mut self, flags: &[Flag]) -> Result<(), SettingsError> {
        for Flag { name, key, value } in flags {
            let value = self.keys.value_of(key, value);
            self.set(key, value, Source::Flag { name: name.clone() })?;
        }
        Ok(())
    }

    /// Takes a value if the configuration can hold it, looked at alone so that the blame is right.
    fn set(&mut self, key: &str, value: Value, source: Source) -> Result<(), SettingsError> {
        let mut alone = Value::Object(Default::default());
        put(&mut alone, key, value.clone());
        let checked = serde_json::from_value::<Config>(alone).map_err(|error| in_words(&error.to_string()));
        if let Err(why) = checked.and_then(|_| self.keys.check(key, &value)) {
            let place = match &source {
                Source::File { line } => format!("{}:{line}", self.file.display()),
                other => other.to_string(),
            };
            let hint = format!("`swarm help config` explains {key} and every other key");
            return Err(SettingsError { place, why: format!("{key}: {why}"), hint });
        }
        put(&mut self.value, key, value);
        self.sources.insert(key.to_owned(), source);
        Ok(())
    }

    fn finish(mut self) -> Result<Settings, SettingsError> {
        let config = serde_json::from_value(self.value).map_err(|error| SettingsError {
            place: self.file.display().to_string(),
            why: error.to_string(),
            hint: String::new(),
        })?;
        for key in self.keys.leaves() {
            self.sources.entry(key.clone()).or_insert(Source::Default);
        }
        Ok(Settings { config, sources: self.sources })
    }

    fn at_line(&self, line: usize, why: String, hint: &str) -> SettingsError {
        SettingsError { place: format!("{}:{line}", self.file.display()), why, hint: hint.into() }
    }
}

fn put(target: &mut Value, key: &str, value: Value) {
    let mut at = target;
    for part in key.split('.') {
        if !at.is_object() {
            *at = Value::Object(Default::default());
        }
        let Value::Object(members) = at else { return };
        at = members.entry(part).or_insert(Value::Null);
    }
    *at = value;
}
/// The parser names types; people know what one writes.
fn in_words(error: &str) -> String {
    if let Some((found, known)) =
        error.strip_prefix("unknown variant ").and_then(|rest| rest.split_once(", expected "))
    {
        return format!("there is no {found}: write {}", known.strip_prefix("one of ").unwrap_or(known));
    }
    let rest = error.strip_prefix("invalid type: ").or_else(|| error.strip_prefix("invalid value: "));
    let Some((found, wanted)) = rest.and_then(|rest| rest.split_once(", expected ")) else {
        return error.to_owned();
    };
    let wanted = match wanted {
        "u8" | "u16" | "u32" | "u64" | "usize" => "a whole number",
        "i32" | "i64" => "a whole number, also below zero",
        "f32" | "f64" => "a number",
        "a boolean" => "true or false",
        "a string" => "a text",
        "a sequence" => "a list",
        other if other.starts_with("struct ") || other == "a map" => "an object",
        other => other,
    };
    format!("{wanted} is wanted, and this is {found}")
}
