//! The terminal itself: taken, drawn on, and always given back.

use std::io::{self, IsTerminal, Write};
use std::path::Path;
use std::time::Duration;

use crossterm::clipboard::CopyToClipboard;
use crossterm::event::{
    DisableBracketedPaste, DisableFocusChange, DisableMouseCapture, EnableBracketedPaste, EnableFocusChange,
    EnableMouseCapture, Event, EventStream, KeyCode, KeyEvent, KeyEventKind, KeyModifiers, MouseButton,
    MouseEventKind,
};
use crossterm::execute;
use crossterm::style::Print;
use crossterm::terminal::{
    EnterAlternateScreen, LeaveAlternateScreen, SetTitle, disable_raw_mode, enable_raw_mode,
};
use ratatui::backend::CrosstermBackend;
use ratatui::layout::{Position, Rect};
use ratatui::{Frame, Terminal};
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio_stream::StreamExt;

use super::Left;
use super::cast::{Cast, Out};
use super::gone::Watch;
use crate::input::{Input, Key, Mouse, bursts};

/// The title that the shell gave its terminal is put aside and comes back.
const KEEP_TITLE: &str = "\x1b[22;0t";
const GIVE_TITLE_BACK: &str = "\x1b[23;0t";

/// The reader of keys needs this long at most to let go of the terminal.
const LET_GO_WITHIN: Duration = Duration::from_millis(20);

/// What a bug says must not vanish with the screen it was said on.
fn say_bugs_on_the_shells_screen() {
    let before = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |bug| {
        let _ = execute!(io::stdout(), DisableMouseCapture, DisableBracketedPaste, LeaveAlternateScreen);
        let _ = disable_raw_mode();
        before(bug);
    }));
}

pub struct Screen {
    terminal: Terminal<CrosstermBackend<Out>>,
    mouse: bool,
    taken: bool,
    watch: Watch,
}

impl Screen {
    pub fn take(mouse: bool, record: Option<&Path>) -> io::Result<Self> {
        if !io::stdout().is_terminal() || !io::stdin().is_terminal() {
            return Err(io::Error::new(io::ErrorKind::Unsupported, "not a terminal"));
        }
        let size = crossterm::terminal::size()?;
        let cast = record.map(|path| Cast::begin(path, size)).transpose()?;
        let terminal = Terminal::new(CrosstermBackend::new(Out::new(cast)))?;
        let mut screen = Self { terminal, mouse, taken: false, watch: Watch::begin()? };
        screen.enter()?;
        say_bugs_on_the_shells_screen();
        Ok(screen)
    }

    fn enter(&mut self) -> io::Result<()> {
        enable_raw_mode()?;
        self.taken = true;
        execute!(
            io::stdout(),
            Print(KEEP_TITLE),
            EnterAlternateScreen,
            EnableBracketedPaste,
            EnableFocusChange
        )?;
        if self.mouse {
            execute!(io::stdout(), EnableMouseCapture)?;
        }
        self.clear()
    }

    /// A shell that gets the terminal back must not suffer from us, whatever happened.
    pub fn give_back(&mut self) {
        if !std::mem::take(&mut self.taken) {
            return;
        }
        let mut out = io::stdout();
        if self.mouse {
            let _ = execute!(out, DisableMouseCapture);
        }
        let _ = execute!(
            out,
            DisableFocusChange,
            DisableBracketedPaste,
            LeaveAlternateScreen,
            Print(GIVE_TITLE_BACK)
        );
        let _ = disable_raw_mode();
        let _ = self.terminal.show_cursor();
        let _ = out.flush();
    }

    pub fn size(&self) -> io::Result<(u16, u16)> {
        let size = self.terminal.size()?;
        Ok((size.width, size.height))
    }

    pub fn events(&self) -> EventStream {
        EventStream::new()
    }

