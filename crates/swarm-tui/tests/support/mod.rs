//! A swarm that stands still, and a screen that looks at it.

use serde_json::{Value, json};
use swarm_protocol::board::{AllowedView, BoardView, Verb};
use swarm_protocol::command::Command;
use swarm_protocol::diff::DiffView;
use swarm_protocol::failure::Usage;
use swarm_protocol::ids::{Oid, TaskId};
use swarm_protocol::oplog::PreviewView;
use swarm_protocol::over_time::{MomentView, OverTimeView};
use swarm_protocol::time::Timestamp;
use swarm_protocol::view::TaskView;
use swarm_tui::input::{EventLine, Input, Key, Link, LogLine, Tone, Wish};
use swarm_tui::model::Model;
use swarm_tui::theme::Theme;
use swarm_tui::update::update;

/// 2026-01-13T12:04:40Z.
pub const NOW: u64 = 1_768_305_880_000;

pub fn ago(secs: u64) -> Timestamp {
    Timestamp(NOW - secs * 1000)
}

fn row(id: &str, title: &str, group: &str, word: &str, detail: &str) -> Value {
    let phase: u32 = id[..1].parse().expect("a phase");
    json!({
        "id": id, "phase": phase, "title": title, "status": "pending", "stage": format!("{word} {detail}"),
        "depends": [], "attempts": 1, "agent": null, "group": group, "word": word, "detail": detail,
        "tags": ["docs"], "priority": 2, "unblocks": 0,
    })
}

fn agent(name: &str, task: &str, title: &str, iteration: u32, held: bool) -> Value {
    json!({
        "agent": name, "run": format!("r{iteration}"), "task": task, "title": title,
        "doing": if held { "held at its boundary" } else { "working" }, "iteration": iteration,
        "since": ago(720), "held": held, "iterations_max": 50, "attempt": 2, "profile": "claude",
        "branch": format!("swarm/{task}"),
        "usage": { "inputTokens": 40_000, "outputTokens": 1000, "cachedTokens": 0, "costMicros": 380_000, "steps": 7 },
        "news": { "run": format!("r{iteration}"), "task": task, "agent": name, "iteration": iteration, "percent": 50,
                  "doing": "Bash cargo test", "journal_bytes": 1000, "heard": ago(2) },
    })
}

fn operation(text: &str, can: bool, checkpoint: Option<&str>) -> Value {
    json!({
        "id": format!("op-{}", text.len()), "seq": 250, "at": ago(100), "by": "person:cli", "kind": "task defer", "subject": "2.7",
        "text": text, "state": "done", "step": null, "undoes": null, "undoneBy": null, "checkpoint": checkpoint,
        "facts": [], "canBeUndone": can, "whyNot": null, "hint": null,
    })
}

/// One that moved git: what it took out of trunk, what it kept, and what it made for it.
fn rolled_back() -> Value {
    let mut rolled = operation(
        "Rolled back: 2.1; the state before is checkpoint before-rollback",
        true,
        Some("before-rollback"),
    );
    for (name, value) in [
        ("id", json!("op-rollback")),
        ("seq", json!(240)),
        ("at", json!(ago(300))),
        ("subject", json!("2.1")),
    ] {
        rolled[name] = value;
    }
    rolled["changes"] = json!(["task 2.1: done → pending", "main moved"]);
    rolled["did"] = json!({
        "says": {
            "tasks": ["task 2.1 goes back to the queue"],
            "commits": ["2 commits of 2.1 are reverted on main", "the work of 2.5 stays"],
            "work": ["uncommitted work of 2.3 is kept in before-rollback"],
            "foreign": [],
            "stays": ["the money that 2.1 cost"],
        },
        "made": ["c".repeat(40), "d".repeat(40)],
    });
    rolled
}

