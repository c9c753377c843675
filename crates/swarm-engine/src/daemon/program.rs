//! Runs one program of the run to its end: every line to the journal, the whole tree gone afterwards.

use std::future::Future;
use std::pin::Pin;
use std::process::{ExitStatus, Stdio};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncReadExt};
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::watch;
use tokio::time::{Instant, sleep_until};

use super::tree;
use crate::journal::{LINE_MAX, Stream};
use crate::process::{Call, ProcessError};

/// What outlives its program is asked to go for at most this long, then forced.
const LEFTOVER_GRACE_MAX: Duration = Duration::from_secs(1);

/// How long the pipes are read on once nobody should hold them any more.
const PIPE_GRACE: Duration = Duration::from_secs(2);

/// `Some(grace)` once the program is to be stopped.
pub type StopWish = watch::Receiver<Option<Duration>>;

/// Takes what the program prints. `more`: the line was too long and goes on.
pub trait Listener: Send {
    fn line(&mut self, stream: Stream, text: &str, more: bool);
}

/// How a program came to its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum How {
    ByItself,
    Stopped,
    TimedOut,
}

#[derive(Debug)]
pub struct Ran {
    pub status: ExitStatus,
    pub how: How,
    /// Processes of the tree that could not be ended: the kernel holds them.
    pub left: Vec<u32>,
}

/// The bounds of one program.
pub struct Bounds {
    pub nonce: String,
    pub grace: Duration,
    pub deadline: Option<Instant>,
}

/// Starts the program and comes back when it and everything it started are gone.
pub async fn run(
    call: Call,
    bounds: &Bounds,
    listener: &mut dyn Listener,
    stop: &mut StopWish,
) -> Result<Ran, ProcessError> {
    let program = call.program.to_string_lossy().into_owned();
    let lost = |source| ProcessError::Read { program: program.clone(), source };
    let mut ended_children = signal(SignalKind::child()).map_err(lost)?;
    let mut running = call.spawn(Stdio::piped(), Stdio::piped())?;
    let pid = running.child.id();
    let mut out = Pipe::new(Stream::Out, running.child.stdout.take());
    let mut err = Pipe::new(Stream::Err, running.child.stderr.take());
    let mut how = How::ByItself;
    let mut ending: Option<Pin<Box<dyn Future<Output = Vec<u32>> + Send>>> = None;
    let status = loop {
        let wish = tokio::select! {
            status = running.wait() => break status.map_err(lost)?,
            bytes = out.read(), if out.is_open() => { out.cut(bytes, listener); continue }
            bytes = err.read(), if err.is_open() => { err.cut(bytes, listener); continue }
            _ = ended_children.recv() => { tree::reap_orphans(pid); continue }
            _ = of(&mut ending), if ending.is_some() => { ending = None; continue }
            grace = wished(stop), if how == How::ByItself => { how = How::Stopped; grace }
            () = reached(bounds.deadline), if how == How::ByItself => { how = How::TimedOut; bounds.grace }
        };
        ending = Some(Box::pin(tree::end_marked(bounds.nonce.clone(), wish)));
    };
    let mut left = match ending {
        Some(ending) => ending.await,
        None => tree::end_marked(bounds.nonce.clone(), bounds.grace.min(LEFTOVER_GRACE_MAX)).await,
    };
    left.extend(tree::end_adopted().await);
    let rest = async {
        while out.is_open() || err.is_open() {
            tokio::select! {
                bytes = out.read(), if out.is_open() => out.cut(bytes, listener),
                bytes = err.read(), if err.is_open() => err.cut(bytes, listener),
            }
        }
    };
    let _ = tokio::time::timeout(PIPE_GRACE, rest).await;
    out.finish(listener);
    err.finish(listener);
    Ok(Ran { status, how, left })
}

async fn of(ending: &mut Option<Pin<Box<dyn Future<Output = Vec<u32>> + Send>>>) -> Vec<u32> {
    match ending {
        Some(ending) => ending.await,
        None => std::future::pending().await,
    }
}

async fn wished(stop: &mut StopWish) -> Duration {
    let grace = stop.wait_for(Option::is_some).await.map(|grace| *grace);
    match grace {
        Ok(grace) => grace.unwrap_or_default(),
        Err(_) => std::future::pending().await,
    }
}

