//! Crashes: the task stays with its agent, which begins again later each time, until it is taken out of service.

use std::collections::{BTreeMap, VecDeque};

use swarm_core::input::{Input, Report};
use swarm_core::stage::Stage;
use swarm_core::state::State;
use swarm_core::{step, wakes_at};
use swarm_protocol::channel::IterationOutcome;
use swarm_protocol::command::{Command, Envelope};
use swarm_protocol::failure::Usage;
use swarm_protocol::ids::{AgentId, CommandId, RunId};
use swarm_protocol::outcome::PauseReason;
use swarm_protocol::plan::BlockKind;
use swarm_protocol::time::Timestamp;

use crate::check;
use crate::script::{Play, id, oid};

#[test]
fn an_agent_that_crashed_keeps_its_task_and_its_slot() {
    check(
        "plan a b | start | ready a | crash a | stopped a | agents | +1s | +2s | agents",
        r"
            a: Pending → Preparing r1 → Active 1 → Restarting ed-001 (in 3 s) → Preparing r2
            b: Pending
            agent ed-001: a crashed, restarts at 10:00:02 UTC
            agent ed-001: a preparing
            owed: Prepare r2
        ",
    );
    check(
        "plan a | start | ready a | lost a | stopped a | +60s",
        r"
            a: Pending → Preparing r1 → Active 1 → Restarting ed-001 (in 3 s) → Preparing r2
            owed: Prepare r2
        ",
    );
}

#[test]
fn during_the_delay_people_can_do_what_they_can_do_with_a_working_agent() {
    check(
        "plan a | start | ready a | crash a | stopped a | block a | unblock a",
        r"
            a: Pending → Preparing r1 → Active 1 → Restarting ed-001 (in 3 s) → Blocked (human) → Pending → Preparing r2
            owed: Prepare r2
        ",
    );
    check(
        "plan a | start | ready a | crash a | stopped a | stop a | go a",
        r"
            a: Pending → Preparing r1 → Active 1 → Restarting ed-001 (in 3 s) → Pending → Preparing r2
            owed: Prepare r2
        ",
    );
    check(
        "plan a | start | ready a | crash a | stop a | defer a | cancel a",
        r"
            a: Pending → Preparing r1 → Active 1 → Restarting ed-001 (in 3 s) → Pending → Deferred → Cancelled
            owed: Stop r1
        ",
    );
    check(
        "plan a | start | ready a | crash a | stopped a | pause | +60s | resume",
        r"
            a: Pending → Preparing r1 → Active 1 → Restarting ed-001 (in 3 s) → Preparing r2
            owed: Prepare r2
        ",
    );
    check(
        "plan a | start | ready a | crash a | stopped a | drain | leave | start",
        r"
            a: Pending → Preparing r1 → Active 1 → Restarting ed-001 (in 3 s) → Pending (in 3 s)
        ",
    );
}

#[test]
fn a_run_that_lived_long_enough_starts_the_count_anew() {
    check(
        "plan a | start | ready a | +400s | crash a | stopped a | +60s | ready a | +400s | crash a | stopped a | +60s | agents",
        r"
            a: Pending → Preparing r1 → Active 1 → Restarting ed-001 (in 3 s) → Preparing r2 → Active 1 → Restarting ed-001 (in 3 s) → Preparing r3
            agent ed-001: a preparing
            owed: Prepare r3
        ",
    );
}

