//! Texts of bounded length.

use crate::limits::{OUTPUT_KEPT, PATHS_BYTES_MAX};

/// `once`, `3 times`.
pub(crate) fn times(n: u32) -> String {
    if n == 1 { "once".into() } else { format!("{n} times") }
}

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

/// As many of these as one record names by their paths, from the first on; one at least.
pub(crate) fn first_of<T>(mut all: Vec<T>, path: impl Fn(&T) -> &str) -> Vec<T> {
    let mut bytes = 0;
    let fits = |&one: &&T| {
        // With what stands around it in the record.
        bytes += path(one).len() + 8;
        bytes <= PATHS_BYTES_MAX
    };
    let count = all.iter().take_while(fits).count().max(1);
    all.truncate(count);
    all
}

pub(crate) fn first_paths(paths: Vec<String>) -> Vec<String> {
    first_of(paths, String::as_str)
}