    pub fn draw(&mut self, picture: impl FnOnce(&mut Frame<'_>)) -> io::Result<()> {
        self.terminal.draw(picture).map(drop)
    }

    /// Everything is drawn anew. The terminal is asked nothing for it, as `Terminal::clear` would ask where its cursor is:
    /// an answer that comes late, or that the reader of keys takes, must not end the screen.
    pub fn clear(&mut self) -> io::Result<()> {
        let size = self.terminal.size()?;
        self.terminal.resize(Rect::from((Position::ORIGIN, size)))
    }

    /// Gives the terminal away for a while. What was typed meanwhile is thrown away: it was not for us.
    pub fn aside<T>(&mut self, what: impl FnOnce() -> T) -> T {
        // The reader of keys has been told to stop; when this gets its turn, it has, and takes no key of the editor's.
        let _ = crossterm::event::poll(LET_GO_WITHIN);
        self.give_back();
        let done = self.watch.while_away(what);
        let _ = self.enter();
        while crossterm::event::poll(Duration::ZERO).unwrap_or(false) {
            let _ = crossterm::event::read();
        }
        done
    }

    /// Back to the shell until it says `fg`.
    pub fn suspend(&mut self) -> io::Result<()> {
        self.give_back();
        let stopped = rustix::process::kill_process(rustix::process::getpid(), rustix::process::Signal::TSTP);
        stopped.map_err(io::Error::from)?;
        self.enter()
    }

    pub fn copy(&mut self, text: &str) -> io::Result<()> {
        execute!(io::stdout(), CopyToClipboard::to_clipboard_from(text))
    }

    pub fn title(&mut self, text: &str) -> io::Result<()> {
        execute!(io::stdout(), SetTitle(text))
    }

    /// The bell, and a notification where the terminal has them.
    pub fn bell(&mut self, what: &str) -> io::Result<()> {
        let what: String = what.chars().filter(|c| !c.is_control()).take(200).collect();
        let mut out = io::stdout();
        write!(out, "\x07\x1b]9;{what}\x1b\\")?;
        out.flush()
    }
}

impl Drop for Screen {
    fn drop(&mut self) {
        self.give_back();
    }
}

/// The terminal was closed, or somebody asked us to end.
pub struct Ended {
    signals: [Signal; 2],
}

impl Ended {
    pub fn listen() -> io::Result<Self> {
        Ok(Self { signals: [signal(SignalKind::terminate())?, signal(SignalKind::hangup())?] })
    }

    pub async fn wait(&mut self) -> Left {
        let [terminate, hang_up] = &mut self.signals;
        tokio::select! {
            _ = terminate.recv() => Left::Terminated,
            _ = hang_up.recv() => Left::HungUp,
        }
    }
}

/// None for what is of no interest: releases of keys, movements of the mouse.
/// Events that are taken in at once: more of them wait.
const TOGETHER_MAX: usize = 16 * 1024;

/// The event, and everything that came with it.
pub async fn together(first: Event, events: &mut EventStream) -> Vec<Input> {
    let mut inputs: Vec<Input> = input_of(first).into_iter().collect();
    while inputs.len() < TOGETHER_MAX
        && let Ok(Some(Ok(event))) = tokio::time::timeout(Duration::ZERO, events.next()).await
    {
        inputs.extend(input_of(event));
    }
    bursts(inputs)
}

pub fn input_of(event: Event) -> Option<Input> {
    match event {
        Event::Key(key) if key.kind != KeyEventKind::Release => key_of(key).map(Input::Key),
        Event::Paste(text) => Some(Input::Paste(text)),
        Event::Resize(columns, rows) => Some(Input::Resize(columns, rows)),
        Event::FocusGained => Some(Input::Focus(true)),
        Event::FocusLost => Some(Input::Focus(false)),
        Event::Mouse(mouse) => {
            let (column, row) = (mouse.column, mouse.row);
            match mouse.kind {
                MouseEventKind::Down(MouseButton::Left) => Some(Input::Mouse(Mouse::Click(column, row))),
                MouseEventKind::ScrollDown => Some(Input::Mouse(Mouse::Wheel { column, row, lines: 3 })),
                MouseEventKind::ScrollUp => Some(Input::Mouse(Mouse::Wheel { column, row, lines: -3 })),
                _ => None,
            }
        }
        Event::Key(_) => None,
    }
}

fn key_of(key: KeyEvent) -> Option<Key> {
    let ctrl = key.modifiers.contains(KeyModifiers::CONTROL);
    if key.modifiers.contains(KeyModifiers::ALT) {
        return None;
    }
    Some(match key.code {
        KeyCode::Char(c) if ctrl => Key::Ctrl(c.to_ascii_lowercase()),
        KeyCode::Char(c) => Key::Char(c),
        KeyCode::Enter => Key::Enter,
        KeyCode::Esc => Key::Esc,
        KeyCode::Tab => Key::Tab,
        KeyCode::BackTab => Key::BackTab,
        KeyCode::Backspace => Key::Backspace,
        KeyCode::Delete => Key::Delete,
        KeyCode::Left => Key::Left,
        KeyCode::Right => Key::Right,
        KeyCode::Up => Key::Up,
        KeyCode::Down => Key::Down,
        KeyCode::Home => Key::Home,
        KeyCode::End => Key::End,
        KeyCode::PageUp => Key::PageUp,
        KeyCode::PageDown => Key::PageDown,
        _ => return None,
    })
}
