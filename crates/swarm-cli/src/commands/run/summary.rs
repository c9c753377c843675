//! What a run came to, and where to look.

use std::borrow::Cow;
use std::path::Path;
use std::process::ExitCode;

use serde::Serialize;
use swarm_core::{State, show};
use swarm_engine::unsaved::Unsaved;
use swarm_protocol::channel::RunKind;
use swarm_protocol::failure::Usage;
use swarm_protocol::outcome::PauseReason;
use swarm_protocol::view::{AttentionView, Counts, RetryOptions, TaskRow};
use swarm_work::daemon::RunFiles;

use crate::exit::Exit;
use crate::output::harmless;
use crate::output::money::{cost, tokens};
use crate::output::time::length;
use crate::swarm::unsaved_words;

#[derive(Debug, Serialize)]
pub struct Summary {
    /// `rests`: nothing more happens without a person; `drained`: it was asked to stop.
    pub ended: String,
    pub counts: Counts,
    pub tasks: Vec<TaskRow>,
    pub attention: Vec<AttentionView>,
    pub trunk: Option<String>,
    /// Tasks that were merged into another branch, before this one became trunk: `1.1 on main`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub elsewhere: Vec<String>,
    /// Agents that were told to stop and had not when this was written: whoever started the run did not wait for them.
    #[serde(skip_serializing_if = "is_zero")]
    pub stopping: usize,
    /// Processes of agents that a signal holds: they do not even hear that they are to stop.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub held: Vec<u32>,
    /// What agents had not committed and nobody could save.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub unsaved: Vec<Unsaved>,
    /// Done without a proof on trunk.
    pub unproven: Vec<String>,
    /// No command is configured that tests work, so that `done` means merged and no more.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub untested: bool,
    /// Why it was paused when it ended; it still is.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub paused: Vec<String>,
    /// The ways on, where something failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub retry_options: Option<RetryOptions>,
    /// From the command of the person to its end, coordinators that were started again included.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub took_secs: Option<u64>,
    /// Of all runs of the plan; absent where no program said what it used.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub usage: Option<Usage>,
    #[serde(skip)]
    pauses: Vec<PauseReason>,
    /// It ended because the plan is being closed.
    #[serde(skip)]
    closing: bool,
}

/// Who closes the plan waits for just this end: nobody needs to do anything about that pause.
fn without_closing(state: &State) -> Cow<'_, State> {
    let mut state = Cow::Borrowed(state);
    if state.paused.contains_key(&PauseReason::Close) {
        state.to_mut().paused.remove(&PauseReason::Close);
    }
    state
}

/// Agents: a verification, a review or a probe is none, and has no work to save.
fn at_work(state: &State) -> usize {
    state.runs.values().filter(|run| run.kind == RunKind::Work).count()
}

fn is_zero(n: &usize) -> bool {
    *n == 0
}

/// The ways on, for people.
pub fn ways_on(options: &RetryOptions) -> Vec<String> {
    let RetryOptions { same_plan, edit_plan, fresh_start } = options;
    let ways = [
        (same_plan, "what is done stays, failed tasks are tried again"),
        (edit_plan, "edit the plan first"),
        (fresh_start, "archive this plan and make another one from trunk"),
    ];
    let lines = ways.iter().map(|(command, what)| format!("  {command:<38} # {what}"));
    std::iter::once("To go on:".to_owned()).chain(lines).collect()
}

impl Summary {
    pub fn of(state: &State, drained: bool, untested: bool) -> Self {
        let closing = state.paused.contains_key(&PauseReason::Close);
        let status = show::status(&without_closing(state), state.at);
        let paused = status.paused.iter().map(|reason| reason.word().to_owned()).collect();
        Self {
            ended: if drained { "drained" } else { "rests" }.into(),
            counts: status.counts,
            tasks: show::rows(state),
            attention: status.attention,
            trunk: status.trunk,
            elsewhere: show::done_elsewhere(state),
            stopping: if drained { at_work(state) } else { 0 },
            held: vec![],
            unsaved: vec![],
            unproven: show::done_unproven(state),
            untested,
            paused,
            retry_options: show::retry_options(state),
            took_secs: None,
            usage: (status.usage != Usage::default()).then_some(status.usage),
            pauses: status.paused,
            closing,
        }
    }

