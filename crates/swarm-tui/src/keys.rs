//! The one table of keys: help, footer, palette and the printed page are all made of it.

mod own;
mod names;
mod table;

use swarm_protocol::board::Verb;

use crate::input::Key;
pub use own::{Wrong, with_own};
pub use table::KEYS;

/// What a key does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Action {
    Down,
    Up,
    First,
    Last,
    HalfDown,
    HalfUp,
    PageDown,
    PageUp,
    NextPane,
    PreviousPane,
    View(u8),
    Open,
    Fold,
    Back,
    Attention,
    Filter,
    NextMatch,
    PreviousMatch,
    Palette,
    Hint,
    Panel,
    Pause,
    Start,
    Stop,
    Redirect,
    Kill,
    Block,
    Unblock,
    Defer,
    Edit,
    RollbackTask,
    Mode,
    Debug,
    Log,
    Wall,
    Mark,
    ShowBlock,
    Graph,
    Usage,
    Full,
    Checkpoint,
    Checkpoints,
    RollbackSession,
    Quit,
    Help,
    Undo,
    Redo,
    Diff,
    Review,
    Message,
    PreviousMark,
    NextMark,
    PreviousPart,
    NextPart,
    PreviousFile,
    NextFile,
    Copy,
    RecordBack,
    RecordForth,
    Present,
    Enlarge,
    Shrink,
    Wrap,
    Machinery,
    Redraw,
    Suspend,
    Interrupt,
}

/// Where a key stands in the help.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Part {
    Moving,
    Agent,
    Task,
    Swarm,
    Looking,
}

impl Part {
    pub const ALL: [Self; 5] = [Self::Agent, Self::Task, Self::Swarm, Self::Looking, Self::Moving];

    pub fn title(self) -> &'static str {
        match self {
            Self::Moving => "Moving",
            Self::Agent => "Selected agent",
            Self::Task => "Selected task",
            Self::Swarm => "Whole swarm",
            Self::Looking => "Looking",
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Binding {
    pub keys: &'static [Key],
    /// As people read it.
    pub shown: &'static str,
    pub action: Action,
    /// One or two words for the footer and the palette.
    pub word: &'static str,
    pub help: &'static str,
    pub part: Part,
    /// The coordinator is asked whether this is possible now.
    pub verb: Option<Verb>,
    /// Rank in the footer; none: not there.
    pub footer: Option<u8>,
}

impl Binding {
    /// What it is called in the configuration.
    pub fn name(&self) -> String {
        match self.action {
            Action::View(n) => format!("view-{n}"),
            _ => self.word.replace(' ', "-"),
        }
    }

    /// Whether it does something where the person looks at the past: what only looks at that record, and the way back to it.
    pub fn works_in_the_past(&self) -> bool {
        let about_now = matches!(
            self.action,
            Action::Pause
                | Action::Panel
                | Action::Quit
                | Action::Debug
                | Action::Diff
                | Action::Wall
                | Action::Usage
        );
        self.verb.is_none() && !about_now
    }
}

/// The table as it holds: as it is made, but for the keys that a person wants to be others.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Keymap(&'static [Binding]);

impl Default for Keymap {
    fn default() -> Self {
        Self(KEYS)
    }
}

impl Keymap {
    pub fn all(self) -> &'static [Binding] {
        self.0
    }

    /// What this key does, if anything.
    pub fn binding(self, key: Key) -> Option<&'static Binding> {
        self.0.iter().find(|binding| binding.keys.contains(&key))
    }

    pub fn of(self, action: Action) -> Option<&'static Binding> {
        self.0.iter().find(|binding| binding.action == action)
    }

    /// The key that does this, as people read it; the first where there are several.
    pub fn first(self, action: Action) -> String {
        let key = self.of(action).and_then(|binding| binding.keys.first());
        key.map_or_else(|| "-".to_owned(), |key| names::shown(*key))
    }

    /// Those of the footer while the past is looked at.
    pub fn footer_of_the_past(self) -> Vec<&'static Binding> {
        let list =
            [Action::RecordBack, Action::RecordForth, Action::Present, Action::Checkpoints, Action::Full];
        list.into_iter().filter_map(|action| self.of(action)).collect()
    }

    /// Those of the footer, most wanted first.
    pub fn footer(self) -> Vec<&'static Binding> {
        let mut list: Vec<&Binding> = self.0.iter().filter(|binding| binding.footer.is_some()).collect();
        list.sort_by_key(|binding| binding.footer);
        list
    }
}

/// The table of the guide.
pub fn page() -> String {
    let mut page = String::new();
    for part in Part::ALL {
        page.push_str(&format!("**{}**\n\n| key | does | `tui.keys` |\n|---|---|---|\n", part.title()));
        for binding in KEYS.iter().filter(|binding| binding.part == part) {
            let (shown, name) = (binding.shown.replace('|', "\\|"), binding.name());
            page.push_str(&format!("| `{shown}` | {} | `{name}` |\n", binding.help));
        }
        page.push('\n');
    }
    page.trim_end().to_owned() + "\n"
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;

    use Key::{Char, Ctrl, Down, PageDown, PageUp, Up};

    #[test]
    fn no_key_does_two_things_and_every_word_is_its_own() {
        let mut seen: BTreeMap<Key, &str> = BTreeMap::new();
        for binding in KEYS {
            for key in binding.keys {
                if let Some(other) = seen.insert(*key, binding.word) {
                    panic!("{key:?} is both {other:?} and {:?}", binding.word);
                }
            }
        }
        let names: std::collections::BTreeSet<String> = KEYS.iter().map(Binding::name).collect();
        assert_eq!(names.len(), KEYS.len(), "a name stands for two actions");
        for binding in KEYS {
            let shown: Vec<String> = binding.keys.iter().map(|key| names::shown(*key)).collect();
            assert_eq!(binding.shown, shown.join(" "));
        }
    }

    #[test]
    fn moving_keys_only_move() {
        for key in [Char('j'), Char('k'), Up, Down, PageUp, PageDown, Ctrl('d'), Ctrl('u')] {
            assert_eq!(Keymap::default().binding(key).map(|b| b.part), Some(Part::Moving), "{key:?}");
        }
    }
}
