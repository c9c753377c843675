//! Lines of a text.

/// The number of lines; a last line without a newline counts.
pub fn count(text: &str) -> usize {
    text.lines().count()
}
