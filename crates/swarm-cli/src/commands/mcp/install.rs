//! `swarm mcp install CLIENT`.

use std::fs::Permissions;
use std::io::Write;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use serde::Serialize;
use swarm_protocol::oplog::PreviewView;

use super::clients::{Client, Entry, Scope};
use super::{json_text, toml_text};
use crate::commands::operate::{Confirm, agreed};
use crate::context::Context;
use crate::error::CliError;
use crate::output;
use crate::swarm::Swarm;

/// Largest configuration file that is taken for one.
const FILE_MAX: u64 = 16 << 20;

/// Register this server in the configuration of a client
///
/// Shows the change, asks, and writes the file as a whole. Everything else in the file stays as it is, byte by byte.
///
/// Example: swarm mcp install claude --dry-run
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Client
    #[arg(value_enum, value_name = "CLIENT")]
    pub client: Client,
    /// Whose configuration
    #[arg(long, value_enum, default_value_t)]
    pub scope: Scope,
    #[command(flatten)]
    pub sure: Confirm,
}

#[derive(Debug, Serialize)]
struct Done {
    file: String,
    changed: bool,
}

pub fn run(args: &Args, cx: &Context) -> Result<(), CliError> {
    let swarm = Swarm::open(cx)?;
    let home = std::env::var_os("HOME").map(PathBuf::from).unwrap_or_default();
    if args.scope == Scope::User && !home.is_absolute() {
        return Err(CliError::environment("There is no home folder").say("Set HOME, or use --scope project"));
    }
    let file = args.client.file(args.scope, swarm.root(), &home);
    // A file that is kept elsewhere and linked here is written there.
    let file = std::fs::canonicalize(&file).unwrap_or(file);
    let shown = shown(&swarm, &file);
    let old = read(&file)?;
    let program = program(args.scope)?;
    let new = changed(old.as_deref().unwrap_or_default(), &args.client.entry(&program)).map_err(|why| {
        CliError::environment(format!("Cannot change {shown}"))
            .because(why)
            .say("Put the entry there by hand; docs/guides/mcp.md has it")
    })?;
    let lines = difference(old.as_deref(), &new, &shown);
    let view = PreviewView::of_lines("mcp install", &lines);
    if old.as_deref() == Some(new.as_str()) {
        return cx.out.view(&Done { file: shown, changed: false }, |done| {
            format!("{} has the entry already", done.file)
        });
    }
    if !agreed(cx, &view, args.sure)? {
        return Ok(());
    }
    write(&file, &new)?;
    if args.scope == Scope::Project && !is_on_path() {
        output::note("Note: swarm is not on your PATH; the client would not find it");
    }
    cx.out.view(&Done { file: shown, changed: true }, |done| format!("Changed {}", done.file))
}

/// A file of the repository is shared, so it names the program as everybody has it; one's own file names this very one.
fn program(scope: Scope) -> Result<String, CliError> {
    match scope {
        Scope::Project => Ok("swarm".into()),
        Scope::User => {
            let myself = std::env::current_exe();
            let myself =
                myself.map_err(|error| CliError::environment("Cannot find myself").because(error))?;
            Ok(myself.display().to_string())
        }
    }
}

fn is_on_path() -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path).any(|folder| folder.join("swarm").is_file())
}

fn shown(swarm: &Swarm, file: &Path) -> String {
    match file.strip_prefix(swarm.root()) {
        Ok(below) => below.display().to_string(),
        Err(_) => file.display().to_string(),
    }
}

fn read(file: &Path) -> Result<Option<String>, CliError> {
    let unreadable =
        |why: String| CliError::environment(format!("Cannot read {}", file.display())).because(why);
    match std::fs::metadata(file) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(unreadable(error.to_string())),
        Ok(meta) if meta.len() > FILE_MAX => return Err(unreadable(format!("{} bytes", meta.len()))),
        Ok(_) => {}
    }
    std::fs::read_to_string(file).map(Some).map_err(|error| unreadable(error.to_string()))
}

fn changed(old: &str, entry: &Entry) -> Result<String, String> {
    match entry {
        Entry::Json { path, value } => json_text::set(old, path, value),
        Entry::Toml { table, command, args } => toml_text::set(old, table, command, args),
    }
}

/// The lines that differ, as a person looks at them before saying yes.
fn difference(old: Option<&str>, new: &str, shown: &str) -> Vec<String> {
    let verb = if old.is_some() { "is changed" } else { "is created" };
    let (before, after): (Vec<&str>, Vec<&str>) =
        (old.unwrap_or_default().lines().collect(), new.lines().collect());
    let head = before.iter().zip(&after).take_while(|(a, b)| a == b).count();
    let most = before.len().min(after.len()) - head;
    let tail = before.iter().rev().zip(after.iter().rev()).take(most).take_while(|(a, b)| a == b).count();
    let mut lines = vec![format!("{shown} {verb}")];
    lines.extend(before[head..before.len() - tail].iter().map(|line| format!("  - {line}")));
    lines.extend(after[head..after.len() - tail].iter().map(|line| format!("  + {line}")));
    lines
}

/// Whole or not at all, and for nobody's eyes who could not read it before: it may hold keys.
fn write(file: &Path, text: &str) -> Result<(), CliError> {
    let failed = |error: std::io::Error| {
        CliError::environment(format!("Cannot write {}", file.display())).because(error)
    };
    let folder = file.parent().unwrap_or(Path::new("."));
    std::fs::create_dir_all(folder).map_err(failed)?;
    let mode =
        std::fs::metadata(file).map_or_else(|_| Permissions::from_mode(0o644), |meta| meta.permissions());
    let mut beside = tempfile::NamedTempFile::new_in(folder).map_err(failed)?;
    beside.write_all(text.as_bytes()).map_err(failed)?;
    beside.as_file().set_permissions(mode).map_err(failed)?;
    beside.as_file().sync_all().map_err(failed)?;
    beside.persist(file).map(drop).map_err(|error| failed(error.error))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_differs_is_shown() {
        let lines = difference(Some("a\nb\nc\n"), "a\nx\ny\nc\n", "f.json");
        assert_eq!(lines, ["f.json is changed", "  - b", "  + x", "  + y"]);
        assert_eq!(difference(None, "a\n", "f"), ["f is created", "  + a"]);
        assert_eq!(difference(Some("a\na\n"), "a\na\na\n", "f"), ["f is changed", "  + a"]);
    }
}