#[test]
fn after_more_than_five_crashes_in_half_an_hour_the_agent_is_out_of_service_and_another_one_takes_the_task() {
    check(
        "plan a | start | ready a | crash a | stopped a | +60s | ready a | crash a | stopped a | +60s | ready a | crash a | stopped a | +60s | ready a | crash a | stopped a | +60s | ready a | crash a | stopped a | +60s | ready a | crash a | stopped a | +60s | agents | attention",
        r#"
            a: Pending → Preparing r1 → Active 1 → Restarting ed-001 (in 3 s) → Preparing r2 → Active 1 → Restarting ed-001 (in 5 s) → Preparing r3 → Active 1 → Restarting ed-001 (in 9 s) → Preparing r4 → Active 1 → Restarting ed-001 (in 18 s) → Preparing r5 → Active 1 → Restarting ed-001 (in 39 s) → Preparing r6 → Active 1 → Pending (in 3 s) → Preparing r7
            agent ada-002: a preparing
            out of service: ed-001 (6 crashes within 30 minutes, the last one: crashed with exit code 1: output)
            attention: Agent ed-001 is out of service (6 crashes within 30 minutes, the last one: crashed with exit code 1: output) ["swarm agent revive ed-001"]
            owed: Prepare r7
        "#,
    );
    check(
        "plan a | start | ready a | crash a | stopped a | +60s | ready a | crash a | stopped a | +60s | ready a | crash a | stopped a | +60s | ready a | crash a | stopped a | +60s | ready a | crash a | stopped a | +60s | ready a | crash a | stopped a | revive ed-001 | +60s | agents | revive ed-001 | revive ed-009",
        r"
            a: Pending → Preparing r1 → Active 1 → Restarting ed-001 (in 3 s) → Preparing r2 → Active 1 → Restarting ed-001 (in 5 s) → Preparing r3 → Active 1 → Restarting ed-001 (in 9 s) → Preparing r4 → Active 1 → Restarting ed-001 (in 18 s) → Preparing r5 → Active 1 → Restarting ed-001 (in 39 s) → Preparing r6 → Active 1 → Pending (in 3 s) → Preparing r7
            agent ed-001: a preparing
            refused: Agent ed-001 is in service: nothing would change (try swarm status)
            refused: There is no agent ed-009: nothing would change (try swarm status)
            owed: Prepare r7
        ",
    );
}

#[test]
fn a_task_that_crashes_its_agent_slowly_costs_a_retry_all_the_same() {
    check(
        "plan a | start | ready a | +400s | crash a | stopped a | +60s | ready a | +400s | crash a | stopped a | +60s | ready a | +400s | crash a | stopped a | +60s | ready a | +400s | crash a | stopped a | +60s | ready a | +400s | crash a | stopped a | +60s | ready a | +400s | crash a | stopped a | agents",
        r"
            a: Pending → Preparing r1 → Active 1 → Restarting ed-001 (in 3 s) → Preparing r2 → Active 1 → Restarting ed-001 (in 3 s) → Preparing r3 → Active 1 → Restarting ed-001 (in 3 s) → Preparing r4 → Active 1 → Restarting ed-001 (in 3 s) → Preparing r5 → Active 1 → Restarting ed-001 (in 3 s) → Preparing r6 → Active 1 → Pending (in 3 s)
        ",
    );
}

#[test]
fn a_task_whose_owner_was_found_dead_is_tried_again_and_pays_for_it() {
    check(
        "plan a | start | ready a | orphaned a | stopped a | +60s",
        r"
            a: Pending → Preparing r1 → Active 1 → Pending (in 3 s) → Preparing r2
            owed: Prepare r2
        ",
    );
}

#[test]
fn silence_is_told_to_the_agent_once_and_is_a_crash_the_second_time() {
    check(
        "plan a | start | ready a | fails a stalled | stage a | fails a stalled | stopped a | +60s",
        r"
            a: Pending → Preparing r1 → Active 1 → Active 2 → Restarting ed-001 (in 3 s) → Preparing r2
            stage a: working, iteration 2
            owed: Prepare r2
        ",
    );
}

#[test]
fn a_tool_loop_is_told_to_the_agent_once_and_is_a_timeout_the_second_time() {
    check(
        "plan a | start | ready a | notes a | notes a | fails a looping | fails a looping | stopped a | +60s",
        r"
            a: Pending → Preparing r1 → Active 1 → Active 2 → Pending (in 3 s) → Preparing r2
            owed: Prepare r2
        ",
    );
    check(
        "plan a | start | ready a | fails a looping | fails a stalled",
        r"
            a: Pending → Preparing r1 → Active 1 → Active 2 → Restarting ed-001 (in 3 s)
            owed: Stop r1
        ",
    );
}

#[test]
fn an_orphan_waits_for_a_person_where_that_is_wanted() {
    check(
        "plan a | start orphaning | ready a | orphaned a | stopped a | stage a",
        r"
            a: Pending → Preparing r1 → Active 1 → Blocked (human)
            stage a: blocked (human): its owner was found dead: no exit record; `recovery.autoResetOrphaned` is off
        ",
    );
}

/// A task whose agents all die, and a person who at once lets go on whatever waits for one.
struct Dying {
    state: State,
    now: Timestamp,
    asked: u64,
    deaths: u64,
    last: Timestamp,
    /// When each agent died, within the window.
    of_agent: BTreeMap<AgentId, VecDeque<Timestamp>>,
    /// Since a person was last asked about the task.
    in_vain: u32,
    /// Nobody has said a word since the last death.
    by_itself: bool,
}

