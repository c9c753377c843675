//! How a run is told while it goes on: lines that stay, and on a terminal a board that moves.

use std::io::IsTerminal;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use swarm_core::State;
use swarm_engine::coordinator::Told;
use swarm_engine::feed::Feed;
use swarm_protocol::event::paused;
use swarm_protocol::ids::TaskId;
use swarm_protocol::review::Reviewer;
use swarm_protocol::view::ReviewView;

use super::board::Board;
use super::printing;
use crate::output::{self, Output};
use crate::swarm::session::Watching;

/// Between two looks at what agents are at; the board is drawn again only where it differs.
const LOOK_EVERY: Duration = Duration::from_secs(1);

/// Where the progress of one run goes.
pub struct Progress {
    json: bool,
    shared: Arc<Mutex<Shown>>,
    ticker: Option<tokio::task::JoinHandle<()>>,
}

/// What is shown now.
struct Shown {
    /// The coordinator's state, kept in step by the same events.
    state: State,
    board: Option<Board>,
    /// Tasks that wait for a person's word and have been told.
    waiting: Vec<TaskId>,
    /// Submitted work that waits for a person's review and has been told, by task and round.
    in_review: Vec<(TaskId, u32)>,
    /// Tasks that wait for files of a person and have been told, by reservation.
    for_files: Vec<(u64, TaskId)>,
}

impl Progress {
    pub fn new(out: Output) -> Self {
        let on_terminal =
            std::io::stderr().is_terminal() && std::env::var_os("TERM").is_none_or(|t| t != "dumb");
        let board = (on_terminal && !out.json).then(Board::new);
        let (state, waiting, in_review, for_files) = Default::default();
        let shown = Shown { state, board, waiting, in_review, for_files };
        Self { json: out.json, shared: Arc::new(Mutex::new(shown)), ticker: None }
    }
}

impl Watching for Progress {
    /// From here on. `state` holds everything up to now.
    fn begin(&mut self, state: &State, feed: Feed) {
        if !self.json {
            for (reason, pause) in &state.paused {
                let words = paused(*reason, &pause.why);
                output::note(&output::harmless(&format!("The swarm is {words}")));
            }
        }
        let mut shown = lock(&self.shared);
        shown.state = state.clone();
        let moves = shown.board.is_some();
        drop(shown);
        if moves {
            self.ticker = Some(tokio::spawn(tick(self.shared.clone(), feed)));
        }
    }

    /// Records that are durable.
    fn told(&mut self, told: Told<'_>) {
        let mut shown = lock(&self.shared);
        for (seq, at, event) in told {
            printing::print(*seq, *at, event, self.json);
            if *seq > shown.state.seq {
                shown.state.apply(event, *at);
            }
        }
        if !self.json {
            shown.tell_who_waits();
            shown.tell_what_is_to_review();
            shown.tell_who_waits_for_files();
        }
        shown.draw();
    }

    /// Takes the board away, so that the summary stands alone.
    fn end(&mut self) {
        if let Some(ticker) = &self.ticker {
            ticker.abort();
        }
        if let Some(board) = lock(&self.shared).board.take() {
            board.clear();
        }
    }
}

impl Shown {
    fn draw(&mut self) {
        let Self { state, board, .. } = self;
        if let Some(board) = board {
            board.draw(state);
        }
    }

    /// Says once for each which tasks wait for a person's word, and the commands that give it.
    fn tell_who_waits(&mut self) {
        let waiting = waiting_for_a_word(&self.state);
        let new: Vec<&TaskId> = waiting.iter().filter(|task| !self.waiting.contains(task)).collect();
        if !new.is_empty() && !self.state.draining {
            output::note(&words_for(&new, waiting.len(), &self.state));
        }
        self.waiting = waiting;
    }

