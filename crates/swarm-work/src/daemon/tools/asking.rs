//! What agents have asked the coordinator for and is not answered yet. Nothing of it is kept: an agent that lost its
//! answer asks again, and what was granted is granted.

use std::collections::BTreeMap;

use swarm_protocol::attempt::CallAnswer;
use swarm_protocol::channel::Upward;
use tokio::sync::oneshot;

use super::{AT_ONCE_MAX, Wanted};

#[derive(Debug, Default)]
pub struct Asking {
    asked: u64,
    waiting: BTreeMap<u64, oneshot::Sender<CallAnswer>>,
}

impl Asking {
    /// The frame that asks; none where nobody can be asked now, which the agent is told.
    pub fn asks(&mut self, wanted: Wanted, connected: bool) -> Option<Upward> {
        let Wanted { files, answer } = wanted;
        self.waiting.retain(|_, answer| !answer.is_closed());
        if !connected || self.waiting.len() >= AT_ONCE_MAX {
            let _ = answer.send(CallAnswer::refused(
                "nobody can be asked now, so nothing was reserved; ask again in a minute",
            ));
            return None;
        }
        self.asked += 1;
        self.waiting.insert(self.asked, answer);
        Some(Upward::Reserve { ask: self.asked, files })
    }

    pub fn answered(&mut self, ask: u64, answer: CallAnswer) {
        if let Some(waiting) = self.waiting.remove(&ask) {
            let _ = waiting.send(answer);
        }
    }

    /// The coordinator is gone, and whether it had heard is not known.
    pub fn lost(&mut self) {
        for (_, waiting) in std::mem::take(&mut self.waiting) {
            let _ = waiting.send(CallAnswer::refused(
                "the connection was lost before the answer came; ask again: what was granted stays granted",
            ));
        }
    }
}

#[cfg(test)]
mod tests {
    use swarm_protocol::attempt::{ReserveArgs, ReserveMode};

    use super::*;

    fn wanted() -> (Wanted, oneshot::Receiver<CallAnswer>) {
        let (answer, answered) = oneshot::channel();
        let files = ReserveArgs { globs: vec!["src/**".into()], mode: ReserveMode::Exclusive };
        (Wanted { files, answer }, answered)
    }

    #[test]
    fn each_answer_goes_to_the_one_who_asked_and_a_late_one_to_nobody() {
        let mut asking = Asking::default();
        let ((first, mut one), (second, mut two)) = (wanted(), wanted());
        assert!(matches!(asking.asks(first, true), Some(Upward::Reserve { ask: 1, .. })));
        assert!(matches!(asking.asks(second, true), Some(Upward::Reserve { ask: 2, .. })));
        asking.answered(2, CallAnswer::done("second"));
        assert_eq!(two.try_recv().map(|answer| answer.text), Ok("second".into()));
        asking.lost();
        assert!(one.try_recv().is_ok_and(|answer| !answer.ok && answer.text.contains("ask again")));
        asking.answered(1, CallAnswer::done("too late"));
    }

    #[test]
    fn without_a_coordinator_and_with_too_many_waiting_the_answer_comes_at_once() {
        let mut asking = Asking::default();
        let (alone, mut answer) = wanted();
        assert!(asking.asks(alone, false).is_none());
        assert!(answer.try_recv().is_ok_and(|answer| !answer.ok));
        let waiting: Vec<_> = (0..AT_ONCE_MAX)
            .map(|_| {
                let (one, answer) = wanted();
                assert!(asking.asks(one, true).is_some());
                answer
            })
            .collect();
        assert!(asking.asks(wanted().0, true).is_none());
        drop(waiting);
        assert!(asking.asks(wanted().0, true).is_some(), "those that gave up make room");
    }
}
