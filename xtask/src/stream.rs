//! Runs a command and hands on its output line by line, as it comes.

use std::io::{BufRead, BufReader, PipeReader, Write};
use std::process::{Command, ExitStatus, Stdio};
use std::sync::mpsc::{self, Receiver, Sender};
use std::time::Duration;

use anyhow::{Context, Result};

/// How long output may still come after the command itself has ended.
///
/// A process it left behind may hold the pipe open for ever; the command is over all the same.
const AFTERGLOW_SECS: u64 = 2;

enum Heard {
    Line(String),
    Silence,
    Ended(std::io::Result<ExitStatus>),
}

/// Shows a line to the person who waits.
pub fn show(line: &str) {
    // A reader that has gone away (`| head`) does not change the outcome.
    let _ = writeln!(std::io::stdout().lock(), "{line}");
}

/// Shows what a run of mostly empty test binaries has to say, without the emptiness.
pub fn show_unless_empty(line: &str) {
    let is_empty = line.is_empty()
        || line == "running 0 tests"
        || line.starts_with("test result: ok. 0 passed; 0 failed");
    if !is_empty {
        show(line);
    }
}

/// Standard output and standard error come through one pipe, so that their order is kept.
pub fn run(mut command: Command, mut on_line: impl FnMut(&str)) -> Result<ExitStatus> {
    let shown = crate::workspace::shown(&command);
    eprintln!("$ {shown}");
    let (reader, writer) = std::io::pipe().context("Cannot make a pipe")?;
    let second = writer.try_clone().context("Cannot make a pipe")?;
    let mut child = command
        .stdin(Stdio::null())
        .stdout(writer)
        .stderr(second)
        .spawn()
        .with_context(|| format!("Cannot start {shown}"))?;
    // Holds our own ends of the pipe; while it lived, the end of the output would never be seen.
    drop(command);
    let (tell, hear) = mpsc::channel();
    let tell_the_end = tell.clone();
    std::thread::spawn(move || read_lines(reader, &tell));
    std::thread::spawn(move || tell_the_end.send(Heard::Ended(child.wait())));
    listen(&hear, &mut on_line).with_context(|| format!("Cannot wait for {shown}"))
}

fn read_lines(reader: PipeReader, tell: &Sender<Heard>) {
    let mut reader = BufReader::new(reader);
    let mut bytes = Vec::new();
    while reader.read_until(b'\n', &mut bytes).is_ok_and(|count| count > 0) {
        let line = String::from_utf8_lossy(&bytes).trim_end_matches(['\n', '\r']).to_owned();
        bytes.clear();
        if tell.send(Heard::Line(line)).is_err() {
            return;
        }
    }
    // Nobody listens any more when this fails, and then nothing is left to say.
    let _ = tell.send(Heard::Silence);
}

fn listen(hear: &Receiver<Heard>, on_line: &mut impl FnMut(&str)) -> Result<ExitStatus> {
    let mut ended: Option<ExitStatus> = None;
    let mut silent = false;
    loop {
        let heard = match ended {
            Some(status) if silent => return Ok(status),
            None => hear.recv().context("nobody is left to say how it ended")?,
            Some(status) => match hear.recv_timeout(Duration::from_secs(AFTERGLOW_SECS)) {
                Ok(heard) => heard,
                Err(_) => return Ok(status),
            },
        };
        match heard {
            Heard::Line(line) => on_line(&line),
            Heard::Silence => silent = true,
            Heard::Ended(status) => ended = Some(status.context("its end could not be waited for")?),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Instant;

    use super::*;

    fn heard(script: &str) -> (Vec<String>, ExitStatus) {
        let mut lines = Vec::new();
        let mut command = Command::new("sh");
        command.args(["-c", script]);
        let status = run(command, |line| lines.push(line.to_owned())).expect("sh starts");
        (lines, status)
    }

    #[test]
    fn both_outputs_are_heard_in_order_with_the_status() {
        let (lines, status) = heard("echo a; echo b >&2; printf c; exit 3");
        assert_eq!(lines, ["a", "b", "c"]);
        assert_eq!(status.code(), Some(3));
    }

    #[test]
    fn a_process_left_behind_does_not_keep_us_waiting() {
        let started = Instant::now();
        let (lines, status) = heard("sleep 100 & echo $!; exit 0");
        assert!(status.success());
        assert!(started.elapsed() < Duration::from_secs(50), "waited for the one left behind");
        let ended = Command::new("kill").arg(&lines[0]).status().expect("kill starts");
        assert!(ended.success());
    }
}