async fn reached(deadline: Option<Instant>) {
    match deadline {
        Some(deadline) => sleep_until(deadline).await,
        None => std::future::pending().await,
    }
}

/// One pipe of the program, cut into lines.
struct Pipe<R> {
    stream: Stream,
    from: Option<R>,
    partial: Vec<u8>,
    chunk: Box<[u8]>,
}

impl<R: AsyncRead + Unpin> Pipe<R> {
    fn new(stream: Stream, from: Option<R>) -> Self {
        Self { stream, from, partial: Vec::new(), chunk: vec![0; 8 * 1024].into() }
    }

    fn is_open(&self) -> bool {
        self.from.is_some()
    }

    /// Reads once; 0 at the end. May be dropped at any point.
    async fn read(&mut self) -> usize {
        match &mut self.from {
            Some(from) => from.read(&mut self.chunk).await.unwrap_or(0),
            None => 0,
        }
    }

    /// Takes the bytes just read apart.
    fn cut(&mut self, bytes: usize, listener: &mut dyn Listener) {
        if bytes == 0 {
            self.from = None;
        }
        for piece in self.chunk[..bytes].split_inclusive(|byte| *byte == b'\n') {
            self.partial.extend_from_slice(piece);
            if self.partial.last() == Some(&b'\n') {
                self.partial.pop();
                say(listener, self.stream, &self.partial, false);
                self.partial.clear();
            } else if self.partial.len() > LINE_MAX {
                let at = character_start(&self.partial, LINE_MAX);
                say(listener, self.stream, &self.partial[..at], true);
                self.partial.drain(..at);
            }
        }
        // A single long line must not be held in memory for the rest of the run.
        self.partial.shrink_to(16 * 1024);
    }

    /// A last line without its newline is a line too.
    fn finish(&mut self, listener: &mut dyn Listener) {
        if !self.partial.is_empty() {
            say(listener, self.stream, &std::mem::take(&mut self.partial), false);
        }
    }
}

fn say(listener: &mut dyn Listener, stream: Stream, bytes: &[u8], more: bool) {
    listener.line(stream, &String::from_utf8_lossy(bytes), more);
}

/// The last start of a UTF-8 character at or before `at`; `at` itself where the bytes are no UTF-8.
fn character_start(bytes: &[u8], at: usize) -> usize {
    (at.saturating_sub(3)..=at).rev().find(|index| bytes[*index] & 0xC0 != 0x80).unwrap_or(at)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Default)]
    struct Kept(Vec<(String, bool)>);
    impl Listener for Kept {
        fn line(&mut self, _: Stream, text: &str, more: bool) {
            self.0.push((text.to_owned(), more));
        }
    }

    async fn cut(bytes: Vec<u8>) -> Vec<(String, bool)> {
        let mut kept = Kept::default();
        let mut pipe = Pipe::new(Stream::Out, Some(&bytes[..]));
        while pipe.is_open() {
            let bytes = pipe.read().await;
            pipe.cut(bytes, &mut kept);
        }
        pipe.finish(&mut kept);
        kept.0
    }

    #[tokio::test]
    async fn output_is_cut_at_newlines_and_the_unfinished_last_line_is_kept() {
        let lines = cut(b"one\n\ntwo\r\nlast".to_vec()).await;
        let expected = ["one", "", "two\r", "last"].map(|text| (text.to_owned(), false));
        assert_eq!(lines, expected);
    }

    #[tokio::test]
    async fn a_line_without_end_is_split_between_characters_and_joins_again() {
        let text = format!("x{}", "ä".repeat(150_000));
        let lines = cut(format!("{text}\nnext\n").into_bytes()).await;
        let (last, long) = lines.split_last().expect("lines");
        assert_eq!(last, &("next".to_owned(), false));
        assert_eq!(long.iter().map(|(text, _)| text.as_str()).collect::<String>(), text);
        let more: Vec<bool> = long.iter().map(|(_, more)| *more).collect();
        assert!(more.len() > 2 && more.iter().rev().skip(1).all(|more| *more) && !more[more.len() - 1]);
    }
}
