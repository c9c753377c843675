//! The program's standard input where it is a dialogue: written without ever waiting for the program.

use std::collections::VecDeque;

use tokio::io::AsyncWriteExt;
use tokio::process::ChildStdin;

use super::program::{Listener, Outgoing};

/// What a program has not read yet. One that leaves more than this unread is not listening.
const QUEUE_BYTES_MAX: usize = 8 << 20;

/// Answers taken from the listener in one go. More than this in a row is a listener that never ends.
const ASKED_MAX: usize = 1024;

/// Why nothing more can be said.
#[derive(Debug, PartialEq, Eq)]
pub struct NotListening;

pub struct Dialogue {
    to: Option<ChildStdin>,
    waiting: VecDeque<u8>,
    closing: bool,
}

impl Dialogue {
    pub fn new(to: Option<ChildStdin>) -> Self {
        Self { to, waiting: VecDeque::new(), closing: false }
    }

    /// Takes what the listener wants to say.
    pub fn ask(&mut self, listener: &mut dyn Listener) -> Result<(), NotListening> {
        for _ in 0..ASKED_MAX {
            // After a program closed its input there is nobody to say anything to; nor after our own close.
            if self.to.is_none() || self.closing {
                return Ok(());
            }
            match listener.outgoing() {
                Outgoing::Nothing => return Ok(()),
                Outgoing::Close => self.close(),
                Outgoing::Bytes(bytes) if self.waiting.len() + bytes.len() > QUEUE_BYTES_MAX => {
                    self.to = None;
                    self.waiting = VecDeque::new();
                    return Err(NotListening);
                }
                Outgoing::Bytes(bytes) => self.waiting.extend(bytes),
            }
        }
        Ok(())
    }

    /// No more is said: the pipe is closed when what waits has been written.
    pub fn close(&mut self) {
        self.closing = true;
        if self.waiting.is_empty() {
            self.to = None;
        }
    }

    /// Nothing more will come from us: it was closed, by either side.
    pub fn is_over(&self) -> bool {
        self.to.is_none()
    }

    pub fn wants_to_write(&self) -> bool {
        self.to.is_some() && !self.waiting.is_empty()
    }

    /// Writes as much as the pipe takes at once. May be dropped at any point.
    pub async fn write(&mut self) {
        let Some(to) = &mut self.to else { return std::future::pending().await };
        match to.write(self.waiting.as_slices().0).await {
            Ok(written) => {
                self.waiting.drain(..written);
                if self.waiting.is_empty() && self.closing {
                    self.to = None;
                }
            }
            // It closed its side. That is its right, and its end says more than this error.
            Err(_) => {
                self.to = None;
                self.waiting = VecDeque::new();
            }
        }
    }
}
