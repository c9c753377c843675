//! Keys as people write them in a configuration, and as they read them on the screen.

use crate::input::Key;

/// Keys that are no letters: how they are written, in any case, and how they are shown.
const NAMED: &[(&str, Key, &str)] = &[
    ("Space", Key::Char(' '), "Space"),
    ("Enter", Key::Enter, "Enter"),
    ("Esc", Key::Esc, "Esc"),
    ("Tab", Key::Tab, "Tab"),
    ("Shift+Tab", Key::BackTab, "Shift+Tab"),
    ("Backspace", Key::Backspace, "Backspace"),
    ("Delete", Key::Delete, "Delete"),
    ("Left", Key::Left, "←"),
    ("Right", Key::Right, "→"),
    ("Up", Key::Up, "↑"),
    ("Down", Key::Down, "↓"),
    ("Home", Key::Home, "Home"),
    ("End", Key::End, "End"),
    ("PgUp", Key::PageUp, "PgUp"),
    ("PgDn", Key::PageDown, "PgDn"),
];

pub fn shown(key: Key) -> String {
    match key {
        Key::Char(c) if c != ' ' => c.to_string(),
        Key::Ctrl(c) => format!("Ctrl+{}", c.to_ascii_uppercase()),
        key => {
            NAMED.iter().find(|(_, named, _)| *named == key).map_or("?", |(_, _, shown)| *shown).to_owned()
        }
    }
}

/// A letter or sign, `Ctrl+` and a letter, or one of the names; none for anything else.
pub fn read(name: &str) -> Option<Key> {
    let mut letters = name.chars();
    if let (Some(letter), None) = (letters.next(), letters.next()) {
        return (!letter.is_control()).then_some(Key::Char(letter));
    }
    let lower = name.to_ascii_lowercase();
    if let Some(rest) = lower.strip_prefix("ctrl+") {
        let mut letters = rest.chars();
        let letter = letters.next().filter(char::is_ascii_lowercase)?;
        return letters.next().is_none().then_some(Key::Ctrl(letter));
    }
    NAMED.iter().find(|(named, ..)| named.to_ascii_lowercase() == lower).map(|(_, key, _)| *key)
}

/// All that can be written, for whoever wrote something else.
pub fn all() -> String {
    let named: Vec<&str> = NAMED.iter().map(|(name, ..)| *name).collect();
    format!("a letter or sign, Ctrl+ and a letter, {}", named.join(", "))
}