    /// The same for files that a person has reserved: what an agent has is free by itself soon.
    fn tell_who_waits_for_files(&mut self) {
        let of_people = swarm_core::show::reservations(&self.state, self.state.at)
            .into_iter()
            .filter(|one| one.task.is_none());
        let mut all = Vec::new();
        for one in of_people {
            let (number, files) =
                (one.number, one.files.iter().chain(&one.shared).cloned().collect::<Vec<_>>());
            for task in one.waiting.into_iter().map(|task| (number, task)) {
                if !self.for_files.contains(&task) {
                    let files =
                        output::harmless(&format!("{}, reserved by {}", files.join(", "), one.holder));
                    let release = format!("swarm reservations release {number}");
                    output::note(&format!("Task {} waits for {files}\n    {release}", task.1));
                }
                all.push(task);
            }
        }
        self.for_files = all;
    }

    /// The same for work that a person is to review.
    fn tell_what_is_to_review(&mut self) {
        let waiting = waiting_for_review(&self.state);
        let key = |review: &ReviewView| (review.task.clone(), review.round);
        for review in waiting.iter().filter(|review| !self.in_review.contains(&key(review))) {
            let (id, title) = (&review.task, output::harmless(&review.title));
            let commands = review.commands.iter().filter(|command| command.starts_with("swarm review "));
            let lines: Vec<String> = commands.map(|command| format!("\n    {command}")).collect();
            output::note(&format!("Task {id} waits for your review: {title}{}", lines.concat()));
        }
        self.in_review = waiting.iter().map(key).collect();
    }
}

/// Submitted work that a person is to review.
fn waiting_for_review(state: &State) -> Vec<ReviewView> {
    let all = swarm_core::show::reviews(state).into_iter();
    all.filter(|review| review.reviewer == Reviewer::Human).collect()
}

/// Ready tasks that start only when a person says so.
fn waiting_for_a_word(state: &State) -> Vec<TaskId> {
    let next = swarm_core::show::rows(state).into_iter().filter(|row| is_waiting(state, &row.id));
    next.map(|row| row.id).collect()
}

fn is_waiting(state: &State, id: &TaskId) -> bool {
    let met = |id: &TaskId| {
        state.task(id).is_some_and(|task| task.stage.status() == swarm_protocol::plan::Status::Done)
    };
    state.task(id).is_some_and(|task| state.needs_start(task) && task.spec.depends.iter().all(met))
}

fn words_for(new: &[&TaskId], all: usize, state: &State) -> String {
    const SHOWN: usize = 5;
    let head = match new.len() {
        1 => "1 task is ready and waits for you:".to_owned(),
        n => format!("{n} tasks are ready and wait for you:"),
    };
    let mut lines = vec![head];
    for id in new.iter().take(SHOWN) {
        let title = state.task(id).map(|task| task.spec.title.clone()).unwrap_or_default();
        lines.push(format!("    swarm task start {id:<12} # {}", output::harmless(&title)));
    }
    if new.len() > SHOWN {
        lines.push(format!("    … and {} more", new.len() - SHOWN));
    }
    if all > 1 {
        lines.push("    swarm task start --all        # every ready task".into());
    }
    // What a person stopped waits for its own word in every mode.
    if state.mode() == swarm_protocol::outcome::Mode::SemiAuto {
        lines.push("    swarm mode autopilot          # start every task automatically".into());
    }
    lines.join("\n")
}

async fn tick(shared: Arc<Mutex<Shown>>, mut feed: Feed) {
    let mut every = tokio::time::interval(LOOK_EVERY);
    every.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
    let mut seen = 0;
    loop {
        tokio::select! {
            _ = every.tick() => {}
            more = feed.news() => if !more { return },
        }
        let (newest, news) = feed.news_since(seen);
        seen = newest;
        let mut shown = lock(&shared);
        if let Some(board) = &mut shown.board {
            news.into_iter().for_each(|one| board.heard(one));
        }
        shown.draw();
    }
}

fn lock(shown: &Mutex<Shown>) -> MutexGuard<'_, Shown> {
    shown.lock().unwrap_or_else(PoisonError::into_inner)
}
