//! Files that only a person lets through to trunk.

mod by_git;

use std::path::{Path, PathBuf};

pub use by_git::by_git;
use globset::{Glob, GlobBuilder, GlobSet, GlobSetBuilder};

/// Ours, whatever is configured: what lies there is executed outside the walls, or decides what is.
const OURS: &str = ".swarm";

/// Paths that are named; a person who sees so many looks at the whole.
const NAMED_MAX: usize = 100;

/// Patterns that are compared with each file.
const PATTERNS_MAX: usize = 200;

/// Those of the changed files that are protected.
pub fn among(changed: &[PathBuf], patterns: &[String]) -> Vec<String> {
    let set = as_set(patterns);
    let is_meant = |path: &Path| {
        is_ours(path) || set.is_match(path) || path.file_name().is_some_and(|name| set.is_match(name))
    };
    let meant = changed.iter().filter(|path| is_meant(path)).take(NAMED_MAX);
    meant.map(|path| path.to_string_lossy().into_owned()).collect()
}

/// Also under a name that some file systems take for the same one.
fn is_ours(path: &Path) -> bool {
    let first = path.components().next().map(|part| part.as_os_str().to_string_lossy().into_owned());
    first.is_some_and(|first| first.trim_end_matches(['.', ' ']).eq_ignore_ascii_case(OURS))
}

/// A pattern that means nothing would protect nothing: said when the configuration is read.
pub fn check(patterns: &[String]) -> Result<(), String> {
    if patterns.len() > PATTERNS_MAX {
        return Err(format!("there are more than {PATTERNS_MAX} patterns"));
    }
    match patterns.iter().flat_map(|pattern| forms(pattern)).find_map(|form| glob(&form).err()) {
        Some(error) => Err(error.to_string()),
        None if patterns.iter().any(|pattern| pattern.trim().is_empty()) => Err("a pattern is empty".into()),
        None => Ok(()),
    }
}

fn as_set(patterns: &[String]) -> GlobSet {
    let mut set = GlobSetBuilder::new();
    for glob in patterns.iter().flat_map(|pattern| forms(pattern)).filter_map(|form| glob(&form).ok()) {
        set.add(glob);
    }
    set.build().unwrap_or_else(|_| GlobSet::empty())
}

/// A folder means what is below it.
fn forms(pattern: &str) -> [String; 2] {
    let pattern = pattern.trim_start_matches("./").trim_end_matches('/');
    [pattern.to_owned(), format!("{pattern}/**")]
}

fn glob(form: &str) -> Result<Glob, globset::Error> {
    GlobBuilder::new(form).literal_separator(true).case_insensitive(true).build()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_ours_or_named_is_protected_however_it_is_spelled() {
        let patterns: Vec<String> =
            ["CODEOWNERS", ".github/workflows/**", "deploy/", "./ci.sh"].map(Into::into).into();
        for (path, wanted) in [
            (".swarm/config.json", true),
            (".swarm", true),
            (".SWARM/hooks/pre-start.sh", true),
            (".swarm./hooks/pre-start.sh", true),
            ("src/.swarm/x", false),
            ("docs/CODEOWNERS", true),
            ("docs/codeowners", true),
            (".github/workflows/a/b.yml", true),
            (".github/dependabot.yml", false),
            ("deploy/live.sh", true),
            ("deploy", true),
            ("deployed.txt", false),
            ("ci.sh", true),
            ("src/main.rs", false),
        ] {
            let found = among(&[PathBuf::from(path)], &patterns);
            assert_eq!(!found.is_empty(), wanted, "{path}");
        }
    }

    #[test]
    fn a_pattern_that_means_nothing_is_refused() {
        assert_eq!(check(&["a/**/b".into(), "CODEOWNERS".into()]), Ok(()));
        assert!(check(&["[a".into()]).is_err());
        assert!(check(&[" ".into()]).is_err());
    }
}
