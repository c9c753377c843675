//! `swarm status --watch`: the same screen, again whenever something has changed.

use std::io::{self, IsTerminal, Read, Write};
use std::sync::mpsc;
use std::time::Duration;

use rustix::termios::{LocalModes, OptionalActions, Termios, tcgetattr, tcgetwinsize, tcsetattr};
use swarm_protocol::view::StatusView;
use tokio::signal::unix::{SignalKind, signal};

use super::screen::screen;
use crate::context::Context;
use crate::error::CliError;
use crate::output::counted;
use crate::swarm::Swarm;
use crate::watch::Watch;

/// A terminal that was stopped (Ctrl+S) takes nothing any more, and does not keep us.
const GIVEN_BACK_WITHIN: Duration = Duration::from_secs(1);

/// Shows until `q`, Ctrl+C, or until nobody reads any more.
pub fn run(swarm: &Swarm, cx: &Context) -> Result<(), CliError> {
    let watch = swarm.watch_ledger();
    let terminal = (!cx.out.json).then(Terminal::take).flatten();
    let mut last = String::new();
    let mut mark = None;
    let mut view: Option<StatusView> = None;
    loop {
        let now_at = swarm.ledger_mark();
        if view.is_none() || mark != now_at {
            view = Some(swarm.status(None)?.0);
            mark = now_at;
        }
        let text = match (&view, &terminal) {
            (Some(view), _) if cx.out.json => serde_json::to_string(view).unwrap_or_default(),
            (Some(view), Some(_)) => screen(view, swarm.now(), cx.out.colour),
            // Times go on by themselves; in a file they are no news.
            (Some(view), None) => screen(view, view_time(swarm, view), cx.out.colour),
            (None, _) => String::new(),
        };
        if text != last {
            let shown = match &terminal {
                Some(_) => draw(&text),
                None => print(&text, !last.is_empty() && !cx.out.json),
            };
            if shown.is_err() {
                return Ok(());
            }
            last = text;
        }
        if wait(&watch, terminal.as_ref()) {
            return Ok(());
        }
    }
}

fn view_time(swarm: &Swarm, view: &StatusView) -> swarm_protocol::time::Timestamp {
    view.agents.iter().map(|agent| agent.since).max().unwrap_or_else(|| swarm.now())
}

/// True when the person wants to leave, or nobody reads any more.
fn wait(watch: &Watch, terminal: Option<&Terminal>) -> bool {
    if terminal.is_none() {
        return !watch.wait_while_read(&io::stdout());
    }
    let stdin = io::stdin();
    if !watch.wait_or(Some(&stdin)) {
        return false;
    }
    let mut keys = [0; 64];
    match stdin.lock().read(&mut keys) {
        Ok(0) | Err(_) => true,
        // q, Esc alone, Ctrl+C, Ctrl+D.
        Ok(n) => keys[..n].iter().any(|key| matches!(key, b'q' | b'Q' | 3 | 4)) || keys[..n] == [27],
    }
}

fn print(text: &str, again: bool) -> io::Result<()> {
    let mut out = io::stdout().lock();
    if again {
        writeln!(out)?;
    }
    writeln!(out, "{}", text.trim_end())?;
    out.flush()
}

/// Draws over what was there: nothing is cleared first, so nothing flickers.
fn draw(text: &str) -> io::Result<()> {
    let rows = tcgetwinsize(io::stdout()).map_or(24, |size| usize::from(size.ws_row.max(2)));
    let lines: Vec<&str> = text.trim_end().lines().collect();
    let room = rows.saturating_sub(2);
    let mut drawn = String::from("\u{1b}[H");
    for line in lines.iter().take(room) {
        drawn.push_str(line);
        drawn.push_str("\u{1b}[K\r\n");
    }
    let more = lines.len().saturating_sub(room);
    let foot = match more {
        0 => "q quits".to_owned(),
        more => format!("… {}; q quits", counted(more, "more line", "more lines")),
    };
    drawn.push_str(&format!("\u{1b}[J\u{1b}[{rows};1H{foot}\u{1b}[K"));
    let mut out = io::stdout().lock();
    out.write_all(drawn.as_bytes())?;
    out.flush()
}

/// A screen of our own on the terminal, given back at the end.
struct Terminal {
    before: Termios,
}

impl Terminal {
    fn take() -> Option<Self> {
        if !io::stdout().is_terminal() || !io::stdin().is_terminal() {
            return None;
        }
        let before = tcgetattr(io::stdin()).ok()?;
        let mut keys = before.clone();
        // Keys come one by one and are not shown; Ctrl+C too, so that the screen is always given back.
        keys.local_modes.remove(LocalModes::ICANON | LocalModes::ECHO | LocalModes::ISIG);
        give_back_at_a_signal(before.clone())?;
        tcsetattr(io::stdin(), OptionalActions::Now, &keys).ok()?;
        // Another screen, no cursor, and long lines are cut by the terminal instead of wrapped.
        let mut out = io::stdout().lock();
        let _ = out.write_all(b"\x1b[?1049h\x1b[?25l\x1b[?7l").and_then(|()| out.flush());
        Some(Self { before })
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        give_back(&mut io::stdout().lock(), &self.before);
    }
}

fn give_back(out: &mut impl Write, before: &Termios) {
    let _ = out.write_all(b"\x1b[?7h\x1b[?25h\x1b[?1049l").and_then(|()| out.flush());
    let _ = tcsetattr(io::stdin(), OptionalActions::Now, before);
}

/// Who ends the command by a signal gets the terminal back, too. None where that cannot be promised.
fn give_back_at_a_signal(before: Termios) -> Option<()> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().ok()?;
    let listening = runtime.enter();
    let mut ends = signal(SignalKind::terminate()).ok()?;
    let mut hangups = signal(SignalKind::hangup()).ok()?;
    drop(listening);
    std::thread::spawn(move || {
        let by = runtime.block_on(async {
            tokio::select! {
                _ = ends.recv() => SignalKind::terminate(),
                _ = hangups.recv() => SignalKind::hangup(),
            }
        });
        let (given, is_given) = mpsc::channel();
        std::thread::spawn(move || {
            // Held to the end: nothing is drawn behind it.
            let mut out = io::stdout().lock();
            give_back(&mut out, &before);
            let _ = given.send(());
            std::thread::park();
        });
        let _ = is_given.recv_timeout(GIVEN_BACK_WITHIN);
        // As a shell counts the end by a signal.
        std::process::exit(128 + by.as_raw_value());
    });
    Some(())
}