    pub fn took(self, took_secs: Option<u64>) -> Self {
        Self { took_secs, ..self }
    }

    fn held_words(&self) -> Option<String> {
        let pids = self.held.iter().map(u32::to_string).collect::<Vec<_>>().join(" ");
        (!self.held.is_empty()).then(|| {
            format!("Agent processes {pids} are suspended by a signal and do not end. `kill -CONT {pids}` continues \
                them, `swarm stop` ends them.")
        })
    }

    /// `Took 3m 10s; the plan has used 41.2k tokens, $0.42 so far.`; nothing where neither is known.
    fn spent(&self) -> Option<String> {
        let took = self.took_secs.map(|secs| format!("took {}", length(secs)));
        let used = self.usage.as_ref().map(|usage| [tokens(usage), cost(usage)]);
        let used = used.into_iter().flatten().filter(|text| !text.is_empty()).collect::<Vec<_>>().join(", ");
        let used = (!used.is_empty()).then(|| format!("the plan has used {used} so far"));
        let line = took.into_iter().chain(used).collect::<Vec<_>>().join("; ");
        let first = line.get(..1)?.to_uppercase();
        Some(format!("{first}{}.", &line[1..]))
    }

    /// The same, where work could not be saved: nobody is stopping who would still do it.
    pub fn leaving(self, unsaved: Vec<Unsaved>) -> Self {
        Self { stopping: self.stopping.saturating_sub(unsaved.len()), unsaved, ..self }
    }

    /// The same, with nobody said to be stopping who is not there.
    pub fn seen(mut self, state: &State, swarm: &Path) -> Self {
        let agents = state.runs.iter().filter(|(_, run)| run.kind == RunKind::Work);
        let files: Vec<RunFiles> = agents.map(|(id, _)| RunFiles::new(swarm, id)).collect();
        let alive = files.iter().filter(|files| files.is_alive()).count();
        if self.stopping > 0 {
            self.held = files.iter().filter_map(RunFiles::stopped_daemon).collect();
        }
        self.stopping = self.stopping.min(alive.saturating_sub(self.held.len()));
        self
    }

    pub fn exit(&self) -> ExitCode {
        let open = self.counts.total - self.counts.done - self.counts.cancelled;
        if open == 0 && self.elsewhere.is_empty() { Exit::Done.into() } else { Exit::Refused.into() }
    }