pub fn status() -> Value {
    json!({
        "seq": 259, "goal": "A book", "trunk": "main", "epoch": 1,
        "phases": [
            { "id": 1, "name": "Chapters", "total": 4, "done": 4, "complete": true },
            { "id": 2, "name": "The book", "total": 9, "done": 6, "complete": false },
            { "id": 3, "name": "The second edition", "total": 2, "done": 0, "complete": false },
        ],
        "counts": { "total": 42, "ready": 5, "waiting": 8, "active": 3, "review": 1, "merging": 1, "done": 18, "blocked": 1,
                    "failed": 0, "timeout": 0, "deferred": 0, "cancelled": 0 },
        "profile": { "parallelization_enabled": true, "max_concurrent_tasks": 4 },
        "agents": [], "mode": "autopilot", "paused": [], "draining": false,
        "usage": { "inputTokens": 1, "outputTokens": 1, "cachedTokens": 0, "costMicros": 4_120_000, "steps": 1 },
        "next": [], "attention": [], "loss": null,
        "approved": { "approved": false, "drifted": false, "structure_hash": "0", "approved_hash": null },
    })
}

/// The book of the design brief.
pub fn board_value() -> Value {
    let question = json!({
        "what": "Task 2.2 is blocked (human)", "since": ago(240), "why": "MIT or Apache for the README?",
        "commands": ["swarm agent message 2.2 \"…\""], "id": "task/2.2", "kind": "question", "task": "2.2",
        "choices": [
            { "label": "answer, and continue", "asks_for": "Your answer",
              "command": { "do": "message_agent", "task": "2.2", "text": "…" }, "then": { "do": "unblock_task", "task": "2.2" } },
            { "label": "back to the queue", "command": { "do": "unblock_task", "task": "2.2" } },
        ],
    });
    let checkout = json!({
        "what": "Task 2.4 waits for your checkout", "since": ago(540), "why": "README.md is changed",
        "commands": ["git stash"], "id": "task/2.4", "kind": "checkout", "task": "2.4", "choices": [],
    });
    let checkpoint = |name: &str, auto: bool, secs: u64, tasks: u64| json!({ "name": name, "at": ago(secs), "seq": 1, "auto": auto, "trigger": name, "tasks_since": tasks, "commits_since": tasks * 2 });
    let depends = |mut row: Value, on: &[&str]| {
        row["depends"] = json!(on);
        row
    };
    let mut ready = row("2.7", "Cover", "ready", "ready", "unblocks 3");
    ready["waits_for_start"] = json!(true);
    let mut works = row("2.3", "Chapter on worktrees", "works", "working", "");
    works["agent"] = json!("ada-002");
    works["depends"] = json!(["2.1"]);
    works["conflicts_with"] = json!([{ "with": "2.5", "files": ["chapters/index.md"] }]);
    json!({
        "now": ago(0), "status": status(),
        "rows": [
            row("1.1", "Table of contents", "done", "done", "a094ec7 on main"),
            row("2.1", "Table of figures", "done", "done", "a094ec7 on main"),
            row("2.2", "Name the authors", "needs_you", "asks you", "MIT or Apache for the README?"),
            works,
            row("2.4", "Chapter on merging", "needs_you", "merging", "waits for your checkout: README.md is changed"),
            depends(row("2.5", "Chapter on recovery", "in_review", "review", "round 2 of 3"), &["2.1"]),
            depends(row("2.6", "Index", "waits", "waits", "for 2.3, 2.5"), &["2.3", "2.5"]),
            ready,
            depends(row("3.1", "Chapter on undo", "ready", "ready", ""), &["2.1"]),
            depends(row("3.2", "Chapter on hooks", "aside", "deferred", ""), &["2.6", "3.1"]),
        ],
        "agents": [agent("ada-002", "2.3", "Chapter on worktrees", 7, false), agent("ed-001", "3.1", "Chapter on undo", 3, true)],
        "pauses": [], "attention": [checkout, question],
        "checkpoints": [checkpoint("before-autopilot", true, 400, 3), checkpoint("pre-refactor", false, 800, 5)],
        "operations": [operation("Task 2.7 deferred", true, None), rolled_back()],
        "reviews": [],
    })
}

