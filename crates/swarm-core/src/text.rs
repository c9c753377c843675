//! Texts of bounded length.

use crate::limits::OUTPUT_KEPT;

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
