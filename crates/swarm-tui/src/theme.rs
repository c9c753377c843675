//! Signs and colours. The terminal's own sixteen colours and its default foreground, so that light and dark both work;
//! without colour, bold, underline and reverse say the same.

use ratatui::style::{Color, Modifier, Style};
use swarm_protocol::board::Group;

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Theme {
    pub colour: bool,
    /// Only characters of ASCII.
    pub ascii: bool,
}

/// What a piece of text is, for its look.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    Plain,
    Dim,
    Bold,
    Title,
    Selected,
    NeedsYou,
    Works,
    Waits,
    Good,
    Bad,
    Key,
    Past,
}

impl Theme {
    pub fn style(self, role: Role) -> Style {
        let plain = Style::new();
        let colour = |colour: Color, otherwise: Modifier| match self.colour {
            true => plain.fg(colour),
            false => plain.add_modifier(otherwise),
        };
        match role {
            Role::Plain => plain,
            Role::Dim => plain.add_modifier(Modifier::DIM),
            Role::Bold | Role::Key => plain.add_modifier(Modifier::BOLD),
            Role::Title => colour(Color::Cyan, Modifier::empty()).add_modifier(Modifier::BOLD),
            Role::Selected => plain.add_modifier(Modifier::REVERSED),
            Role::NeedsYou => colour(Color::Yellow, Modifier::BOLD).add_modifier(Modifier::BOLD),
            Role::Works => colour(Color::Blue, Modifier::empty()),
            Role::Waits => colour(Color::Magenta, Modifier::DIM),
            Role::Good => colour(Color::Green, Modifier::empty()),
            Role::Bad => colour(Color::Red, Modifier::UNDERLINED).add_modifier(Modifier::BOLD),
            Role::Past => plain.add_modifier(Modifier::REVERSED | Modifier::BOLD),
        }
    }

    pub fn role(self, group: Group) -> Role {
        match group {
            Group::NeedsYou => Role::NeedsYou,
            Group::Works => Role::Works,
            Group::Merges | Group::InReview | Group::Waits => Role::Waits,
            Group::Ready => Role::Plain,
            Group::Done => Role::Good,
            Group::Aside => Role::Dim,
        }
    }

    pub fn sign(self, group: Group) -> &'static str {
        match group {
            Group::NeedsYou => "!",
            Group::Works => self.either("»", "*"),
            Group::Merges => "=",
            Group::InReview => "?",
            Group::Waits => "~",
            Group::Ready => self.either("·", "."),
            Group::Done => self.either("✓", "v"),
            Group::Aside => self.either("×", "x"),
        }
    }

    /// The sign, or what stands for it in ASCII.
    pub fn either(self, sign: &'static str, ascii: &'static str) -> &'static str {
        if self.ascii { ascii } else { sign }
    }

    pub fn rule(self) -> &'static str {
        self.either("─", "-")
    }

    /// Other signs in a text of ours, as the terminal can have them.
    pub fn plain(self, text: &str) -> String {
        if !self.ascii {
            return text.to_owned();
        }
        let signs = [
            ('─', '-'),
            ('│', '|'),
            ('█', '#'),
            ('░', '.'),
            ('┬', '+'),
            ('├', '+'),
            ('└', '+'),
            ('▾', 'v'),
            ('▸', '>'),
            ('›', '>'),
            ('…', '~'),
            ('·', '-'),
            ('↓', 'v'),
            ('↑', '^'),
            ('→', '>'),
            ('←', '<'),
            ('✓', 'v'),
            ('✗', 'x'),
            ('×', 'x'),
            // Not the sign of the cursor.
            ('»', '*'),
        ];
        let ascii = |c: char| match signs.iter().find(|(sign, _)| *sign == c) {
            Some((_, ascii)) => *ascii,
            None if c.is_ascii() => c,
            None => '?',
        };
        text.chars().map(ascii).collect()
    }
}
