//! Walking the files of a checkout without following links, within bounds.

use std::fs::Metadata;
use std::path::{Path, PathBuf};

use globset::{Glob, GlobSet, GlobSetBuilder};

/// Entries looked at before a walk is given up.
pub(crate) const ENTRIES_MAX: usize = 2_000_000;

/// A set of globs. A pattern that is none matches nothing.
pub(crate) fn globs(patterns: &[String]) -> GlobSet {
    let mut set = GlobSetBuilder::new();
    let made = |glob: &String| {
        globset::GlobBuilder::new(glob.trim_start_matches("./")).literal_separator(true).build().ok()
    };
    patterns.iter().filter_map(made).for_each(|glob| {
        set.add(glob);
    });
    set.build().unwrap_or_else(|_| GlobSet::empty())
}

/// Names (without folders) of things that are made again by building.
pub(crate) fn names(patterns: &[String]) -> GlobSet {
    let mut set = GlobSetBuilder::new();
    patterns.iter().filter_map(|glob| Glob::new(glob).ok()).for_each(|glob| {
        set.add(glob);
    });
    set.build().unwrap_or_else(|_| GlobSet::empty())
}

/// What the visitor wants to do with a folder.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Step {
    Into,
    Past,
    End,
}

/// Visits everything below `top`, named from there, without `.git` and `.swarm` of the top. False when the bound was
/// reached or a folder could not be read: then nobody knows what else is there.
pub(crate) fn walk(top: &Path, mut visit: impl FnMut(&Path, &Metadata) -> Step) -> bool {
    let mut open = vec![PathBuf::new()];
    let mut seen = 0;
    while let Some(dir) = open.pop() {
        let Ok(entries) = std::fs::read_dir(top.join(&dir)) else { return false };
        for entry in entries {
            seen += 1;
            let Ok(entry) = entry else { return false };
            if seen > ENTRIES_MAX {
                return false;
            }
            let path = dir.join(entry.file_name());
            if path == Path::new(".git") || path == Path::new(".swarm") {
                continue;
            }
            // Gone meanwhile: then it is not there.
            let Ok(meta) = entry.metadata() else { continue };
            match visit(&path, &meta) {
                Step::End => return true,
                Step::Into if meta.is_dir() => open.push(path),
                _ => {}
            }
        }
    }
    true
}
