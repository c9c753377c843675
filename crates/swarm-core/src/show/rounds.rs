//! Submissions of a task's work, read off the records one after the other: the state knows the newest only.

use swarm_protocol::diff::RoundView;
use swarm_protocol::event::Event;
use swarm_protocol::gist::gist;
use swarm_protocol::ids::Oid;
use swarm_protocol::operation::SavedStage;
use swarm_protocol::time::Timestamp;

const APPROVED: &str = "approved";
/// With the reason: whoever approved it finds it before them again.
const NOT_MERGED: &str = "approved, not merged";

/// The kinds of records that [`note_round`] looks at: whoever reads a ledger need not read the others.
pub const KINDS_OF_ROUNDS: [&str; 11] = [
    "review_asked",
    "approval_voided",
    "merge_resolved",
    "changes_requested",
    "review_failed",
    "task_approved",
    "merge_failed",
    "nothing_changed",
    "verification_failed",
    "merge_completed",
    "task_restored",
];

/// Takes in a record about the task.
pub fn note_round(rounds: &mut Vec<RoundView>, event: Event, at: Timestamp) {
    let submitted = |commit: Oid, rounds: &mut Vec<RoundView>| {
        let round = rounds.len() + 1;
        rounds.push(RoundView { round, commit, at, verdict: None, notes: vec![] });
    };
    // What was approved and is void has been followed by another submission.
    let void = |why: &str, rounds: &mut Vec<RoundView>| {
        if let Some(last) = rounds.last_mut() {
            (last.verdict, last.notes) = (Some("approved, void".into()), vec![why.to_owned()]);
        }
    };
    let judged = |verdict: &str, notes: Vec<String>, rounds: &mut Vec<RoundView>| {
        if let Some(last) = rounds.last_mut().filter(|round| round.verdict.is_none()) {
            (last.verdict, last.notes) = (Some(verdict.to_owned()), notes);
        }
    };
    let merged = |(before, now): (&str, &str), notes: Vec<String>, rounds: &mut Vec<RoundView>| {
        if let Some(last) = rounds.last_mut().filter(|round| round.verdict.as_deref() == Some(before)) {
            (last.verdict, last.notes) = (Some(now.to_owned()), notes);
        }
    };
    match event {
        Event::ReviewAsked { tip, .. } => submitted(tip, rounds),
        Event::ApprovalVoided { tip, .. } => {
            void("its branch was changed afterwards", rounds);
            submitted(tip, rounds);
        }
        Event::MergeResolved { tip, .. } => {
            void("rules resolved its conflicts with trunk afterwards", rounds);
            submitted(tip, rounds);
        }
        Event::ChangesRequested { notes, .. } => {
            judged("needs changes", notes.iter().map(ToString::to_string).collect(), rounds);
        }
        Event::ReviewFailed { output, .. } => judged("needs changes", vec![gist(&output)], rounds),
        Event::TaskApproved { .. } => judged(APPROVED, vec![], rounds),
        Event::MergeFailed { why, .. } | Event::NothingChanged { why, .. } => {
            merged((APPROVED, NOT_MERGED), vec![gist(&why)], rounds);
        }
        Event::VerificationFailed { output, .. } => {
            let why = format!("its verification failed: {}", gist(&output));
            merged((APPROVED, NOT_MERGED), vec![why], rounds);
        }
        Event::MergeCompleted { .. } => merged((NOT_MERGED, APPROVED), vec![], rounds),
        // The verdict was undone.
        Event::TaskRestored { stage: Some(stage), .. } => {
            let submitted = match (&stage, stage.was()) {
                (SavedStage::Review { tip, .. }, _) | (_, Some(SavedStage::Review { tip, .. })) => Some(tip),
                _ => None,
            };
            if let Some(last) = rounds.last_mut().filter(|round| Some(&round.commit) == submitted) {
                (last.verdict, last.notes) = (None, vec![]);
            }
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use swarm_protocol::ids::{RunId, TaskId};
    use swarm_protocol::outcome::Next;
    use swarm_protocol::plan::{BlockKind, Status};

    use super::*;

    /// The arms of the match by the names of their records.
    #[test]
    fn every_kind_that_is_looked_at_is_in_the_list() {
        let source = include_str!("rounds.rs");
        let body = source.split("match event {").nth(1).and_then(|rest| rest.split("_ => {}").next());
        let mut kinds: Vec<String> = body
            .expect("a match")
            .split("Event::")
            .skip(1)
            .map(|arm| arm.split([' ', '{']).next().unwrap_or_default())
            .map(|name| {
                let snake =
                    |c: char| if c.is_uppercase() { format!("_{}", c.to_lowercase()) } else { c.to_string() };
                name.chars().map(snake).collect::<String>().trim_start_matches('_').to_owned()
            })
            .collect();
        let mut listed = KINDS_OF_ROUNDS.map(str::to_owned).to_vec();
        kinds.sort();
        listed.sort();
        assert_eq!(kinds, listed);
    }

    #[test]
    fn what_was_approved_and_failed_its_verification_says_so_where_it_is_reviewed_again() {
        let task = TaskId::new("1.1").expect("an id");
        let oid = |digit: char| Oid::new(digit.to_string().repeat(40)).expect("hex digits");
        let asked = || Event::ReviewAsked {
            task: task.clone(),
            status: Status::Review,
            tip: oid('b'),
            tree: oid('c'),
        };
        let approved = Event::TaskApproved {
            task: task.clone(),
            status: Status::Merging,
            tip: oid('b'),
            tree: oid('c'),
            policy: "human".into(),
            base: None,
            left_out: None,
        };
        let red = Event::VerificationFailed {
            task: task.clone(),
            status: Status::Pending,
            run: RunId::nth(2),
            output: "two tests failed".into(),
            next: Next::Pending { not_before: Timestamp::ZERO, counts: false },
        };
        let mut rounds = Vec::new();
        for event in [asked(), approved, red, asked()] {
            note_round(&mut rounds, event, Timestamp::ZERO);
        }
        let verdicts: Vec<Option<&str>> = rounds.iter().map(|round| round.verdict.as_deref()).collect();
        assert_eq!(verdicts, [Some(NOT_MERGED), None]);
        assert_eq!(rounds[0].notes, ["its verification failed: two tests failed"]);
    }
    #[test]
    fn a_verdict_that_was_undone_is_open_again_also_where_the_review_had_come_to_no_end() {
        let (task, tip) = (TaskId::new("1.1").expect("an id"), Oid::new("b".repeat(40)).expect("hex digits"));
        let tree = tip.clone();
        let (status, policy) = (Status::Merging, "human".to_owned());
        let asked = Event::ReviewAsked {
            task: task.clone(),
            status: Status::Review,
            tip: tip.clone(),
            tree: tree.clone(),
        };
        let approved = Event::TaskApproved {
            task: task.clone(),
            status,
            tip: tip.clone(),
            tree: tree.clone(),
            policy,
            base: None,
            left_out: None,
        };
        let was = Some(Box::new(SavedStage::Review { tip, tree, base: None }));
        let stage = SavedStage::Blocked { block: BlockKind::Review, why: "no verdict".into(), was };
        let (status, why) = (stage.status(), "undone".into());
        let undone = Event::TaskRestored { task, status, why, stage: Some(stage), waived: None, saved: None };
        let mut rounds = Vec::new();
        for event in [asked, approved, undone] {
            note_round(&mut rounds, event, Timestamp::ZERO);
        }
        assert_eq!((rounds.len(), rounds[0].verdict.as_deref()), (1, None));
    }
}
