//! A terminal that is gone, noticed by a thread of its own.
//!
//! The reader of keys asks a terminal that is gone again and again without end, and holds a lock meanwhile that is
//! needed to ask for keys at all. A loop that comes for it, as after an editor, never gets it and never hears the signal:
//! a process without a terminal that keeps a core busy for ever.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, poll};
use rustix::io::Errno;

/// A loop that hears of it needs far less to leave.
const LEAVES_WITHIN: Duration = Duration::from_secs(5);

/// What a shell says of a program that a closed terminal has ended.
const HUNG_UP: i32 = 129;

/// As long as it lives the process does not outlive its terminal.
pub struct Watch {
    /// Its end tells the thread that the screen has been left.
    _here: Sender<()>,
    away: Arc<AtomicBool>,
}

impl Watch {
    pub fn begin() -> io::Result<Self> {
        let (here, left) = channel();
        let away = Arc::new(AtomicBool::new(false));
        let seen = Arc::clone(&away);
        std::thread::Builder::new().name("terminal".into()).spawn(move || end_with_it(&left, &seen))?;
        Ok(Self { _here: here, away })
    }

    /// Another program has the terminal, and is waited for however long it takes: an editor may have a window of its own.
    pub fn while_away<T>(&self, what: impl FnOnce() -> T) -> T {
        self.away.store(true, Ordering::SeqCst);
        let done = what();
        self.away.store(false, Ordering::SeqCst);
        done
    }
}

fn end_with_it(left: &Receiver<()>, away: &AtomicBool) {
    if !wait_until_gone() {
        return;
    }
    loop {
        let was_away = away.load(Ordering::SeqCst);
        match left.recv_timeout(LEAVES_WITHIN) {
            // Nothing here is kept in memory alone, and the swarm goes on without a screen.
            Err(RecvTimeoutError::Timeout) if !was_away => std::process::exit(HUNG_UP),
            Err(RecvTimeoutError::Timeout) => {}
            Ok(()) | Err(RecvTimeoutError::Disconnected) => return,
        }
    }
}

/// False when it cannot be known.
fn wait_until_gone() -> bool {
    loop {
        // Asked for nothing, it answers only with the end.
        let mut terminal = [PollFd::from_borrowed_fd(rustix::stdio::stdin(), PollFlags::empty())];
        match poll(&mut terminal, None) {
            Ok(_) => return terminal[0].revents().contains(PollFlags::HUP),
            Err(Errno::INTR) => {}
            Err(_) => return false,
        }
    }
}
