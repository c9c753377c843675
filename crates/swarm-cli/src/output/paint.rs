//! A few colours, used sparingly and never as the only sign of anything.

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Paint {
    Bold,
    Dim,
    Red,
    Green,
    Yellow,
}

impl Paint {
    fn code(self) -> &'static str {
        match self {
            Self::Bold => "1",
            Self::Dim => "2",
            Self::Red => "31",
            Self::Green => "32",
            Self::Yellow => "33",
        }
    }
}

/// Paints where colours are wanted.
pub fn paint(on: bool, paint: Paint, text: &str) -> String {
    if on { format!("\u{1b}[{}m{text}\u{1b}[0m", paint.code()) } else { text.to_owned() }
}

/// The colour of a state, by its first word; most have none.
pub fn of_state(state: &str) -> Option<Paint> {
    match state.split([' ', ':']).next().unwrap_or_default() {
        "done" | "complete" | "approved" => Some(Paint::Green),
        "active" | "working" | "review" | "merging" | "ready" => Some(Paint::Yellow),
        "blocked" | "failed" | "timeout" | "gone" | "aborted" | "DAMAGED" => Some(Paint::Red),
        "cancelled" | "deferred" => Some(Paint::Dim),
        _ => None,
    }
}

/// `Error:` red, `Caused by:` and `Hint:` bold, at the heads of lines.
pub fn heads_of_lines(text: &str) -> String {
    let heads = [("Error:", Paint::Red), ("Caused by:", Paint::Bold), ("Hint:", Paint::Green)];
    let painted = |line: &str| {
        heads
            .iter()
            .find_map(|(head, colour)| line.strip_prefix(head).map(|rest| paint(true, *colour, head) + rest))
            .unwrap_or_else(|| line.to_owned())
    };
    text.lines().map(painted).collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_heads_of_an_error_are_painted() {
        assert_eq!(
            heads_of_lines("Error: a\nHint: b"),
            "\u{1b}[31mError:\u{1b}[0m a\n\u{1b}[32mHint:\u{1b}[0m b"
        );
        assert_eq!(paint(false, Paint::Red, "a"), "a");
    }
}
