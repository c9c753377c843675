//! Between those who log and the thread that writes: a queue with a bound, so that nobody ever waits for a disk.

use std::collections::VecDeque;
use std::io;
use std::path::PathBuf;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::time::{Duration, Instant};

use tracing_subscriber::fmt::MakeWriter;

use super::file::{Kept, LogFile};
use super::line::{beginning, fit};

/// Lines that may wait for the thread.
const QUEUE_MAX: usize = 4096;
/// Lines that wait for the folder to be there.
const WAITING_MAX: usize = 512;
/// Between two tries to open a file that could not be opened or written.
const AGAIN_AFTER: Duration = Duration::from_secs(1);

static QUEUE: OnceLock<Queue> = OnceLock::new();
static LOST: AtomicU64 = AtomicU64::new(0);

pub enum Message {
    Line(String),
    /// One that is as it is to be written.
    Fitted(String),
    LiesIn(PathBuf),
    Flush(SyncSender<()>),
}

/// The end of those who log.
#[derive(Clone)]
pub struct Queue(SyncSender<Message>);

impl Queue {
    /// None where no thread can be had: then there is no log.
    pub fn start(kept: Kept, json: bool) -> Option<Self> {
        let (sender, inbox) = sync_channel(QUEUE_MAX);
        std::thread::Builder::new()
            .name("log".into())
            .spawn(move || Writer::new(kept, json).serve(&inbox))
            .ok()?;
        Some(QUEUE.get_or_init(|| Self(sender)).clone())
    }
}

/// Tells the thread, if there is one and it keeps up.
pub fn say(message: impl FnOnce() -> Message) {
    if let Some(Queue(sender)) = QUEUE.get()
        && sender.try_send(message()).is_err()
    {
        LOST.fetch_add(1, Ordering::Relaxed);
    }
}

/// Waits until everything said so far is written, but no longer than this.
pub fn flush(within: Duration) {
    if QUEUE.get().is_none() {
        return;
    }
    let (done, written) = sync_channel(1);
    say(|| Message::Flush(done));
    // Too slow, or the queue is full: the last lines are lost, which is what a log may do.
    let _ = written.recv_timeout(within);
}

impl<'a> MakeWriter<'a> for Queue {
    type Writer = Line;

    fn make_writer(&'a self) -> Line {
        Line
    }
}

/// Takes whole lines.
pub struct Line;

impl io::Write for Line {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        say(|| Message::Line(beginning(bytes)));
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// The thread's own.
struct Writer {
    kept: Kept,
    /// Each line has to be an object, our own too.
    json: bool,
    logs: Option<PathBuf>,
    file: Option<LogFile>,
    waiting: VecDeque<String>,
    not_before: Option<Instant>,
    /// A full disk may have taken half a line.
    torn: bool,
}

impl Writer {
    fn new(kept: Kept, json: bool) -> Self {
        Self { kept, json, logs: None, file: None, waiting: VecDeque::new(), not_before: None, torn: false }
    }

    fn serve(mut self, inbox: &Receiver<Message>) {
        for message in inbox {
            match message {
                Message::Line(text) => self.take(fit(&text)),
                Message::Fitted(line) => self.take(line),
                Message::LiesIn(logs) => self.logs = Some(logs),
                Message::Flush(done) => {
                    self.not_before = None;
                    self.write();
                    // Whoever asked may have waited for long enough.
                    let _ = done.send(());
                    continue;
                }
            }
            self.write();
        }
    }

    fn take(&mut self, line: String) {
        let lost = LOST.swap(0, Ordering::Relaxed);
        if lost > 0 {
            let told = format!("({lost} lines were lost)");
            let object = serde_json::json!({ "level": "WARN", "message": told, "lost": lost });
            self.keep(if self.json { object.to_string() } else { told });
        }
        self.keep(line);
    }

    fn keep(&mut self, line: String) {
        if self.waiting.len() == WAITING_MAX {
            self.waiting.pop_front();
            LOST.fetch_add(1, Ordering::Relaxed);
        }
        self.waiting.push_back(line);
    }

    /// Writes what waits, as far as it can be written now.
    fn write(&mut self) {
        let Some(logs) = &self.logs else { return };
        if self.not_before.is_some_and(|then| Instant::now() < then) {
            return;
        }
        self.not_before = None;
        while let Some(line) = self.waiting.front() {
            let written = match &mut self.file {
                Some(file) => file.line(line),
                None => match LogFile::open(logs, &self.kept) {
                    Ok(mut file) => {
                        let begun = if self.torn { file.line("") } else { Ok(()) };
                        self.torn &= begun.is_err();
                        self.file = Some(file);
                        continue;
                    }
                    Err(error) => Err(error),
                },
            };
            if written.is_err() {
                self.torn |= self.file.take().is_some();
                self.not_before = Some(Instant::now() + AGAIN_AFTER);
                return;
            }
            self.waiting.pop_front();
        }
    }
}
