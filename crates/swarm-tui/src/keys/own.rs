//! Keys of one's own: what the configuration says, checked as a whole before any of it holds.

use std::collections::BTreeMap;

use swarm_protocol::near::distance;

use super::{Action, Binding, KEYS, Keymap, names};
use crate::input::Key;

/// Why the wishes cannot be, and which of them is to blame.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Wrong {
    /// The name as it was written.
    pub name: String,
    pub why: String,
    pub hint: String,
}

/// The table with these keys in place of its own, by the name of what they do. Lives as long as the program: it is made once.
pub fn with_own(wishes: &BTreeMap<String, String>) -> Result<Keymap, Wrong> {
    if wishes.is_empty() {
        return Ok(Keymap::default());
    }
    let mut table: Vec<Binding> = KEYS.to_vec();
    for (name, text) in wishes {
        let wrong = |why: String, hint: String| Wrong { name: name.clone(), why, hint };
        let Some(binding) = table.iter_mut().find(|binding| binding.name() == *name) else {
            return Err(wrong(format!("nothing is called {name:?}"), near(name)));
        };
        let mut keys = Vec::new();
        for word in text.split_whitespace() {
            let unknown = || wrong(format!("{word:?} is no key"), format!("A key is {}", names::all()));
            keys.push(names::read(word).ok_or_else(unknown)?);
        }
        // Whoever can neither go back nor leave is locked in.
        if keys.is_empty() && matches!(binding.action, Action::Back | Action::Quit | Action::Interrupt) {
            return Err(wrong("it needs a key".into(), "Name one, or leave it out".into()));
        }
        let shown = keys.iter().map(|key| names::shown(*key)).collect::<Vec<_>>().join(" ");
        binding.keys = keys.leak();
        binding.shown = shown.leak();
    }
    clash(&table, wishes).map_or_else(|| Ok(Keymap(table.leak())), Err)
}

/// A key that would do two things.
fn clash(table: &[Binding], wishes: &BTreeMap<String, String>) -> Option<Wrong> {
    let mut seen: BTreeMap<Key, String> = BTreeMap::new();
    for binding in table {
        let name = binding.name();
        for key in binding.keys {
            let Some(other) = seen.insert(*key, name.clone()) else { continue };
            let (name, other) = if wishes.contains_key(&name) { (name, other) } else { (other, name) };
            let key = names::shown(*key);
            let why = format!("{key} would be both {name} and {other}");
            let hint = format!("Give {other} another key as well: \"{other}\": \"…\"");
            return Some(Wrong { name, why, hint });
        }
    }
    None
}

fn near(name: &str) -> String {
    let all = KEYS.iter().map(Binding::name);
    let best = all.map(|known| (distance(name, &known), known)).min();
    match best.filter(|(far, known)| *far <= 1 + known.len() / 3) {
        Some((_, known)) => format!("Did you mean {known}?"),
        None => "docs/reference/keys.md names everything that has a key, as `?` does on the screen".into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn own(wishes: &[(&str, &str)]) -> Result<Keymap, Wrong> {
        with_own(&wishes.iter().map(|(name, keys)| ((*name).to_owned(), (*keys).to_owned())).collect())
    }

    #[test]
    fn keys_of_ones_own_take_the_place_of_the_tables() {
        let map = own(&[("stop", "Ctrl+x"), ("kill", "s X"), ("hint", "")]);
        assert_eq!(map.map_err(|wrong| wrong.name), Err("hint".into()), "there is no such thing");
        let map = own(&[("stop", "Ctrl+x"), ("kill", "s X"), ("what-helps", "")]).expect("no clash");
        let does = |key| map.binding(key).map(|binding| binding.action);
        assert_eq!(does(Key::Ctrl('x')), Some(Action::Stop));
        assert_eq!((does(Key::Char('s')), does(Key::Char('X'))), (Some(Action::Kill), Some(Action::Kill)));
        assert_eq!((does(Key::Char('x')), does(Key::Char('!'))), (None, None));
        assert_eq!(map.of(Action::Kill).map(|binding| binding.shown), Some("s X"));
        assert_eq!((map.first(Action::Stop), map.first(Action::Hint)), ("Ctrl+X".into(), "-".into()));
    }

    #[test]
    fn what_cannot_be_is_refused_by_name() {
        let said = |wishes: &[(&str, &str)]| own(wishes).map_err(|wrong| (wrong.name, wrong.why, wrong.hint));
        let (name, why, hint) = said(&[("stop", "x")]).expect_err("a clash");
        assert_eq!((name.as_str(), why.as_str()), ("stop", "x would be both stop and kill"));
        assert!(hint.contains("\"kill\""), "{hint}");
        let (_, why, hint) = said(&[("stopp", "x")]).expect_err("unknown");
        assert_eq!((why.as_str(), hint.as_str()), ("nothing is called \"stopp\"", "Did you mean stop?"));
        let (_, why, _) = said(&[("stop", "Hyper+x")]).expect_err("no key");
        assert_eq!(why, "\"Hyper+x\" is no key");
        let (_, why, _) = said(&[("back", " ")]).expect_err("locked in");
        assert_eq!(why, "it needs a key");
    }
}
