//! The person's own editor.

use std::path::Path;
use std::process::Command as Program;

use crate::error::CliError;

/// Opens a file or folder and waits for the editor's end. `again`: the command to try once more.
pub fn open_editor(what: &Path, again: &str) -> Result<(), CliError> {
    let named = |name: &str| std::env::var(name).ok().filter(|value| !value.trim().is_empty());
    let editor = named("VISUAL").or_else(|| named("EDITOR")).ok_or_else(|| {
        CliError::environment("No editor is set")
            .because("neither VISUAL nor EDITOR is set")
            .run_instead(format!("EDITOR=nano {again}"))
    })?;
    let status = Program::new("sh")
        // The variable may hold arguments (`code --wait`), which is why it goes through a shell; what it opens does not.
        .args(["-c", &format!("{editor} \"$1\""), "sh"])
        .arg(what)
        .status()
        .map_err(|error| CliError::environment(format!("Cannot start the editor {editor}")).because(error))?;
    if status.success() {
        return Ok(());
    }
    Err(CliError::environment(format!("The editor {editor} ended with {status}; swarm has changed nothing")))
}
