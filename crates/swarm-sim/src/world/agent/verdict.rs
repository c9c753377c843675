//! What checks, reviews and verifications come to.

use swarm_core::effect::ReviewingAgent;
use swarm_core::input::Report;
use swarm_protocol::channel::Answered;
use swarm_protocol::failure::{Failure, FailureClass, Usage};
use swarm_protocol::ids::{Oid, RunId, TaskId};
use swarm_protocol::judgement::Judgement;
use swarm_protocol::outcome::Ended;

use super::REVIEWERS_SESSION;
use crate::world::daemon::Doing;
use crate::world::fault::Fault;
use crate::world::story::Story;

impl Story {
    pub(super) fn checks_end(&mut self, run: &RunId, task: &TaskId, iteration: u32, waived: bool) {
        let Some(tip) = self.truth.worktrees.get(task).map(|w| w.tip.clone()) else { return };
        let red = self.strikes(Fault::ChecksRed, 15);
        if !red {
            self.truth.green_tips.insert(tip.clone());
        }
        if let Some(daemon) = self.daemons.get_mut(run) {
            daemon.turn_to(Doing::Waiting);
            daemon.checked = Some(iteration);
        }
        let (passed, output) = (waived || !red, if red { "1 test failed".into() } else { String::new() });
        self.say(
            run,
            Report::Checked {
                run: run.clone(),
                iteration,
                passed,
                tree: tip.clone(),
                tip,
                output,
                gate: None,
            },
        );
        self.obey(run);
    }

    pub(super) fn review_ends(
        &mut self,
        run: &RunId,
        task: &TaskId,
        tip: &Oid,
        agent: Option<&ReviewingAgent>,
    ) {
        if self.strikes(Fault::ReviewLost, 6) {
            return self.last_word(run, Ended::Lost { text: "killed".into() });
        }
        let passed = !self.strikes(Fault::ReviewRed, 15);
        self.says_verdict(run);
        if let Some(agent) = agent {
            let answered = self.answer(run, tip, passed, agent);
            return self.say(run, Report::ReviewAnswered { run: run.clone(), task: task.clone(), answered });
        }
        if passed {
            self.truth.reviewed_tips.insert(tip.clone());
        }
        let output = if passed { String::new() } else { "please do it another way".into() };
        self.say(run, Report::Reviewed { run: run.clone(), task: task.clone(), passed, output });
    }

    /// A verdict, something that is none, or nothing at all.
    fn answer(&mut self, run: &RunId, tip: &Oid, passed: bool, agent: &ReviewingAgent) -> Answered {
        let begun = || format!("{REVIEWERS_SESSION}{run}");
        let session = self.rng.chance(70).then(|| agent.session.clone().unwrap_or_else(begun));
        let usage = Usage { input_tokens: self.rng.between(1, 50), ..Usage::default() };
        let mut answered = Answered { text: String::new(), failure: None, usage, session };
        if self.strikes(Fault::ReviewNonsense, 8) {
            answered.text = (*self.rng.pick(&["looks good", "{}", r#"{"verdict":"needs_changes"}"#])).into();
        } else if self.strikes(Fault::ProgramFails, 9) {
            let class = *self.rng.pick(&FailureClass::ALL);
            answered.failure = Some(Failure::new(class, "in so many words"));
        } else if passed {
            self.truth.reviewed_tips.insert(tip.clone());
            let good = [r#"{"verdict":"approve"}"#, r#"{"verdict":"concerns","issues":[{"text":"slow"}]}"#];
            answered.text = (*self.rng.pick(&good)).into();
        } else {
            answered.text = r#"{"verdict":"needs_changes","issues":[{"text":"another way"}]}"#.into();
        }
        if let (Some(member), Ok(judgement)) = (&agent.member, Judgement::read(&answered.text)) {
            let voices = self.truth.voices.entry(tip.clone()).or_default();
            voices.insert(member.clone(), judgement.voice);
        }
        answered
    }

    /// The process is gone, and its verdict is its last word.
    pub fn says_verdict(&mut self, run: &RunId) {
        if let Some(daemon) = self.daemons.get_mut(run) {
            daemon.vanishes();
            daemon.exit = Some(Ended::Stopped);
        }
    }

    pub(super) fn verification_ends(&mut self, run: &RunId, task: &TaskId, commit: &Oid) {
        if self.strikes(Fault::VerifyLost, 5) {
            return self.last_word(run, Ended::Lost { text: "killed".into() });
        }
        // What stands on a red trunk is red whoever made it; trunk alone is red only then.
        let on_red = self.truth.stands_on_red(commit);
        let own_fault = !self.truth.trunk_has(commit) && self.strikes(Fault::VerifyRed, 8);
        let passed = !on_red && !own_fault;
        if passed {
            self.truth.green_results.insert(commit.clone());
        }
        self.says_verdict(run);
        let output = if passed { String::new() } else { "1 test failed".into() };
        self.say(run, Report::Verified { run: run.clone(), task: task.clone(), passed, output });
    }
}
