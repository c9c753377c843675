//! The targets: one function for each kind of bytes that comes from outside.

use serde_json::value::RawValue;
use swarm_agents::journal::Stream;
use swarm_agents::{AgentProgram, Ending, ExitFacts, Moment, reading_of};
use swarm_protocol::channel::{Downward, FromDaemon, Upward};
use swarm_protocol::ids::TaskId;
use swarm_protocol::planfile::{Source, import, parse, parse_parts, to_json, to_markdown};
use swarm_protocol::record::{Margin, body, event_of};

/// Lines of a ledger, and the events in them: what can be read is written and read again as the same.
pub fn ledger_lines(bytes: &[u8]) {
    for line in bytes.split_inclusive(|byte| *byte == b'\n') {
        swarm_ledger::frame::claimed_len(line);
        if let Ok(line) = swarm_ledger::frame::check_line(line) {
            record(line.body);
        }
        // The hash of a changed line never holds; what stands behind it is read all the same.
        if let Ok(line) = swarm_ledger::parse_line(line) {
            record(line.body);
        }
        let inner = line.trim_ascii().strip_prefix(b"{").and_then(|line| line.strip_suffix(b"}"));
        if let Some(inner) = inner {
            record(inner);
        }
    }
}

fn record(inner: &[u8]) {
    let Ok(event) = event_of(inner) else { return };
    let whole = [b"{", inner, b"}"].concat();
    if let Ok(margin) = Margin::read(&whole) {
        assert!(!margin.kind.is_empty());
    }
    let written = body(&event, "person:cli", None);
    let again = event_of(written.as_bytes()).unwrap_or_else(|error| panic!("{error}: {written}"));
    assert_eq!(again, event, "{written}");
}

/// Frames between daemons and the coordinator, in both directions.
pub fn daemon_frames(bytes: &[u8]) {
    for line in bytes.split(|byte| *byte == b'\n') {
        if let Ok(frame) = serde_json::from_slice::<Upward>(line) {
            let written = serde_json::to_vec(&frame).expect("a frame is plain data");
            let again: Upward = serde_json::from_slice(&written).expect("what was written can be read");
            assert_eq!(again, frame);
            if let Upward::Report { report, .. } = frame {
                let report = report.with_texts(|text| text.to_uppercase());
                if let FromDaemon::Ended { how } = report {
                    how.describe();
                }
            }
        }
        if let Ok(frame) = serde_json::from_slice::<Downward>(line) {
            let written = serde_json::to_vec(&frame).expect("a frame is plain data");
            let again: Downward = serde_json::from_slice(&written).expect("what was written can be read");
            assert_eq!(again, frame);
        }
    }
}

/// Plan files of ours and of other tools. What is a plan comes back the same from both formats.
pub fn plan_files(bytes: &[u8]) {
    if let Ok(plan) = parse("plan", bytes) {
        let json = to_json(&plan);
        assert_eq!(parse("plan", json.as_bytes()).expect("our own JSON is a plan"), plan, "{json}");
        let text = to_markdown(&plan);
        assert_eq!(parse("plan", text.as_bytes()).expect("our own checklist is a plan"), plan, "{text}");
    }
    let parent = TaskId::new("1.1").expect("an id");
    drop(parse_parts("parts", bytes, &parent));
    drop(import("plan", bytes, None));
    for source in Source::ALL {
        drop(import("plan", bytes, Some(source)));
    }
}

/// What an agent program prints: the first byte chooses the program, a line that begins with `!` is on stderr.
pub fn agent_output(bytes: &[u8]) {
    let Some((first, rest)) = bytes.split_first() else { return };
    let program = AgentProgram::ALL[usize::from(*first) % AgentProgram::ALL.len()];
    let text = String::from_utf8_lossy(rest);
    let mut reading = reading_of(program, text.lines().next().unwrap_or_default());
    for line in text.split('\n') {
        match line.strip_prefix('!') {
            Some(line) => reading.line(Stream::Err, line, false),
            None => reading.line(Stream::Out, line, false),
        }
        reading.outgoing();
        reading.patience();
        drop(reading.enough());
    }
    let endings = [Ending::ByItself, Ending::Silent, Ending::Enough, Ending::Stopped, Ending::TimedOut];
    let now = Moment { unix_secs: 1_800_000_000, minute_of_day: 61 };
    for (ending, code) in endings.into_iter().zip([Some(0), None, Some(1), Some(127), None]) {
        drop(reading.conclude(&ExitFacts { code, signal: None, ending, now }));
    }
}

/// The configuration file.
pub fn config(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    if let Ok(settings) = swarm_engine::settings::of_text(text) {
        let written = serde_json::to_string(&settings.config).expect("a configuration is plain data");
        // A value that could not be written as JSON would show here.
        let raw: &RawValue = serde_json::from_str(&written).expect("what was written is JSON");
        assert_eq!(raw.get(), written);
    }
}
