//! One pipe of the program, cut into lines that are bounded whatever the program prints.

use tokio::io::{AsyncRead, AsyncReadExt};

use super::program::Listener;
use swarm_agents::journal::{LINE_MAX, Stream};

/// How far back from the bound a better place for the cut is looked for. Longer than any secret, so
/// that none is torn in two halves that nobody would recognise.
const CUT_SEARCH: usize = 4 * 1024;

pub struct Pipe<R> {
    stream: Stream,
    from: Option<R>,
    partial: Vec<u8>,
    chunk: Box<[u8]>,
}

impl<R: AsyncRead + Unpin> Pipe<R> {
    pub fn new(stream: Stream, from: Option<R>) -> Self {
        Self { stream, from, partial: Vec::new(), chunk: vec![0; 16 * 1024].into() }
    }

    pub fn is_open(&self) -> bool {
        self.from.is_some()
    }

    /// Reads once; 0 at the end. May be dropped at any point.
    pub async fn read(&mut self) -> usize {
        match &mut self.from {
            Some(from) => from.read(&mut self.chunk).await.unwrap_or(0),
            None => 0,
        }
    }

    /// Takes the bytes just read apart.
    pub fn cut(&mut self, bytes: usize, listener: &mut dyn Listener) {
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
                let at = good_cut(&self.partial, LINE_MAX);
                say(listener, self.stream, &self.partial[..at], true);
                self.partial.drain(..at);
            }
        }
        // A single long line must not be held in memory for the rest of the run.
        self.partial.shrink_to(32 * 1024);
    }

    /// A last line without its newline is a line too.
    pub fn finish(&mut self, listener: &mut dyn Listener) {
        if !self.partial.is_empty() {
            say(listener, self.stream, &std::mem::take(&mut self.partial), false);
        }
    }
}

fn say(listener: &mut dyn Listener, stream: Stream, bytes: &[u8], more: bool) {
    listener.line(stream, &String::from_utf8_lossy(bytes), more);
}

/// Between two words if there is such a place near `at`, else between two characters.
fn good_cut(bytes: &[u8], at: usize) -> usize {
    let between_words = |byte: &u8| matches!(byte, b' ' | b'\t' | b'\r' | b',' | b';' | b'"' | b'\'');
    let from = at.saturating_sub(CUT_SEARCH);
    match bytes[from..at].iter().rposition(between_words) {
        Some(index) => from + index + 1,
        None => character_start(bytes, at),
    }
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

    #[tokio::test]
    async fn a_word_that_lies_on_the_bound_is_not_torn() {
        let before = "x".repeat(LINE_MAX - 10);
        let rest = "and more ".repeat(2000);
        let lines = cut(format!("{before} one-long-word-over-the-bound {rest}\n").into_bytes()).await;
        assert!(lines[1].0.starts_with("one-long-word-over-the-bound"), "{:?}", lines[1]);
    }
}
