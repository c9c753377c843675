//! Words of a text, separated by white space.

/// The number of words.
pub fn count(text: &str) -> usize {
    text.split_whitespace().count()
}
