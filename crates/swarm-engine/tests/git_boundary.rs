//! Invariant 5: only `git` runs git, only `process` spawns. A layer without a guard wears away.

use std::path::{Path, PathBuf};

fn sources(dir: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(dir).expect("a folder of sources").flatten() {
        let path = entry.path();
        match path.is_dir() {
            true => sources(&path, found),
            false => found.push(path),
        }
    }
}

#[test]
fn nobody_else_spawns_and_nobody_else_calls_git() {
    let top = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut found = Vec::new();
    sources(&top, &mut found);
    let mut at_fault = Vec::new();
    for path in found {
        let text = std::fs::read_to_string(&path).expect("sources are text");
        let place = path.strip_prefix(&top).expect("it lies below").to_owned();
        if text.contains("Command::new(") && !place.starts_with("process") {
            at_fault.push(format!("{} spawns: use process::Call", place.display()));
        }
        if text.contains("Call::new(\"git\")") && !place.starts_with("git") {
            at_fault.push(format!("{} runs git: add a function to git.rs", place.display()));
        }
    }
    assert!(at_fault.is_empty(), "{at_fault:#?}");
}
