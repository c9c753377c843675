//! The board at the foot of the terminal: one line for each agent at work, and one for the whole.

use std::collections::BTreeMap;

use indicatif::{MultiProgress, ProgressBar, ProgressDrawTarget, ProgressStyle};
use swarm_core::{State, show};
use swarm_engine::clock::wall_clock;
use swarm_protocol::api::AgentNews;
use swarm_protocol::ids::{RunId, TaskId};
use swarm_protocol::time::Timestamp;
use swarm_protocol::view::{AgentView, StatusView};

use crate::output::time::{length, near};
use crate::output::{self, harmless};

/// Drawn at most so often, whatever happens.
const DRAWS_PER_SECOND: u8 = 5;
/// Agents that have a line of their own; the rest is counted.
const AGENTS_MAX: usize = 16;
const BAR: usize = 20;

pub struct Board {
    screen: MultiProgress,
    total: Line,
    agents: Vec<Line>,
    news: BTreeMap<RunId, AgentNews>,
}

/// One line of the board, drawn again only when its text differs.
struct Line {
    bar: ProgressBar,
    text: String,
}

impl Line {
    fn new(bar: ProgressBar) -> Self {
        // `wide_msg` cuts what does not fit, so that no line ever takes two.
        bar.set_style(
            ProgressStyle::with_template("{wide_msg}").unwrap_or_else(|_| ProgressStyle::default_spinner()),
        );
        Self { bar, text: String::new() }
    }

    fn set(&mut self, text: String) {
        if self.text != text {
            self.bar.set_message(text.clone());
            self.bar.tick();
            self.text = text;
        }
    }
}

impl Board {
    pub fn new() -> Self {
        let screen = MultiProgress::with_draw_target(ProgressDrawTarget::stderr_with_hz(DRAWS_PER_SECOND));
        output::stand_above(Some(screen.clone()));
        let total = Line::new(screen.add(ProgressBar::new_spinner()));
        Self { screen, total, agents: Vec::new(), news: BTreeMap::new() }
    }

    /// What an agent is at.
    pub fn heard(&mut self, news: AgentNews) {
        self.news.insert(news.run.clone(), news);
    }

    pub fn draw(&mut self, state: &State) {
        let now = wall_clock().max(state.at);
        let view = show::status(state, now);
        self.news.retain(|run, _| state.runs.contains_key(run));
        let shown = view.agents.len().min(AGENTS_MAX);
        while self.agents.len() > shown {
            if let Some(line) = self.agents.pop() {
                line.bar.finish_and_clear();
                self.screen.remove(&line.bar);
            }
        }
        while self.agents.len() < shown {
            let bar = self.screen.insert_before(&self.total.bar, ProgressBar::new_spinner());
            self.agents.push(Line::new(bar));
        }
        for (line, agent) in self.agents.iter_mut().zip(&view.agents) {
            line.set(agent_line(agent, self.news.get(&agent.run), state.policy.max_iterations, now));
        }
        self.total.set(total_line(&view, now));
    }

    pub fn clear(self) {
        output::stand_above(None);
        let _ = self.screen.clear();
    }
}

/// `ed-001  1.1  working 3/50  40 %  2m 10s  Bash: cargo test`
fn agent_line(agent: &AgentView, news: Option<&AgentNews>, iterations: u32, now: Timestamp) -> String {
    let mut doing = agent.doing.clone();
    if agent.iteration > 0 {
        doing.push_str(&format!(" {}/{iterations}", agent.iteration));
    }
    let percent =
        news.and_then(|news| news.percent).map_or_else(String::new, |percent| format!("{percent} %"));
    let since = length(now.secs_since(agent.since));
    let last = news.and_then(|news| news.doing.clone()).unwrap_or_else(|| agent.title.clone());
    let last = harmless(last.lines().next().unwrap_or_default());
    format!(
        "  {:<8} {:<8} {doing:<16} {percent:>5} {since:>8}  {last}",
        agent.agent.as_str(),
        agent.task.as_str()
    )
}

/// `  [######..............] 3 of 12 done, 2 merging, 1 waits for you`
fn total_line(view: &StatusView, now: Timestamp) -> String {
    let counts = &view.counts;
    let wanted = counts.total.saturating_sub(counts.cancelled);
    let full = (counts.done as usize).saturating_mul(BAR).checked_div(wanted as usize).unwrap_or(0).min(BAR);
    let mut words = vec![format!("{} of {wanted} done", counts.done)];
    let named = [
        (counts.active, "working"),
        (counts.split, "split"),
        (counts.review, "in review"),
        (counts.merging, "merging"),
        (counts.aborted, "aborted"),
        (counts.ready, "ready"),
        (counts.waiting, "waiting"),
        (counts.gone, "gone"),
    ];
    words.extend(named.iter().filter(|(n, _)| *n > 0).map(|(n, word)| format!("{n} {word}")));
    match view.attention.len() {
        0 => {}
        1 => words.push("1 thing waits for you".into()),
        n => words.push(format!("{n} things wait for you")),
    }
    let more = view.agents.len().saturating_sub(AGENTS_MAX);
    if more > 0 {
        words.push(output::counted(more, "more agent", "more agents"));
    }
    if view.draining {
        words.push("stopping".into());
    }
    if !view.paused.is_empty() {
        words.push("paused".into());
    }
    for one in view.reservations.iter().filter(|one| !one.waiting.is_empty()) {
        let who: Vec<&str> = one.waiting.iter().map(TaskId::as_str).collect();
        words.push(format!("{} waits for files of {}", who.join(", "), harmless(&one.holder)));
    }
    words.extend(view.quotas.iter().map(|quota| match quota.resets_at {
        Some(at) => format!("quota of {} until {}", harmless(&quota.group), near(at, now)),
        None if quota.cause.is_quota() => format!("quota of {} used up", harmless(&quota.group)),
        None => quota.cause.says(&harmless(&quota.group)),
    }));
    format!("  [{}{}] {}", "#".repeat(full), ".".repeat(BAR - full), words.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;
    use swarm_protocol::ids::AgentId;

    fn agent(doing: &str, iteration: u32) -> AgentView {
        let value = serde_json::json!({
            "agent": AgentId::nth(1), "run": RunId::nth(1), "task": TaskId::new("1.1").expect("an id"),
            "title": "Add a login", "doing": doing, "iteration": iteration, "since": Timestamp::ZERO,
            "usage": {},
        });
        serde_json::from_value(value).expect("a view")
    }

    #[test]
    fn a_line_says_who_does_what_how_far_and_for_how_long() {
        let now = Timestamp::ZERO.plus_secs(130);
        assert_eq!(
            agent_line(&agent("working", 3), None, 50, now),
            "  ed-001   1.1      working 3/50             2m 10s  Add a login"
        );
        let news: AgentNews = serde_json::from_value(serde_json::json!({
            "run": RunId::nth(1), "task": "1.1", "iteration": 3, "percent": 40, "doing": "Bash: cargo\u{1b}[2J\ntest",
            "journal_bytes": 0, "heard": Timestamp::ZERO,
        }))
        .expect("news");
        assert_eq!(
            agent_line(&agent("working", 3), Some(&news), 50, now),
            "  ed-001   1.1      working 3/50      40 %   2m 10s  Bash: cargo\\u{1b}[2J"
        );
    }
}
