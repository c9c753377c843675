//! Events of a review: asked for, started, its verdict, its loss.

use swarm_protocol::channel::RunKind;
use swarm_protocol::council::{Seat, Voice};
use swarm_protocol::event::Event;
use swarm_protocol::ids::{Oid, RunId, TaskId};
use swarm_protocol::outcome::{Ended, Next};
use swarm_protocol::review::ReviewNote;
use swarm_protocol::time::Timestamp;

use crate::stage::Stage;
use crate::state::{Run, State, Task};
use crate::text::tail;

impl State {
    /// True when the event was one of a review.
    pub(super) fn apply_review(&mut self, event: &Event, at: Timestamp) -> bool {
        match event {
            Event::ReviewAsked { task, tip, tree, .. } => self.ask_review(task, tip, tree, at),
            Event::ReviewStarted { task, run, nonce, profile, member, .. } => {
                self.claim_run(RunKind::Review, task, run, nonce, at);
                if let Some(claimed) = self.runs.get_mut(run) {
                    claimed.profile.clone_from(profile);
                    claimed.member.clone_from(member);
                }
                self.change(task, |t| {
                    if let Stage::Review { run: current, beside, .. } = &mut t.stage {
                        beside.extend(current.replace(run.clone()).filter(|_| member.is_some()));
                    }
                });
            }
            Event::CouncilSpoke { task, run, member, tree, round, voice, said, notes } => {
                self.end(run);
                let seat = Seat {
                    tree: tree.clone(),
                    round: *round,
                    run: run.clone(),
                    voice: *voice,
                    said: tail(said),
                    notes: notes.clone(),
                    at,
                };
                self.change(task, |t| {
                    no_longer_judges(t, run);
                    t.transient_retries = 0;
                    t.council_lost.remove(member);
                    t.council.insert(member.clone(), seat);
                });
            }
            Event::ReviewAnswered { task, run, usage, session, .. } => {
                self.spend(task, run, usage.unwrap_or_default());
                let conversation = self.runs.get(run).and_then(Run::conversation);
                if let (Some(conversation), Some(session)) = (conversation, session) {
                    self.review_sessions.insert(conversation, session.clone());
                }
            }
            Event::ReviewFailed { task, run, output, next, .. } => {
                self.end(run);
                self.change(task, |t| {
                    t.sent_back = in_review(t);
                    t.review_rounds += 1;
                    t.transient_retries = 0;
                    t.last_failure = Some(tail(output));
                    t.changes_wanted.clone_from(&t.last_failure);
                });
                self.follow(task, next, at);
            }
            Event::ChangesRequested { task, notes, next, run, tip, .. } => {
                self.send_back(task, notes, run.as_ref(), tip);
                self.follow(task, next, at);
            }
            Event::ReviewLost { task, run, next, why, counts, .. } => {
                let blocked = matches!(next, Next::Blocked { .. });
                self.lose_review(task, run, blocked, counts.unwrap_or(true), why);
                self.follow(task, next, at);
            }
            Event::ReviewInterrupted { task, .. } => {
                if let Some(Stage::Review { tip, tree, since, .. }) =
                    self.tasks.get(task).map(|t| t.stage.clone())
                {
                    let not_before = Timestamp::ZERO;
                    self.enter(
                        task,
                        Stage::Review { tip, tree, since, not_before, run: None, beside: vec![] },
                    );
                }
            }
            _ => return false,
        }
        true
    }

    fn ask_review(&mut self, task: &TaskId, tip: &Oid, tree: &Oid, at: Timestamp) {
        let (tip, tree) = (tip.clone(), tree.clone());
        self.enter(
            task,
            Stage::Review { tip, tree, since: at, not_before: Timestamp::ZERO, run: None, beside: vec![] },
        );
        // Who had no verdict is asked once more.
        self.change(task, |t| {
            t.council.retain(|_, seat| seat.voice != Voice::Absent);
            t.council_lost.clear();
            t.conflicts_in.clear();
        });
    }

    fn send_back(&mut self, task: &TaskId, notes: &[ReviewNote], run: Option<&RunId>, tip: &Oid) {
        let lines: Vec<String> = notes.iter().map(|note| format!("- {note}")).collect();
        let by_council = self.tasks.get(task).is_some_and(|t| t.seats().next().is_some());
        let who = match run {
            Some(_) if by_council => "The council",
            Some(_) => "The reviewer",
            None => "A person",
        };
        let said = format!("{who} reviewed the work and wants changes:\n{}", lines.join("\n"));
        if let Some(run) = run {
            self.end(run);
        }
        self.change(task, |t| {
            t.sent_back = Some(tip.clone());
            t.review_rounds += 1;
            t.transient_retries = 0;
            t.last_failure = Some(tail(&said));
            t.changes_wanted.clone_from(&t.last_failure);
        });
    }

    fn lose_review(&mut self, task: &TaskId, run: &RunId, blocked: bool, counts: bool, why: &str) {
        // A conversation that led to nothing is not gone on with.
        let conversation = self.runs.get(run).and_then(Run::conversation);
        let by_council = self.tasks.get(task).is_some_and(|t| t.seats().next().is_some());
        let by_agent = conversation.is_some() || by_council;
        if let Some(conversation) = conversation {
            self.review_sessions.remove(&conversation);
        }
        self.end(run);
        let member = self.runs.get(run).and_then(|run| run.member.clone());
        self.change(task, |t| {
            no_longer_judges(t, run);
            if let Some(member) = member.filter(|_| counts) {
                *t.council_lost.entry(member).or_default() += 1;
            }
        });
        let asks_person = by_agent && blocked;
        self.change(task, |t| {
            t.transient_retries = t.transient_retries.saturating_add(u32::from(counts));
            // Nothing is wrong with the work: whoever takes the task up checks it and does not do it again.
            if asks_person {
                t.submitted = in_review(t);
                t.last_end = Some(Ended::Lost { text: why.to_owned() });
            }
        });
    }
}

/// The run has said what it had to say; others of the council may go on.
fn no_longer_judges(task: &mut Task, run: &RunId) {
    if let Stage::Review { run: current, beside, .. } = &mut task.stage {
        beside.retain(|other| other != run);
        if current.as_ref() == Some(run) {
            *current = beside.pop();
        }
    }
}

/// The commit that is being reviewed.
fn in_review(task: &Task) -> Option<Oid> {
    match &task.stage {
        Stage::Review { tip, .. } => Some(tip.clone()),
        _ => None,
    }
}
