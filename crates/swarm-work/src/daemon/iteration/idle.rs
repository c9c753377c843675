//! Turns that end without a word of it and leave everything as it was: the next one would be like them, and is paid for.

use swarm_protocol::channel::IterationOutcome;
use swarm_protocol::failure::{Failure, FailureClass};
use swarm_protocol::ids::Oid;

/// What a turn leaves. Two that leave the same have brought nothing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Remains {
    pub tip: Option<Oid>,
    /// The tree of what is not committed.
    pub unsaved: Option<Oid>,
    /// How far the work is, as the agent says.
    pub percent: u8,
}

/// How many turns in a row brought nothing.
#[derive(Debug, Default)]
pub struct Idle {
    last: Option<Remains>,
    turns: u32,
}

impl Idle {
    /// A turn that did bring something, or that cannot be judged.
    pub fn over(&mut self) {
        *self = Self::default();
    }

    /// A turn ended without a word. The failure that it is once there were `enough` like it; never, where that is 0.
    pub fn ended(&mut self, left: Remains, enough: u32) -> Option<IterationOutcome> {
        let same = self.last.as_ref() == Some(&left);
        self.turns = if same { self.turns + 1 } else { 0 };
        self.last = Some(left);
        if enough == 0 || self.turns < enough {
            return None;
        }
        let text =
            format!("{} iterations in a row changed nothing and did not say that it is done", self.turns);
        // Whoever is told so gets as many again.
        self.turns = 0;
        Some(IterationOutcome::Failed { failure: Failure::new(FailureClass::Looping, text) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn left(tree: &str, percent: u8) -> Remains {
        Remains { tip: None, unsaved: Oid::new(tree.repeat(40)).ok(), percent }
    }

    fn check(turns: &[(Remains, bool)], enough: u32) {
        let mut idle = Idle::default();
        for (n, (left, fails)) in turns.iter().enumerate() {
            assert_eq!(idle.ended(left.clone(), enough).is_some(), *fails, "turn {n}");
        }
    }

    #[test]
    fn turns_that_change_nothing_are_enough_at_some_time_and_whoever_is_told_gets_as_many_again() {
        let same = |fails| (left("a", 0), fails);
        check(&[same(false), same(false), same(true), same(false), same(true)], 2);
    }

    #[test]
    fn a_change_or_a_word_of_progress_begins_the_count_anew() {
        check(
            &[
                (left("a", 0), false),
                (left("a", 0), false),
                (left("b", 0), false),
                (left("b", 0), false),
                (left("b", 10), false),
                (left("b", 10), false),
                (left("b", 10), true),
            ],
            2,
        );
    }

    #[test]
    fn whoever_wants_no_limit_has_none() {
        check(&vec![(left("a", 0), false); 60], 0);
    }
}
