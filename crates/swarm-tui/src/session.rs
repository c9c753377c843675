//! The thin loop: terminal and API on one side, `update` and `draw` on the other.

mod cast;
mod feed;
mod gone;
mod terminal;
mod wishes;

use std::collections::VecDeque;
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use swarm_protocol::time::Timestamp;
use tokio::sync::mpsc;
use tokio::time::Instant;
use tokio_stream::StreamExt;

use crate::dialog::DEAF_MS;
use crate::draw::draw;
use crate::input::{Input, Wish};
use crate::keys::Keymap;
use crate::model::Model;
use crate::source::Source;
use crate::theme::Theme;
use crate::update::update;
pub use feed::follow;
use terminal::Screen;
use wishes::Hands;

/// At most thirty frames a second.
const FRAME: Duration = Duration::from_millis(33);
/// Where a frame takes long to write, as over a slow line, ten are enough.
const SLOW_FRAME: Duration = Duration::from_millis(100);
const SLOW_WRITE: Duration = Duration::from_millis(50);

/// Whoever presses a key sees at once what it did; one who holds it down gets the frames of everybody.
const KEY_FRAME: Duration = Duration::from_millis(4);

/// News that wait to be taken in; who sends more waits.
const QUEUE: usize = 256;

pub struct Options {
    /// Folder of the repository, for the header.
    pub place: String,
    pub theme: Theme,
    pub keys: Keymap,
    pub mouse: bool,
    /// A file for what the screen shows, as an asciicast.
    pub record: Option<std::path::PathBuf>,
    /// Comes with the end of the run that the screen is opened for; none: the screen only looks on.
    pub over: Option<Pin<Box<dyn Future<Output = ()>>>>,
}

/// How the screen ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Left {
    /// The person left, with a last word for the terminal; the swarm does what it did.
    Going(String),
    /// The person asked the swarm to stop, and it has heard it.
    Stopping(String),
    /// This process is to end.
    Terminated,
    /// The terminal is gone.
    HungUp,
}

/// Shows the swarm until the person leaves, or until its run is over.
pub async fn show(source: Source, options: Options) -> io::Result<Left> {
    let desk = Arc::clone(&source.ledger);
    let mut screen = Screen::take(options.mouse, options.record.as_deref())?;
    let mut model = Model::new(&options.place, options.theme, (0, 0), now());
    let turn = turn(&mut screen, &mut model, source, options);
    let shown = tokio::task::LocalSet::new().run_until(turn).await;
    screen.give_back();
    if let Some(visit) = model.visit() {
        desk.note_visit(&visit);
    }
    shown
}

fn now() -> Timestamp {
    let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
    Timestamp(u64::try_from(since.as_millis()).unwrap_or(u64::MAX))
}

/// When the next frame may be drawn.
struct Pace {
    drawn: Instant,
    pause: Duration,
    /// Somebody pressed a key and has not seen what it did.
    keyed: bool,
    by_key: Instant,
}

impl Pace {
    fn new() -> Self {
        let long_ago = Instant::now() - FRAME;
        Self { drawn: long_ago, pause: FRAME, keyed: false, by_key: long_ago }
    }

    fn left(&self) -> Duration {
        let at_once = self.keyed && self.pause == FRAME && self.by_key.elapsed() >= FRAME;
        let after = if at_once { KEY_FRAME } else { self.pause };
        after.saturating_sub(self.drawn.elapsed())
    }

    fn drew(&mut self, began: Instant) {
        if std::mem::take(&mut self.keyed) {
            self.by_key = began;
        }
        self.drawn = Instant::now();
        self.pause = if self.drawn - began > SLOW_WRITE { SLOW_FRAME } else { FRAME };
    }
}

async fn turn(screen: &mut Screen, model: &mut Model, source: Source, options: Options) -> io::Result<Left> {
    let (told, mut news) = mpsc::channel(QUEUE);
    model.size = screen.size()?;
    model.keys = options.keys;
    model.owns = options.over.is_some();
    model.commands = source.typist.commands();
    let mut over = options.over.unwrap_or_else(|| Box::pin(std::future::pending()));
    let mut hands = Hands::new(source.clone(), told.clone());
    tokio::spawn(feed::follow(source, told));
    let mut keys = screen.events();
    let (mut pace, mut stale) = (Pace::new(), true);
    let mut waiting = VecDeque::new();
    let mut ended = terminal::Ended::listen()?;
    hands.carry_out(Wish::Board(None), None);
    hands.carry_out(Wish::Visited, None);
    loop {
        if stale && pace.left().is_zero() {
            let began = Instant::now();
            screen.draw(|frame| draw(model, frame))?;
            pace.drew(began);
            stale = false;
        }
        let wake = if stale { Some(pace.left()) } else { ages(model) };
        let input = tokio::select! {
            // A key does not wait behind ten thousand lines.
            biased;
            Some(input) = std::future::ready(waiting.pop_front()), if !waiting.is_empty() => input,
            key = keys.next() => match key {
                Some(Ok(event)) => {
                    waiting.extend(terminal::together(event, &mut keys).await);
                    continue;
                }
                Some(Err(error)) => return Err(error),
                None => return Ok(Left::HungUp),
            },
            // Whoever ends us gets a terminal that works.
            left = ended.wait() => return Ok(left),
            () = &mut over, if !model.over => Input::Over,
            Some(input) = news.recv() => input,
            () = tokio::time::sleep(wake.unwrap_or_default()), if wake.is_some() => {
                if stale { continue }
                Input::Tick
            }
        };
        stale = true;
        pace.keyed |= matches!(input, Input::Key(_) | Input::Mouse(_) | Input::Paste(_));
        for wish in update(model, input, now()) {
            match wish {
                Wish::Leave(word) if model.stopping => return Ok(Left::Stopping(word)),
                Wish::Leave(word) => return Ok(Left::Going(word)),
                Wish::Redraw => screen.clear()?,
                Wish::Suspend => screen.suspend()?,
                wish @ (Wish::Editor(_) | Wish::Show(_) | Wish::CallHere(_)) => {
                    drop(keys);
                    let done = screen.aside(|| match &wish {
                        Wish::CallHere(words) => hands.call_here(words),
                        Wish::Editor(task) => hands.edit(task),
                        Wish::Show(text) => hands.show(text),
                        _ => Ok(()),
                    });
                    keys = screen.events();
                    waiting.clear();
                    for wish in update(model, Input::Back(done), now()) {
                        hands.carry_out(wish, model.past);
                    }
                    screen.clear()?;
                }
                Wish::Copy(text) => screen.copy(&text)?,
                Wish::Title(text) => screen.title(&text)?,
                Wish::Bell(what) => screen.bell(&what)?,
                wish => hands.carry_out(wish, model.past),
            }
        }
    }
}

/// When a shown age has another text; none: nothing on the screen grows older.
fn ages(model: &Model) -> Option<Duration> {
    if let Some(dialog) = model.dialog.as_ref().filter(|dialog| !dialog.listens(model.now)) {
        let left = (dialog.opened.0 + DEAF_MS).saturating_sub(model.now.0);
        return Some(Duration::from_millis(left + 1));
    }
    let board = model.board.as_ref()?;
    if model.past.is_some() {
        return None;
    }
    let youngest =
        |secs: u64| board.agents.iter().any(|agent| model.now.secs_since(agent.agent.since) < secs);
    match (board.agents.is_empty(), board.attention.is_empty()) {
        (true, true) => None,
        (false, _) if youngest(60) => Some(Duration::from_secs(10)),
        _ => Some(Duration::from_secs(60)),
    }
}