impl Dying {
    fn takes(&mut self, input: Input) {
        if let Err(refusal) = step(&mut self.state, input, self.now) {
            panic!("refused: {}", refusal.message());
        }
    }

    fn asks(&mut self, command: Command) {
        self.asked += 1;
        self.by_itself = false;
        let id = CommandId::new(format!("d{}", self.asked)).expect("a plain id");
        self.takes(Input::Command(Envelope { id, by: "person:cli".into(), command }));
    }

    fn turn(&mut self, lived_secs: u64) {
        let over = self.state.runs.iter().find(|(_, run)| run.ended).map(|(id, _)| id.clone());
        if let Some(run) = over {
            return self.takes(Input::Report(Report::Stopped { run, wip: None, session: None }));
        }
        if self.state.paused.contains_key(&PauseReason::Errors) {
            return self.asks(Command::Resume { reason: PauseReason::Errors });
        }
        match self.state.task(&id("a")).expect("a task").stage.clone() {
            Stage::Preparing { run } => {
                self.begins(&run);
                let (branch, base, tip) = (id("a").branch(), oid('a'), oid('a'));
                self.takes(Input::Report(Report::Prepared { run, branch, base, tip }));
            }
            Stage::Active { run, iteration } => self.dies(run, iteration, lived_secs),
            Stage::Pending { .. } | Stage::Restarting { .. } => {
                self.now = wakes_at(&self.state, self.now).expect("it is tried again by itself");
                self.takes(Input::Tick);
            }
            Stage::Blocked { block: BlockKind::Retries, .. } => {
                self.in_vain = 0;
                self.asks(Command::Retry);
            }
            other => panic!("nobody did that: {other:?}"),
        }
    }

    /// An agent in service, and never right after a death.
    fn begins(&self, run: &RunId) {
        let record = &self.state.runs[run];
        let agent = record.agent.as_ref().expect("an agent");
        let known = self.state.agents.get(agent);
        assert!(known.is_none_or(|known| known.degraded.is_none()), "{agent} is out of service");
        assert!(
            self.deaths == 0 || !self.by_itself || record.claimed_at >= self.last.plus_secs(2),
            "{run} begins at {:?}, and the last one died at {:?}",
            record.claimed_at,
            self.last
        );
    }

    fn dies(&mut self, run: RunId, iteration: u32, lived_secs: u64) {
        let agent = self.state.runs[&run].agent.clone().expect("an agent");
        self.now = self.now.plus_secs(lived_secs);
        let outcome = IterationOutcome::Crashed { code: Some(1), signal: None, text: "output".into() };
        let (tip, usage) = (Some(oid('a')), Usage::default());
        self.takes(Input::Report(Report::Boundary {
            run,
            iteration,
            outcome,
            tip,
            note: None,
            usage,
            session: None,
            known: 0,
        }));
        (self.deaths, self.last, self.by_itself) = (self.deaths + 1, self.now, true);
        self.in_vain += 1;
        let policy = &self.state.policy;
        let attempts = (policy.max_retries + 1) * (policy.crashes_max + 1);
        assert!(self.in_vain <= attempts, "{} deaths, and no person was asked", self.in_vain);
        let lately = self.of_agent.entry(agent.clone()).or_default();
        lately.push_back(self.now);
        while lately.front().is_some_and(|at| self.now.secs_since(*at) >= policy.crash_window_secs) {
            lately.pop_front();
        }
        assert!(lately.len() <= policy.crashes_max as usize + 1, "{agent} died {} times", lately.len());
    }
}

#[test]
fn ten_thousand_deaths_stay_within_the_policy_and_none_is_followed_by_a_start_at_once() {
    for (lived_secs, deaths) in [(0, 10_000), (400, 2_000)] {
        let mut play = Play::new();
        ["plan a", "start"].into_iter().for_each(|said| play.step(said));
        let mut dying = Dying {
            last: play.now,
            now: play.now,
            state: play.state,
            asked: 0,
            deaths: 0,
            of_agent: BTreeMap::new(),
            in_vain: 0,
            by_itself: true,
        };
        let mut turns = 0;
        while dying.deaths < deaths {
            dying.turn(lived_secs);
            turns += 1;
            assert!(turns <= 10 * deaths, "it turns without an end: {} deaths", dying.deaths);
        }
    }
}
