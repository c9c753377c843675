//! Texts of bounded length.

use crate::limits::{OUTPUT_KEPT, PATHS_BYTES_MAX};

/// The end of a text, at a character boundary: errors stand last.
pub(crate) fn tail(text: &str) -> String {
    if text.len() <= OUTPUT_KEPT {
        return text.into();
    }
    let mut from = text.len() - OUTPUT_KEPT;
    while !text.is_char_boundary(from) {
        from += 1;
    }
    text[from..].into()
}

/// As many of these paths as one record names, from the first on; one at least.
pub(crate) fn first_paths(mut paths: Vec<String>) -> Vec<String> {
    let mut bytes = 0;
    let fits = |path: &&String| {
        bytes += path.len() + 1;
        bytes <= PATHS_BYTES_MAX
    };
    let count = paths.iter().take_while(fits).count().max(1);
    paths.truncate(count);
    paths
}