    pub fn text(&self) -> String {
        let c = &self.counts;
        let trunk = self.trunk.as_deref().unwrap_or("trunk");
        let proven = c.done.saturating_sub((self.elsewhere.len() + self.unproven.len()) as u64);
        let total = c.total - c.cancelled;
        let are = if total == 1 { "task is" } else { "tasks are" };
        // Nothing is proven where nothing is done.
        let on = if proven > 0 { format!(", proven on {trunk}") } else { String::new() };
        let mut lines = vec![format!("{proven} of {total} {are} done{on}.")];
        if self.untested && proven > 0 {
            lines.push("No tests were run: none are configured (`check.commands`, see `swarm init`).".into());
        }
        if !self.unproven.is_empty() {
            let unproven = self.unproven.join(", ");
            lines.push(format!("Done without proof (accepted, or done before the plan): {unproven}."));
        }
        if !self.elsewhere.is_empty() {
            lines.push(format!("Merged before {trunk} was trunk: {}.", self.elsewhere.join(", ")));
        }
        lines.extend(self.spent());
        let rest = [
            (c.ready + c.waiting, "pending"),
            (c.split, "split"),
            (c.merging, "merging"),
            (c.aborted, "aborted"),
            (c.gone, "gone from trunk"),
            (c.deferred, "deferred"),
            (c.cancelled, "cancelled"),
        ];
        let rest: Vec<String> =
            rest.iter().filter(|(n, _)| *n > 0).map(|(n, w)| format!("{n} {w}")).collect();
        if !rest.is_empty() {
            lines.push(format!("{}.", rest.join(", ")));
        }
        if !self.attention.is_empty() {
            lines.push("These wait for you:".into());
        }
        for item in &self.attention {
            // An agent may have written these words.
            let mut why = item.why.lines().map(harmless);
            lines.push(format!("  {}: {}", harmless(&item.what), why.next().unwrap_or_default()));
            lines.extend(why.map(|line| format!("  | {line}")));
            lines.extend(item.commands.iter().map(|command| format!("    {}", harmless(command))));
        }
        if !self.paused.is_empty() {
            lines.push(format!("Still paused: {}.", PauseReason::list(self.pauses.iter().copied())));
        }
        lines.extend(unsaved_words(&self.unsaved));
        if self.ended == "drained" {
            let on = match self.pauses.is_empty() {
                _ if self.closing => ": the plan is being closed",
                true => "; `swarm run` continues from here",
                false => "",
            };
            lines.extend(self.held_words());
            lines.extend(match self.stopping {
                0 if !self.held.is_empty() => None,
                0 => Some(format!("Stopped{on}.")),
                1 => Some("1 agent is still stopping: it saves its work and ends by itself. `swarm status` shows when it is gone, `swarm run` continues.".into()),
                n => Some(format!("{n} agents are still stopping: they save their work and end by themselves. `swarm status` shows when they are gone, `swarm run` continues.")),
            });
        }
        lines.extend(self.retry_options.iter().flat_map(ways_on));
        lines.push("See `swarm plan history`, or `swarm task show ID` for one task.".into());
        lines.join("\n")
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use swarm_core::state::Pause;
    use swarm_protocol::ids::{RunId, TaskId};

    #[test]
    fn who_did_not_wait_for_the_agents_is_told_that_they_are_still_stopping() {
        let mut summary = Summary::of(&State::default(), true, false);
        assert!(summary.text().contains("Stopped; `swarm run` continues from here."), "{}", summary.text());
        summary.stopping = 2;
        let said = summary.text();
        assert!(said.contains("2 agents are still stopping") && !said.contains("Stopped"), "{said}");
    }

    #[test]
    fn a_run_that_ends_because_the_plan_is_being_closed_waits_for_nobody() {
        let mut state = State::default();
        let why = "the plan is being closed".to_owned();
        state.paused.insert(PauseReason::Close, Pause { since: state.at, why });
        let summary = Summary::of(&state, true, false);
        let said = summary.text();
        assert!(said.contains("Stopped: the plan is being closed."), "{said}");
        assert!(summary.attention.is_empty() && summary.paused.is_empty(), "{said}");
    }

    #[test]
    fn how_long_it_took_and_what_was_used_is_said_where_it_is_known() {
        let summary = || Summary::of(&State::default(), false, false);
        let (said, json) = (summary().text(), serde_json::to_string(&summary()).expect("it can be written"));
        assert!(
            !said.contains("ook") && !json.contains("took_secs") && !json.contains("usage"),
            "{said} {json}"
        );
        let mut known = summary().took(Some(190));
        assert!(known.text().contains("\nTook 3m 10s.\n"), "{}", known.text());
        known.usage = Some(Usage { input_tokens: 41_200, cost_micros: 420_000, ..Usage::default() });
        let said = known.text();
        assert!(said.contains("\nTook 3m 10s; the plan has used 41.2k tokens, $0.42 so far.\n"), "{said}");
        assert!(serde_json::to_string(&known).expect("it can be written").contains("\"took_secs\":190"));
        known.took_secs = None;
        assert!(
            known.text().contains("\nThe plan has used 41.2k tokens, $0.42 so far.\n"),
            "{}",
            known.text()
        );
    }

    #[test]
    fn work_that_could_not_be_saved_is_named_with_its_place_and_nobody_is_said_to_be_stopping() {
        let one = Unsaved {
            task: swarm_protocol::ids::TaskId::new("1.1").expect("a plain id"),
            worktree: ".swarm/worktrees/1.1".into(),
            why: "No space left on device".into(),
        };
        let mut summary = Summary::of(&State::default(), true, false);
        summary.stopping = 1;
        let said = summary.leaving(vec![one]).text();
        assert!(said.contains("  1.1: .swarm/worktrees/1.1 (No space left on device)"), "{said}");
        assert!(
            said.contains("Stopped; `swarm run` continues") && !said.contains("still stopping"),
            "{said}"
        );
    }

    #[test]
    fn a_verification_that_still_runs_is_no_agent_that_is_still_stopping() {
        let mut state = State::default();
        for (n, kind) in [RunKind::Verify, RunKind::Review, RunKind::Probe].into_iter().enumerate() {
            let run = swarm_core::state::Run {
                kind,
                task: TaskId::new("1.1").expect("a task"),
                agent: None,
                attempt: 1,
                nonce: String::new(),
                claimed_at: state.at,
                spawned: true,
                profile: None,
                member: None,
                usage: Usage::default(),
                ended: false,
                nth: 1,
                busy_since: None,
                held_since: None,
                held_ms: 0,
                nudged: false,
                noted: BTreeSet::new(),
                stuck: None,
                group: None,
                shares: None,
            };
            state.runs.insert(RunId::new(format!("r{}", n + 1)).expect("a run"), run);
        }
        let said = Summary::of(&state, true, false).text();
        assert!(said.contains("Stopped; `swarm run` continues from here."), "{said}");
        state.runs.values_mut().for_each(|run| run.kind = RunKind::Work);
        let said = Summary::of(&state, true, false).text();
        assert!(said.contains("3 agents are still stopping"), "{said}");
        // Their worktrees were still being made, or they have ended.
        let nobody = tempfile::tempdir().expect("a folder");
        let said = Summary::of(&state, true, false).seen(&state, nobody.path()).text();
        assert!(said.contains("Stopped; `swarm run` continues from here."), "{said}");
    }

    #[test]
    fn an_agent_that_a_signal_holds_is_not_said_to_end_by_itself() {
        let mut summary = Summary::of(&State::default(), true, false);
        summary.held = vec![7, 9];
        let said = summary.text();
        assert!(said.contains("`kill -CONT 7 9`") && !said.contains("Stopped;"), "{said}");
        summary.stopping = 1;
        let said = summary.text();
        assert!(said.contains("`kill -CONT 7 9`") && said.contains("1 agent is still stopping"), "{said}");
    }

    #[test]
    fn nothing_is_said_to_be_proven_where_nothing_is_done() {
        let said = Summary::of(&State::default(), false, false).text();
        assert!(said.starts_with("0 of 0 tasks are done."), "{said}");
    }

    #[test]
    fn words_of_an_agent_cannot_move_the_cursor() {
        let mut summary = Summary::of(&State::default(), false, false);
        summary.attention = vec![AttentionView {
            what: "Task 1.1 is blocked".into(),
            why: "no key\u{1b}[2J\nsecond line\u{7}".into(),
            since: swarm_protocol::time::Timestamp::ZERO,
            commands: vec!["swarm task show 1.1".into()],
            seen_by: None,
        }];
        let said = summary.text();
        assert!(!said.contains('\u{1b}') && !said.contains('\u{7}'), "{said}");
        assert!(
            said.contains("  Task 1.1 is blocked: no key") && said.contains("\n  | second line"),
            "{said}"
        );
    }
}
