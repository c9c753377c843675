//! A crate with one program for all its tests lists their files in one that has its own name (`swarm-engine`:
//! `tests/engine.rs`), and names the other programs in its manifest. A file that is not listed would never be compiled,
//! and its tests would be green for ever.

use anyhow::Result;

use super::{Findings, Sources};
use crate::workspace::Workspace;

pub fn check(workspace: &Workspace, sources: &Sources) -> Result<Findings> {
    let manifests = |folder: &str| workspace.read(&folder.replace("/tests/", "/Cargo.toml"));
    let mut findings = Findings::default();
    for (path, list) in sources {
        let Some((folder, of_crate)) = list_of_tests(path) else { continue };
        listed(sources, folder, (path, list), of_crate, &manifests(folder)?, &mut findings);
    }
    Ok(findings)
}

fn listed(
    sources: &Sources,
    folder: &str,
    (path, list): (&str, &str),
    of_crate: &str,
    manifest: &str,
    findings: &mut Findings,
) {
    let files = sources.keys().filter_map(|path| path.strip_prefix(folder)?.strip_suffix(".rs"));
    for name in files.filter(|name| !name.contains('/') && *name != of_crate) {
        if !list.lines().any(|line| line.trim() == format!("mod {name};")) {
            findings.fail(format!("{folder}{name}.rs is never run: add `mod {name};` to {path}"));
        }
    }
    let programs = sources.keys().filter_map(|path| path.strip_prefix(folder)?.strip_suffix("/main.rs"));
    for name in programs.filter(|name| !manifest.contains(&format!("\"tests/{name}/main.rs\""))) {
        findings.fail(format!("{folder}{name} is never run: name it in the manifest of the crate"));
    }
}

/// `crates/swarm-engine/tests/engine.rs` → the folder of the tests, and `engine`.
fn list_of_tests(path: &str) -> Option<(&str, &str)> {
    let (member, file) = path.strip_prefix("crates/swarm-")?.split_once("/tests/")?;
    let listed = file.strip_suffix(".rs").filter(|name| *name == member)?;
    Some((path.strip_suffix(file)?, listed))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_of_tests_that_is_not_listed_is_found() {
        let source = |path: &str, text: &str| (path.to_owned(), text.to_owned());
        let sources = Sources::from([
            source("crates/swarm-a/tests/a.rs", "//! All.\n\nmod helper;\nmod listed;\n"),
            source("crates/swarm-a/tests/listed.rs", ""),
            source("crates/swarm-a/tests/forgotten.rs", ""),
            source("crates/swarm-a/tests/helper/mod.rs", ""),
            source("crates/swarm-a/tests/named/main.rs", ""),
            source("crates/swarm-a/tests/unnamed/main.rs", ""),
            source("crates/swarm-b/tests/alone.rs", ""),
        ]);
        let manifest = "[[test]]\npath = \"tests/named/main.rs\"\n";
        let (path, mut findings) = ("crates/swarm-a/tests/a.rs", Findings::default());
        let (folder, of_crate) = list_of_tests(path).expect("a list");
        listed(&sources, folder, (path, &sources[path]), of_crate, manifest, &mut findings);
        let failures = findings.failures;
        assert_eq!(failures.len(), 2, "{failures:?}");
        assert!(failures[1].starts_with("crates/swarm-a/tests/unnamed is never run"), "{failures:?}");
        assert!(failures[0].starts_with("crates/swarm-a/tests/forgotten.rs is never run"), "{failures:?}");
    }
}
