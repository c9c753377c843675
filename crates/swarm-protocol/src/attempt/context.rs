//! What an agent is told about its own task when it asks, as it was at the start of its iteration.

use serde::{Deserialize, Serialize};

/// Bytes of it as JSON. Programs cut longer results off in the middle.
pub const CONTEXT_MAX: usize = 16 * 1024;

/// Below this no text is cut any more.
const TEXT_KEEP: usize = 40;

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TaskContext {
    pub task: String,
    pub title: String,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub goal: String,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub description: String,
    pub acceptance: Vec<String>,
    pub files: Vec<String>,
    /// Finished tasks that it builds on.
    pub builds_on: Vec<Neighbour>,
    /// Tasks that wait for it.
    pub unblocks: Vec<Neighbour>,
    /// Commands that have to succeed when it is complete.
    pub checks: Vec<String>,
    pub reserved: Reservations,
    /// Words of people, oldest first.
    pub messages: Vec<Said>,
    pub learnings: Vec<String>,
    pub branch: String,
    pub attempt: u32,
    pub iteration: u32,
    pub max_iterations: u32,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_failure: Option<String>,
    /// Some of it was too long and is not all here.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub cut: bool,
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Neighbour {
    pub id: String,
    pub title: String,
}

/// Files that somebody has for themselves.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Reservations {
    pub own: Vec<String>,
    pub by_others: Vec<String>,
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Said {
    pub by: String,
    pub at: String,
    pub text: String,
}

impl TaskContext {
    /// With its longest texts and lists shortened until all of it has its place. Of messages and learnings the newest stay.
    pub fn bounded(mut self) -> Self {
        let (mut text, mut rows) = (4096, 64);
        while self.cut_to(text, rows) > CONTEXT_MAX && text > TEXT_KEEP {
            (text, rows) = (text / 2, rows / 2 + 2);
        }
        self
    }

    fn cut_to(&mut self, text: usize, rows: usize) -> usize {
        let mut cut = self.cut;
        for place in [&mut self.title, &mut self.goal, &mut self.description, &mut self.branch] {
            cut |= shorten(place, text);
        }
        cut |= self.last_failure.as_mut().is_some_and(|place| shorten(place, text));
        let Reservations { own, by_others } = &mut self.reserved;
        for list in [&mut self.acceptance, &mut self.files, &mut self.checks, own, by_others] {
            cut |= first(list, rows) | list.iter_mut().fold(false, |any, place| shorten(place, text) | any);
        }
        for list in [&mut self.builds_on, &mut self.unblocks] {
            cut |= first(list, rows);
            cut |= list.iter_mut().fold(false, |any, other| shorten(&mut other.title, text) | any);
        }
        cut |= last(&mut self.learnings, rows) | last(&mut self.messages, rows);
        cut |= self.learnings.iter_mut().fold(false, |any, place| shorten(place, text) | any);
        cut |= self.messages.iter_mut().fold(false, |any, said| shorten(&mut said.text, text) | any);
        self.cut = cut;
        serde_json::to_vec(self).map_or(0, |bytes| bytes.len())
    }
}

fn shorten(text: &mut String, most: usize) -> bool {
    let longer = text.len() > most;
    if longer {
        text.truncate(text.floor_char_boundary(most));
    }
    longer
}

fn first<T>(list: &mut Vec<T>, most: usize) -> bool {
    let longer = list.len() > most;
    list.truncate(most);
    longer
}

fn last<T>(list: &mut Vec<T>, most: usize) -> bool {
    let before = list.len().saturating_sub(most);
    list.drain(..before);
    before > 0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_largest_task_has_its_place_and_says_that_it_was_cut() {
        let long = || "\u{1f600}\"\\\n".repeat(10_000);
        let many = || vec![long(); 1_000];
        let said = Said { by: "person:cli".into(), at: "now".into(), text: long() };
        let context = TaskContext {
            task: "1.1".into(),
            title: long(),
            description: long(),
            acceptance: many(),
            files: many(),
            builds_on: vec![Neighbour { id: "1.2".into(), title: long() }; 1_000],
            checks: many(),
            reserved: Reservations { own: many(), by_others: many() },
            messages: vec![said; 100],
            learnings: many(),
            last_failure: Some(long()),
            ..TaskContext::default()
        };
        let bounded = context.bounded();
        let bytes = serde_json::to_vec(&bounded).expect("JSON").len();
        assert!(bounded.cut && bytes <= CONTEXT_MAX, "{bytes}");
        assert_eq!(bounded.task, "1.1");
    }

    #[test]
    fn the_newest_messages_stay_and_a_small_task_is_left_alone() {
        let said = |n: u32| Said { by: "a".into(), at: n.to_string(), text: "x".repeat(3_000) };
        let context = TaskContext { messages: (0..20).map(said).collect(), ..TaskContext::default() };
        let kept = context.bounded().messages;
        assert_eq!(kept.last().map(|said| said.at.as_str()), Some("19"));
        let small = TaskContext { title: "Do it".into(), goal: "g".into(), ..TaskContext::default() };
        assert_eq!(small.clone().bounded(), small);
    }
}