pub fn board() -> Box<BoardView> {
    Box::new(serde_json::from_value(board_value()).expect("a board"))
}

pub fn board_with(change: impl FnOnce(&mut Value)) -> Box<BoardView> {
    let mut value = board_value();
    change(&mut value);
    Box::new(serde_json::from_value(value).expect("a board"))
}

pub fn task(id: &str) -> Box<TaskView> {
    let value = json!({
        "id": id, "phase": 2, "title": "Chapter on worktrees", "status": "active", "stage": "working, iteration 7",
        "depends": ["2.1"], "attempts": 2, "agent": "ada-002",
        "description": "Write what a worktree is and why every task has one of its own.",
        "acceptance": ["links resolve", "named in the contents"], "files": [], "tags": ["docs"], "size": null, "priority": 2,
        "unblocks": ["2.6", "3.4"], "block": null, "why": null, "not_before": null, "retries": 0, "transient_retries": 0,
        "review_rounds": 0, "reviewer": "none", "merge_rounds": 0, "started": true,
        "usage": { "inputTokens": 40_000, "outputTokens": 1000, "cachedTokens": 0, "costMicros": 380_000, "steps": 7 },
        "branch": format!("swarm/{id}"), "conflicts_with": [{ "with": "2.5", "files": ["chapters/index.md"] }],
        "waived": [], "proof": null, "commands": [],
        "audit": [{ "at": ago(720), "event": "task_claimed", "details": "ada-002 as r7" }],
    });
    Box::new(serde_json::from_value(value).expect("a task"))
}

pub fn all_allowed() -> Vec<AllowedView> {
    use Verb::{
        Block, Checkpoint, Defer, Edit, Kill, Message, Mode, Pause, Redirect, Redo, RollbackSession,
        RollbackTask, Start, Stop, Undo,
    };
    let open = [
        Start,
        Stop,
        Kill,
        Redirect,
        Block,
        Edit,
        Message,
        Defer,
        RollbackTask,
        Pause,
        Mode,
        Checkpoint,
        RollbackSession,
        Undo,
        Redo,
    ];
    let mut list: Vec<AllowedView> =
        open.into_iter().map(|verb| AllowedView { verb, refused: None }).collect();
    let refused =
        swarm_protocol::api::ApiError::new("wrong_stage", "Task 2.3 is not blocked", "swarm task show 2.3");
    list.push(AllowedView { verb: Verb::Unblock, refused: Some(refused) });
    list
}

/// A preview of so many lines.
pub fn preview(lines: usize) -> Box<PreviewView> {
    let tasks: Vec<String> = (1..=lines).map(|n| format!("line {n} of what happens")).collect();
    let value = json!({
        "kind": "task rollback", "text": "", "says": { "tasks": tasks }, "facts": [], "checkpoint": "before-rollback",
        "expect": "hash-of-the-preview", "plan": null, "stops": [], "nothing": false,
    });
    Box::new(serde_json::from_value(value).expect("a preview"))
}

/// Three hours of work.
pub fn over_time() -> Box<OverTimeView> {
    let moment = |(minutes, done): (u64, u64)| {
        let usage = Usage { cost_micros: done * 229_000, input_tokens: done * 2000, ..Usage::default() };
        MomentView { at: ago((180 - minutes) * 60), open: 42 - done, done, agents: 0, usage }
    };
    let all = [(0, 0), (20, 2), (35, 3), (60, 7), (75, 8), (110, 13), (140, 16), (170, 18)];
    Box::new(OverTimeView { moments: all.map(moment).to_vec(), costs: None })
}

/// A screen with everything on it.
pub struct Stage {
    pub model: Model,
    pub now: u64,
}

impl Stage {
    pub fn new(columns: u16, rows: u16) -> Self {
        Self::themed(columns, rows, Theme { colour: true, ascii: false })
    }

