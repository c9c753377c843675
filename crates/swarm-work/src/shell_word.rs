//! Names as they can be pasted into a shell.

use std::path::Path;

/// One word of a shell command.
pub(crate) fn word(text: &str) -> String {
    let plain = text.bytes().all(|b| b.is_ascii_alphanumeric() || b"/._-+@,:".contains(&b));
    if plain && !text.is_empty() { text.to_owned() } else { format!("'{}'", text.replace('\'', "'\\''")) }
}

/// A path as one word of a shell command.
pub fn path_word(path: &Path) -> String {
    word(&path.display().to_string())
}
