//! `cargo xtask attack`: everything that an agent which wants to leave would try, by real processes behind the real walls, in
//! every net that works on this machine. As root also once more as an ordinary user: the walls are made differently for both.

use std::os::unix::fs::{PermissionsExt, chown};
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};

use crate::stream;
use crate::workspace::Workspace;

/// Whoever this is on a machine, nothing belongs to him.
const NOBODY: u32 = 65534;

#[derive(clap::Args)]
pub struct Arguments {
    /// Only attacks with this in their name
    name: Option<String>,
}

pub fn run(workspace: &Workspace, arguments: &Arguments) -> Result<()> {
    let program = built(workspace)?;
    let which = arguments.name.as_deref().unwrap_or("all");
    let mut as_ourselves = Command::new(&program);
    as_ourselves.env("SWARM_ATTACKS", which);
    eprintln!("attack: as this user");
    let held = passes(as_ourselves);
    if !is_root() {
        return held;
    }
    eprintln!("attack: as an ordinary user");
    let ordinary = as_nobody(&program, which);
    held.and(ordinary)
}

/// The test program that plays all parts.
fn built(workspace: &Workspace) -> Result<PathBuf> {
    let mut command =
        workspace.cargo(["test", "--package", "swarm-process", "--locked", "--test", "attacks"]);
    command.args(["--no-run", "--message-format", "json"]);
    let out = command.stderr(std::process::Stdio::inherit()).output().context("Cannot start cargo")?;
    let lines = String::from_utf8_lossy(&out.stdout).into_owned();
    let messages = lines.lines().filter_map(|line| serde_json::from_str::<serde_json::Value>(line).ok());
    let executables = messages.filter(|message| message["target"]["name"] == "attacks");
    let found =
        executables.filter_map(|message| message["executable"].as_str().map(PathBuf::from)).next_back();
    found.context("The attacks could not be built")
}

fn as_nobody(program: &Path, which: &str) -> Result<()> {
    let place = PathBuf::from(format!("/var/lib/swarm-attack-{}", std::process::id()));
    std::fs::create_dir(&place).with_context(|| format!("Cannot make {}", place.display()))?;
    let ran = (|| {
        chown(&place, Some(NOBODY), Some(NOBODY))?;
        std::fs::set_permissions(&place, std::fs::Permissions::from_mode(0o700))?;
        let copy = place.join("attacks");
        std::fs::copy(program, &copy)?;
        // One that makes whoever runs it root: gaining rights by it is one of the attacks.
        let rooted = place.join("rooted");
        std::fs::copy(program, &rooted)?;
        std::fs::set_permissions(&rooted, std::fs::Permissions::from_mode(0o4755))?;
        let mut command = Command::new("setpriv");
        command.args(["--reuid", "65534", "--regid", "65534", "--clear-groups"]).arg(&copy);
        command.current_dir(&place).env("HOME", &place);
        command
            .env("SWARM_ATTACKS", which)
            .env("SWARM_ATTACK_BASE", &place)
            .env("SWARM_ATTACK_ROOTED", &rooted);
        passes(command)
    })();
    std::fs::remove_dir_all(&place).with_context(|| format!("Cannot remove {}", place.display()))?;
    ran
}

fn is_root() -> bool {
    std::fs::metadata("/proc/self").is_ok_and(|own| std::os::unix::fs::MetadataExt::uid(&own) == 0)
}

fn passes(command: Command) -> Result<()> {
    if !stream::run(command, |line| println!("{line}"))?.success() {
        bail!("The walls did not hold");
    }
    Ok(())
}