    pub fn themed(columns: u16, rows: u16, theme: Theme) -> Self {
        let mut stage = Self { model: Model::new("book", theme, (columns, rows), Timestamp(NOW)), now: NOW };
        stage.take(Input::Link(Link::Online));
        stage.take(Input::Board(Ok(board())));
        let task_id = stage.model.looking_at.clone().expect("something is selected");
        stage.take(Input::Task(task_id.clone(), Ok(task(task_id.as_str()))));
        stage.take(Input::Allowed(Some(task_id), all_allowed()));
        stage.take(Input::Events(events()));
        stage.take(Input::OverTime(Ok(over_time())));
        let run = stage.model.log.run.clone().expect("an agent works on it");
        stage.take(Input::Log(run, log()));
        stage
    }

    pub fn take(&mut self, input: Input) -> Vec<Wish> {
        update(&mut self.model, input, Timestamp(self.now))
    }

    /// As a person presses it: some time after the last one.
    pub fn press(&mut self, key: Key) -> Vec<Wish> {
        self.now += 300;
        self.take(Input::Key(key))
    }

    pub fn char(&mut self, c: char) -> Vec<Wish> {
        self.press(Key::Char(c))
    }

    pub fn keys(&mut self, text: &str) -> Vec<Wish> {
        text.chars().flat_map(|c| self.char(c)).collect()
    }

    /// The ticket of the preview that was asked for last.
    pub fn previewed(&mut self, wishes: &[Wish], lines: usize) {
        let ticket = wishes.iter().find_map(|wish| match wish {
            Wish::Preview(ticket, _) => Some(*ticket),
            _ => None,
        });
        self.take(Input::Preview(ticket.expect("a preview is asked for"), Ok(preview(lines))));
    }

    /// Nothing happens for a moment.
    pub fn wait(&mut self) {
        self.now += 300;
        self.take(Input::Tick);
    }
}

/// The commands among the wishes.
pub fn sent(wishes: &[Wish]) -> Vec<Command> {
    let command = |wish: &Wish| match wish {
        Wish::Send(_, command) => Some(command.clone()),
        _ => None,
    };
    wishes.iter().filter_map(command).collect()
}

fn events() -> Vec<EventLine> {
    let line = |seq, secs, task: &str, text: Option<&str>| EventLine {
        seq,
        at: ago(secs),
        task: swarm_protocol::ids::TaskId::new(task).ok(),
        by: "swarm:coordinator".into(),
        text: text.map(str::to_owned),
        kind: "iteration".into(),
    };
    vec![
        line(255, 300, "2.1", Some("on main at a094ec7")),
        line(256, 200, "2.4", Some("ready to merge, waits for your checkout: README.md is changed")),
        line(257, 90, "2.3", None),
        line(258, 60, "2.5", Some("the reviewer requests changes: name the quarantine file")),
        line(259, 10, "2.3", Some("checks failed, back to work: links_resolve")),
    ]
}

fn log() -> Vec<LogLine> {
    let line = |secs, tone, text: &str| LogLine { n: 1, byte: 0, at: ago(secs), tone, text: text.into() };
    vec![
        line(29, Tone::Tool, "Edit: chapters/02-worktrees.md"),
        line(25, Tone::Said, "14 passed, 1 failed: links_resolve"),
        line(21, Tone::Tool, "Bash: cargo test links"),
        line(9, Tone::Said, "15 passed"),
        line(7, Tone::Swarm, "commit 8cf51e8 feat: chapter on worktrees"),
        line(6, Tone::Error, "warning: one link is slow"),
    ]
}

/// One line of one file is another one.
pub fn diff(task: &TaskId) -> DiffView {
    let patch = "diff --git a/a.md b/a.md\nindex 1..2 100644\n--- a/a.md\n+++ b/a.md\n@@ -8,2 +8,2 @@\n # Title\n-One for all tasks.\n+One for each task.\n";
    let oid = |c: char| Oid::new(c.to_string().repeat(40)).expect("an oid");
    DiffView { patch: patch.into(), ..DiffView::new(task.clone(), oid('a'), oid('b')) }
}
