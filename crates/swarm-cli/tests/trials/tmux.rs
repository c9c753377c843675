//! A real terminal for the terminal UI: keys in, screen out.

use std::path::PathBuf;
use std::process::{Command, Output};
use std::sync::atomic::{AtomicU32, Ordering};

use crate::arena::{Arena, wait_for};

/// An editor that needs no hands.
pub const EDITOR: &str = "sed -i s/prove/show/";

/// Servers that were started.
static STARTED: AtomicU32 = AtomicU32::new(0);

/// A terminal of its own, with its own server below the arena.
pub struct Tmux {
    socket: PathBuf,
}

impl Tmux {
    pub fn start(arena: &Arena, columns: u32, rows: u32, args: &[&str]) -> Self {
        Self::begin(arena, columns, rows, args, false, EDITOR)
    }

    pub fn start_with_editor(arena: &Arena, args: &[&str], editor: &str) -> Self {
        Self::begin(arena, 80, 24, args, false, editor)
    }

    /// The terminal stays when its program has ended, with what that said last.
    pub fn start_and_stay(arena: &Arena, args: &[&str]) -> Self {
        Self::begin(arena, 80, 24, args, true, EDITOR)
    }

    fn begin(arena: &Arena, columns: u32, rows: u32, args: &[&str], stays: bool, editor: &str) -> Self {
        // One that is just ending must not be taken for the next one.
        let nth = STARTED.fetch_add(1, Ordering::Relaxed);
        let tmux = Self { socket: arena.path(&format!("tmux-{nth}.sock")) };
        let program = arena.command(args);
        let mut command = tmux.command();
        command.args([
            "-f",
            "/dev/null",
            "new-session",
            "-d",
            "-c",
            &arena.root.display().to_string(),
            "-x",
            &columns.to_string(),
            "-y",
            &rows.to_string(),
        ]);
        // The program gets what the arena gives to every other one.
        command
            .envs(program.get_envs().filter_map(|(name, value)| Some((name, value?))))
            .env("HOME", arena.path(""))
            .env("GIT_CONFIG_NOSYSTEM", "1")
            .env_remove("NO_COLOR")
            .env_remove("CI")
            .env_remove("ACCESSIBLE")
            .env("EDITOR", editor)
            .env("LANG", "C.UTF-8");
        if stays {
            // A shell stays behind it: what tmux itself knows of an ended program comes late at times.
            command.args(["sh", "-c", "\"$@\"; echo \"ended with $?\"; exec cat", "sh"]);
        }
        command.arg(program.get_program()).args(program.get_args());
        let out = command.output().expect("tmux runs");
        assert!(out.status.success(), "tmux: {}", String::from_utf8_lossy(&out.stderr));
        tmux
    }

    fn command(&self) -> Command {
        let mut command = Command::new("tmux");
        command.arg("-S").arg(&self.socket).env_remove("TMUX");
        command
    }

    pub fn run(&self, args: &[&str]) -> Output {
        self.command().args(args).output().expect("tmux runs")
    }

    /// Names of keys as tmux has them: `Enter`, `Space`, `q`.
    pub fn press(&self, key: &str) {
        self.run(&["send-keys", key]);
    }

    pub fn type_in(&self, text: &str) {
        self.run(&["send-keys", "-l", text]);
    }

    pub fn screen(&self) -> String {
        String::from_utf8_lossy(&self.run(&["capture-pane", "-p"]).stdout).into_owned()
    }

    /// The line of the plan that is about this task.
    pub fn line(&self, task: &str) -> String {
        let screen = self.screen();
        let has = |line: &&str| line.split_whitespace().any(|word| word == task) && line.contains("Do ");
        screen.lines().find(has).unwrap_or_default().to_owned()
    }

    pub fn until(&self, what: &str, holds: impl Fn(&str) -> bool) {
        let mut last = String::new();
        let waited = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            wait_for(what, || {
                last = self.screen();
                holds(&last)
            });
        }));
        assert!(waited.is_ok(), "waited in vain until {what}:\n{last}");
    }

    pub fn until_said(&self, text: &str) {
        self.until(text, |screen| screen.contains(text));
    }

    pub fn until_line(&self, task: &str, what: &str, holds: impl Fn(&str) -> bool) {
        self.until(what, |_| holds(&self.line(task)));
    }

    /// Of the program in a terminal that stays.
    pub fn exit_code(&self) -> String {
        let code = |screen: &str| {
            let line = screen.lines().rev().find_map(|line| line.strip_prefix("ended with "));
            line.map(|code| code.trim().to_owned())
        };
        self.until("the program has ended", |screen| code(screen).is_some());
        code(&self.screen()).unwrap_or_default()
    }

    /// The process in the terminal.
    pub fn program(&self) -> u32 {
        let said = self.run(&["display-message", "-p", "#{pane_pid}"]).stdout;
        String::from_utf8_lossy(&said).trim().parse().expect("a process id")
    }

    pub fn has_ended(&self) -> bool {
        !self.run(&["has-session"]).status.success()
    }
}

impl Drop for Tmux {
    fn drop(&mut self) {
        self.run(&["kill-server"]);
    }
}
