//! Every command and every task by name.

use swarm_protocol::ids::TaskId;

use crate::dialog::{Dialog, Kind};
use crate::keys::{Action, Binding, Part};
use crate::model::Model;
use crate::typed::{Does, Typed};

/// Lines that are offered.
const FOUND_MAX: usize = 12;

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Entry {
    Action(Action),
    Task(TaskId),
    /// A command of the command line, with what was typed behind it.
    Typed(String),
}

/// What fits the typed text, best first.
pub fn found(model: &Model) -> Vec<Entry> {
    let Some(Dialog { kind: Kind::Palette { text, .. }, .. }) = &model.dialog else { return vec![] };
    let wanted = text.text().to_lowercase();
    let mut ranked: Vec<(usize, Entry)> = Vec::new();
    let works = |binding: &Binding| model.past.is_none() || binding.works_in_the_past();
    for binding in model.keys.all().iter().filter(|binding| binding.part != Part::Moving && works(binding)) {
        let rank = fits(&wanted, binding.word).or_else(|| Some(fits(&wanted, binding.help)? + 100));
        ranked.extend(rank.map(|rank| (rank, Entry::Action(binding.action))));
    }
    if !wanted.is_empty() {
        ranked.extend(typed(model, &text.text()));
        for row in model.rows() {
            let text = format!("{} {}", row.row.id, row.row.title);
            ranked.extend(fits(&wanted, &text).map(|rank| (rank + 50, Entry::Task(row.row.id.clone()))));
        }
    }
    ranked.sort_by_key(|(rank, _)| *rank);
    ranked.into_iter().take(FOUND_MAX).map(|(_, entry)| entry).collect()
}

/// The command that the line begins with, or those that it could become. A key does the same faster, so it comes first.
fn typed(model: &Model, line: &str) -> Vec<(usize, Entry)> {
    if let Some(command) = crate::typed::named(&model.commands, line) {
        let rank = usize::from(line.trim() == command.words);
        return vec![(rank, Entry::Typed(line.trim_start().to_owned()))];
    }
    let fits = |command: &Typed| {
        let rank = fits(&line.to_lowercase(), &command.words)?;
        Some((rank + 30, Entry::Typed(command.words.clone())))
    };
    // In the past only what looks is offered; whoever types another one to its end is told why not.
    let offered = |command: &&Typed| model.past.is_none() || command.does == Does::Reads;
    model.commands.iter().filter(offered).filter_map(fits).collect()
}

/// All letters in this order; the smaller the number, the closer together and the nearer to the beginning.
fn fits(wanted: &str, text: &str) -> Option<usize> {
    let text = text.to_lowercase();
    if let Some(at) = text.find(wanted) {
        return Some(at.min(20));
    }
    let (mut last, mut gaps) = (0, 20);
    let mut letters = text.char_indices();
    for letter in wanted.chars().filter(|c| !c.is_whitespace()) {
        let (at, _) = letters.find(|(_, c)| *c == letter)?;
        gaps += at - last;
        last = at;
    }
    Some(gaps)
}

#[cfg(test)]
mod tests {
    use super::fits;

    #[test]
    fn letters_in_order_are_found_and_whole_words_first() {
        assert!(fits("roll", "roll back") < fits("rlb", "roll back"));
        assert_eq!(fits("xyz", "roll back"), None);
    }
}
