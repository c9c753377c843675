//! How the fault of a scene begins and ends.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Result, bail};
use serde_json::{Value, json};

use super::super::PROFILES;
use super::super::remains;
use super::super::service::{Part, SLOW};
use super::super::stage::{Around, PLAIN, Props, Stage, WITHIN, send};
use super::kinds::{Fault, Kind};

/// A name that no service of names knows.
const NAMELESS: Around = Around { host: "model.invalid", env: &[] };

/// Claude tells when a quota is back only where somebody has logged in.
const LOGGED_IN: Around =
    Around { host: "127.0.0.1", env: &[("ANTHROPIC_API_KEY", ""), ("CLAUDE_CODE_OAUTH_TOKEN", "dummy")] };

/// Seconds until a used-up quota is back.
const RESETS_IN_SECS: u32 = 20;

/// A file of names of the scene's own over the one of the machine, for the command and everything that it starts.
const OWN_NAMES: &str = "mount --bind \"$0\" /etc/hosts && exec \"$@\"";

pub fn part(props: &Props<'_>, scene: &str) -> Part {
    Part::Weather(sky_in(&props.folder_of(scene)), RESETS_IN_SECS)
}

fn sky_in(folder: &Path) -> PathBuf {
    folder.join("sky")
}

fn names_in(folder: &Path) -> PathBuf {
    folder.join("hosts")
}

pub fn around(kind: &Kind, profile: &str) -> Around {
    match kind.fault {
        Fault::Nameless => NAMELESS,
        Fault::Service("quota") if profile.contains("claude") => LOGGED_IN,
        _ => PLAIN,
    }
}

/// The waits that a person would not want shorter and a scene does.
fn settings(profile: &str) -> Value {
    json!({ "agent": profile, "stall": "30s", "quota": { "probeEvery": "3s" }, "recovery": { "backoffMax": "2s" } })
}

fn with_flag(profile: &str) -> Result<Value> {
    let mut profiles = serde_json::Map::new();
    for (name, text) in PROFILES {
        let mut told: Value = serde_json::from_str(text)?;
        if *name == profile {
            told["args"] = json!(["--no-such-flag"]);
        }
        profiles.insert((*name).to_owned(), told);
    }
    let mut settings = settings(profile);
    settings["profiles"] = profiles.into();
    Ok(settings)
}

/// The weather as it is when the run begins.
pub fn begins(stage: &mut Stage<'_>, kind: &Kind, profile: &str) -> Result<()> {
    stage.configure(&settings(profile))?;
    match kind.fault {
        Fault::Service(scenario) => {
            let oauth = profile.contains("claude") && scenario == "quota";
            fs::write(sky_in(&stage.folder), if oauth { "quota_unified" } else { scenario })?;
        }
        Fault::Kill => fs::write(sky_in(&stage.folder), "slow_tool")?,
        Fault::Refused => stage.service.go_away()?,
        Fault::Nameless => fs::write(names_in(&stage.folder), "127.0.0.1 localhost\n")?,
        Fault::Flag => stage.configure(&with_flag(profile)?)?,
    }
    Ok(())
}

/// What stands in front of the command in this weather.
pub fn command(stage: &Stage<'_>, kind: &Kind, swarm: &Path) -> Vec<OsString> {
    let mut words: Vec<OsString> = vec![];
    if matches!(kind.fault, Fault::Nameless) {
        words.extend(["unshare", "--mount", "sh", "-c", OWN_NAMES].map(OsString::from));
        words.push(names_in(&stage.folder).into());
    }
    words.push(swarm.into());
    words
}

/// While the run is under way: what does not happen by itself.
pub fn strikes(stage: &Stage<'_>, kind: &Kind) -> Result<()> {
    if !matches!(kind.fault, Fault::Kill) {
        return Ok(());
    }
    let Some(tool) = remains::wait_for(&stage.home(), WITHIN, |command| command == SLOW) else {
        bail!("no tool ran within {} s", WITHIN.as_secs());
    };
    let Some(program) = remains::program_of(tool) else { bail!("nobody of ours has started {tool}") };
    send("KILL", program)
}

pub fn ends(stage: &mut Stage<'_>, kind: &Kind, profile: &str) -> Result<()> {
    match kind.fault {
        Fault::Service(_) | Fault::Kill => fs::write(sky_in(&stage.folder), "")?,
        Fault::Refused => stage.service.come_back()?,
        // In place: the file itself is what the scene sees.
        Fault::Nameless => fs::write(names_in(&stage.folder), "127.0.0.1 localhost model.invalid\n")?,
        Fault::Flag => stage.configure(&settings(profile))?,
    }
    Ok(())
}
