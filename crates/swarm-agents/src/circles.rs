//! Notices that an agent does the same again and again. Looks only at which calls were made, so it is the same for
//! every program.

use std::collections::{BTreeMap, VecDeque};

/// Calls of the longest circle that is looked for: read, change, try, look.
const ROUND_MAX: usize = 4;

/// Equal calls after which something is said, and after which it is enough.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Patience {
    /// 0: nobody looks.
    pub note: u32,
    pub stop: u32,
}

/// What the newest call means. The text is for people and for the agent's next prompt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Seen {
    Nothing,
    /// Said once, until there is progress.
    Note(String),
    Enough(String),
}

#[derive(Debug)]
pub struct Circles {
    patience: Patience,
    /// The newest calls, newest last.
    calls: VecDeque<u64>,
    shown: BTreeMap<u64, String>,
    noted: bool,
}

impl Circles {
    pub fn new(patience: Patience) -> Self {
        Self { patience, calls: VecDeque::new(), shown: BTreeMap::new(), noted: false }
    }

    /// Something came of it: what was before does not count any more.
    pub fn progress(&mut self) {
        self.calls.clear();
        self.shown.clear();
        self.noted = false;
    }

    /// A call; `same` is equal for equal calls.
    pub fn called(&mut self, same: u64, shown: &str) -> Seen {
        let Patience { note, stop } = self.patience;
        if note == 0 {
            return Seen::Nothing;
        }
        self.remember(same, shown);
        let Some((length, rounds)) = self.longest() else { return Seen::Nothing };
        if rounds >= stop.max(2) {
            return Seen::Enough(self.sentence(length, rounds));
        }
        if rounds >= note.max(2) && !self.noted {
            self.noted = true;
            return Seen::Note(self.sentence(length, rounds));
        }
        Seen::Nothing
    }

    fn remember(&mut self, same: u64, shown: &str) {
        let most = ROUND_MAX * (self.patience.stop.max(self.patience.note) as usize + 1);
        self.calls.push_back(same);
        self.shown.entry(same).or_insert_with(|| shown.to_owned());
        if self.calls.len() > most
            && let Some(old) = self.calls.pop_front()
            && !self.calls.contains(&old)
        {
            self.shown.remove(&old);
        }
    }

    /// The circle that the newest calls are in, shortest first: its length, and how often it went round.
    fn longest(&self) -> Option<(usize, u32)> {
        let newest_first = |n: usize| self.calls.len().checked_sub(n + 1).map(|at| self.calls[at]);
        let mut best: Option<(usize, u32)> = None;
        for length in 1..=ROUND_MAX {
            let equal = (0..).take_while(|n| {
                newest_first(n + length).is_some_and(|earlier| newest_first(*n) == Some(earlier))
            });
            let rounds = equal.count() / length + 1;
            let rounds = u32::try_from(rounds).unwrap_or(u32::MAX);
            if rounds > 1 && best.is_none_or(|(_, most)| rounds > most) {
                best = Some((length, rounds));
            }
        }
        best
    }

    fn sentence(&self, length: usize, rounds: u32) -> String {
        let from = self.calls.len().saturating_sub(length);
        let calls: Vec<&str> = self
            .calls
            .iter()
            .skip(from)
            .filter_map(|same| self.shown.get(same))
            .map(String::as_str)
            .collect();
        match calls.as_slice() {
            [one] => format!("the same call {rounds} times in a row without a new commit: {one}"),
            several => format!(
                "the same {length} calls {rounds} times round without a new commit: {}",
                several.join("; ")
            ),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Each letter is a call, `!` a commit. Answers with what was said, and after how many letters.
    fn check(calls: &str, expected: &[(usize, &str)]) {
        let mut circles = Circles::new(Patience { note: 3, stop: 5 });
        let mut said = Vec::new();
        for (at, call) in calls.chars().enumerate() {
            if call == '!' {
                circles.progress();
                continue;
            }
            match circles.called(u64::from(u32::from(call)), &call.to_string()) {
                Seen::Nothing => {}
                Seen::Note(text) => said.push((at + 1, format!("note {text}"))),
                Seen::Enough(text) => {
                    said.push((at + 1, format!("enough {text}")));
                    break;
                }
            }
        }
        let expected: Vec<(usize, String)> =
            expected.iter().map(|(at, text)| (*at, (*text).to_owned())).collect();
        assert_eq!(said, expected, "{calls}");
    }

    #[test]
    fn equal_calls_are_noted_once_and_then_enough() {
        check(
            "xaaaaaaaa",
            &[
                (4, "note the same call 3 times in a row without a new commit: a"),
                (6, "enough the same call 5 times in a row without a new commit: a"),
            ],
        );
    }

    #[test]
    fn a_short_circle_is_one_too() {
        check(
            "xabababababab",
            &[
                (7, "note the same 2 calls 3 times round without a new commit: a; b"),
                (11, "enough the same 2 calls 5 times round without a new commit: a; b"),
            ],
        );
        check(
            "abcdabcdabcdabcdabcdabcd",
            &[
                (12, "note the same 4 calls 3 times round without a new commit: a; b; c; d"),
                (20, "enough the same 4 calls 5 times round without a new commit: a; b; c; d"),
            ],
        );
    }

    #[test]
    fn work_that_goes_on_is_none() {
        // A test after each of several different changes; the same test after commits; a long way round.
        check("atbtctdtetftgt", &[]);
        check("aa!aa!aa!aa!aa", &[]);
        check("abcdeabcdeabcdeabcde", &[]);
    }

    #[test]
    fn nobody_looks_where_a_person_does_not_want_it() {
        let mut circles = Circles::new(Patience { note: 0, stop: 2 });
        assert!((0..50).all(|_| circles.called(1, "a") == Seen::Nothing));
    }
}
