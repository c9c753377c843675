//! Reading a plan file that a person named, with a bound on its size.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use swarm_protocol::ids::TaskId;
use swarm_protocol::plan::{PlanFile, TaskSpec};
use swarm_protocol::planfile::{self, Care, Imported, Known, PlanFileError, Source};

use crate::error::{CliError, Hint};
use crate::output;

/// The plan in `file`, or on stdin for `-`; and the name it goes by in the ledger. Tasks without an id in it are looked up
/// among those of the present plan.
pub fn read(file: &Path, known: &Known) -> Result<(PlanFile, String), CliError> {
    let name = if is_stdin(file) { "stdin".to_owned() } else { file.display().to_string() };
    let bytes = bytes_of(file).map_err(|error| {
        let hint = "FILE is a plan as JSON or as a Markdown checklist, or `-` for stdin";
        CliError::environment(format!("Cannot read the plan file {name}")).because(error).say(hint)
    })?;
    let (plan, notes) = planfile::parse_with_notes(&name, &bytes, known)?;
    notes.iter().for_each(|note| output::note(&format!("Note: {}", output::harmless(note))));
    Ok((plan, recorded_name(file)))
}

/// As `read`, but also the plans of other tools.
pub fn read_any(file: &Path, from: Option<Source>, care: Care) -> Result<Imported, CliError> {
    let name = if is_stdin(file) { "stdin".to_owned() } else { file.display().to_string() };
    let bytes = bytes_of(file).map_err(|error| {
        let hint = "FILE is a plan of Swarm, opencode-swarm, beads or hive, or `-` for stdin; see docs/reference/imports.md";
        CliError::environment(format!("Cannot read the plan file {name}")).because(error).say(hint)
    })?;
    Ok(planfile::import_with(&name, &bytes, from, care)?)
}

/// The parts that a task is to be split into.
pub fn parts(file: &Path, task: &TaskId) -> Result<Vec<TaskSpec>, CliError> {
    let name = if is_stdin(file) { "stdin".to_owned() } else { file.display().to_string() };
    let bytes = bytes_of(file).map_err(|error| {
        let hint = "FILE is a list of tasks as JSON or as a Markdown checklist, or `-` for stdin";
        CliError::environment(format!("Cannot read the parts in {name}")).because(error).say(hint)
    })?;
    Ok(planfile::parse_parts(&name, &bytes, task)?)
}

/// What is wrong with a plan that came from a file is put right in the file, not in the plan that is there.
pub fn put_right(error: CliError, command: &str, file: &Path) -> CliError {
    const ABOUT_THE_FILE: &[&str] =
        &["unknown_dependency", "cycle", "duplicate_task", "bad_value", "too_large", "unknown_phase"];
    if !ABOUT_THE_FILE.contains(&error.kind) {
        return error;
    }
    let meant = match &error.hint {
        Some(Hint::Say(text)) => {
            text.split_inclusive('?').next().filter(|text| text.ends_with('?')).map(|text| format!("{text} "))
        }
        _ => None,
    };
    let meant = meant.unwrap_or_default();
    match is_stdin(file) {
        // Pasted as it is, it would wait for somebody to type a plan.
        true => error.say(format!("{meant}Fix it, then pipe it into `{command} -` again")),
        false => {
            let file = output::word(&file.display().to_string());
            error.say(format!("{meant}Fix the file, then run `{command} {file}`"))
        }
    }
}

fn bytes_of(file: &Path) -> io::Result<Vec<u8>> {
    // One byte more than allowed is enough for the parser to say that it is too large.
    let limit = planfile::BYTES_MAX as u64 + 1;
    let mut bytes = Vec::new();
    if is_stdin(file) {
        io::stdin().lock().take(limit).read_to_end(&mut bytes)?;
    } else {
        File::open(file)?.take(limit).read_to_end(&mut bytes)?;
    }
    Ok(bytes)
}

pub fn is_stdin(file: &Path) -> bool {
    file == Path::new("-")
}

/// No absolute path goes into the ledger: it would be wrong on every other machine.
pub fn recorded_name(file: &Path) -> String {
    if is_stdin(file) {
        return "stdin".into();
    }
    match file.is_absolute() {
        true => file.file_name().map_or_else(|| "file".into(), |name| name.to_string_lossy().into_owned()),
        false => file.to_string_lossy().into_owned(),
    }
}

impl From<PlanFileError> for CliError {
    fn from(error: PlanFileError) -> Self {
        let hint = error.hint.clone();
        let place = error.line.map(|line| format!(" at line {line}")).unwrap_or_default();
        let refused =
            Self::bad_plan(format!("Cannot read the plan {}{place}", error.file)).because(&error.why);
        if hint.is_empty() { refused } else { refused.say(hint) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_absolute_path_is_recorded() {
        for (given, recorded) in
            [("-", "stdin"), ("plans/a.md", "plans/a.md"), ("/home/someone/a.md", "a.md")]
        {
            assert_eq!(recorded_name(Path::new(given)), recorded);
        }
    }
}
