//! A line of text that a person types.

use crate::input::Key;

/// More than anybody types behind what stands there already, less than a command takes.
const CHARS_MAX: usize = 4000;

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Field {
    chars: Vec<char>,
    at: usize,
    /// So many characters stood there at the beginning: none of them is lost.
    began: usize,
}

impl Field {
    pub fn new(text: &str) -> Self {
        let chars: Vec<char> = text.chars().collect();
        Self { at: chars.len(), began: chars.len(), chars }
    }

    pub fn text(&self) -> String {
        self.chars.iter().collect()
    }

    pub fn is_empty(&self) -> bool {
        self.text().trim().is_empty()
    }

    /// What stands before and after the cursor.
    pub fn halves(&self) -> (String, String) {
        let (before, after) = self.chars.split_at(self.at);
        (before.iter().collect(), after.iter().collect())
    }

    /// Takes the key if it belongs to typing.
    pub fn take(&mut self, key: Key) -> bool {
        match key {
            Key::Char(c) => self.insert(c),
            Key::Backspace if self.at > 0 => {
                self.at -= 1;
                self.chars.remove(self.at);
            }
            Key::Delete if self.at < self.chars.len() => {
                self.chars.remove(self.at);
            }
            Key::Backspace | Key::Delete => {}
            Key::Left => self.at = self.at.saturating_sub(1),
            Key::Right => self.at = (self.at + 1).min(self.chars.len()),
            Key::Home | Key::Ctrl('a') => self.at = 0,
            Key::End | Key::Ctrl('e') => self.at = self.chars.len(),
            Key::Ctrl('u') => {
                self.chars.drain(..self.at);
                self.at = 0;
            }
            Key::Ctrl('w') => self.word_back(),
            _ => return false,
        }
        true
    }

    /// A paste: line ends become spaces, since this is one line.
    pub fn paste(&mut self, text: &str) {
        for c in text.trim_end_matches(['\n', '\r']).chars() {
            self.insert(if c.is_control() { ' ' } else { c });
        }
    }

    fn insert(&mut self, c: char) {
        if self.chars.len() < self.began + CHARS_MAX {
            self.chars.insert(self.at, c);
            self.at += 1;
        }
    }

    fn word_back(&mut self) {
        let blank = |at: usize, chars: &[char]| at > 0 && chars[at - 1].is_whitespace();
        let end = self.at;
        while blank(self.at, &self.chars) {
            self.at -= 1;
        }
        while self.at > 0 && !blank(self.at, &self.chars) {
            self.at -= 1;
        }
        self.chars.drain(self.at..end);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_field_is_typed_corrected_and_pasted_into() {
        let mut field = Field::new("ab");
        for key in [Key::Left, Key::Char('x'), Key::End, Key::Backspace] {
            assert!(field.take(key));
        }
        assert_eq!(field.text(), "ax");
        field.paste(" one\ntwo\n");
        assert_eq!(field.text(), "ax one two");
        field.take(Key::Ctrl('w'));
        assert_eq!(field.halves(), ("ax one ".into(), String::new()));
        assert!(!field.take(Key::Enter), "Enter is not typing");
    }
}
