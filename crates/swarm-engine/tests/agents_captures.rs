//! Every recording of a real agent program is what `agents/expected.txt` says, and a text that merely
//! mentions trouble is none.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use serde_json::Value;
use swarm_agents::journal::Stream;
use swarm_agents::{
    AgentEvent, AgentProgram, Circles, Conclusion, Ending, ExitFacts, Moment, Patience, Reading, Seen,
    reading_of,
};

/// 00:16 on the day of the recordings, by UTC.
const NOW: Moment = Moment { unix_secs: 1_794_701_760, minute_of_day: 16 };

pub fn agents() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../agents")
}

pub struct Recording {
    program: AgentProgram,
    out: String,
    err: String,
    code: i32,
    signaled: bool,
    /// The probe sent a signal, or its time was up.
    ended_by_us: bool,
    timed_out: bool,
}

pub fn recording(name: &str) -> Recording {
    let dir = agents().join("captures").join(name);
    let read = |file: &str| {
        let bytes = std::fs::read(dir.join(file)).unwrap_or_else(|e| panic!("{name}/{file}: {e}"));
        String::from_utf8_lossy(&bytes).into_owned()
    };
    let meta: Value = serde_json::from_str(&read("meta.json")).expect("meta.json");
    let folder = name.split('/').next().expect("folder");
    let program = AgentProgram::named(folder).unwrap_or(AgentProgram::Acp);
    let timed_out = meta["timed_out"] == true;
    Recording {
        program,
        out: read("stdout"),
        err: read("stderr"),
        code: read("exit").trim().parse().expect("exit code"),
        signaled: meta["signaled"] == true,
        ended_by_us: timed_out || meta["signals"].as_array().is_some_and(|sent| !sent.is_empty()),
        timed_out,
    }
}

impl Recording {
    /// The same run, told in other words.
    pub fn reworded(&self, words: impl Fn(&str) -> String) -> Self {
        let (out, err) = (words(&self.out), words(&self.err));
        let Self { program, code, signaled, ended_by_us, timed_out, .. } = *self;
        Self { program, out, err, code, signaled, ended_by_us, timed_out }
    }

    pub fn reading(&self) -> Reading {
        reading_of(self.program, self.out.lines().next().unwrap_or_default())
    }

    pub fn lines(&self) -> impl Iterator<Item = (Stream, &str)> {
        let out = self.out.lines().map(|line| (Stream::Out, line));
        out.chain(self.err.lines().map(|line| (Stream::Err, line)))
    }

    fn exit(&self, ending: Ending) -> ExitFacts {
        let signal = self.signaled.then_some(self.code - 128);
        ExitFacts { code: (!self.signaled).then_some(self.code), signal, ending, now: NOW }
    }

    pub fn as_recorded(&self, after: bool) -> Conclusion {
        let mut reading = self.reading();
        self.lines().for_each(|(stream, line)| reading.line(stream, line, false));
        let ending = match (self.ended_by_us, after) {
            (true, true) => Ending::Silent,
            (true, false) => Ending::Stopped,
            (false, _) => Ending::ByItself,
        };
        reading.conclude(&self.exit(ending))
    }

    /// As the swarm would have had it: ended when there was enough, or when it had been silent for too long.
    /// Ended by a signal that nobody of us sent.
    pub fn killed_by_another(&self) -> Conclusion {
        let mut reading = self.reading();
        self.lines().for_each(|(stream, line)| reading.line(stream, line, false));
        reading.conclude(&ExitFacts { code: None, signal: Some(9), ending: Ending::ByItself, now: NOW })
    }

    pub fn live(&self) -> Conclusion {
        let mut reading = self.reading();
        for (stream, line) in self.lines() {
            reading.line(stream, line, false);
            if reading.enough().is_some() {
                return reading.conclude(&self.exit(Ending::Enough));
            }
        }
        let silent = self.timed_out || self.ended_by_us;
        reading.conclude(&self.exit(if silent { Ending::Silent } else { Ending::ByItself }))
    }
}

pub fn word(conclusion: &Conclusion) -> String {
    match conclusion {
        Conclusion::Done { denied } if denied.is_empty() => "done".into(),
        Conclusion::Done { .. } => "denied".into(),
        Conclusion::Interrupted => "interrupted".into(),
        Conclusion::Failed(failure) => failure.class.word().into(),
    }
}

/// Recording, class, whether we ended it after its last word, live.
pub fn table() -> Vec<(String, String, bool, String)> {
    let text = std::fs::read_to_string(agents().join("expected.txt")).expect("expected.txt");
    let rows = text.lines().filter(|line| !line.trim().is_empty() && !line.starts_with('#'));
    rows.map(|line| {
        let words: Vec<&str> = line.split_whitespace().collect();
        match words.as_slice() {
            [name, class, live] => ((*name).into(), (*class).into(), false, (*live).into()),
            [name, class, "after", live] => ((*name).into(), (*class).into(), true, (*live).into()),
            _ => panic!("not a row: {line}"),
        }
    })
    .collect()
}

#[test]
fn every_recording_is_what_the_table_says() {
    let rows = table();
    assert_eq!(rows.len(), 360);
    let wrong: Vec<String> = rows
        .iter()
        .filter_map(|(name, class, after, live)| {
            let recording = recording(name);
            let (found, found_live) = (recording.as_recorded(*after), recording.live());
            let right = word(&found) == *class && (live == "-" || word(&found_live) == *live);
            (!right).then(|| format!("{name}: {class} {live}, found {found:?} live {found_live:?}"))
        })
        .collect();
    assert!(wrong.is_empty(), "{} wrong:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn every_recording_is_in_the_table_once() {
    let mut there = BTreeSet::new();
    for program in std::fs::read_dir(agents().join("captures")).expect("captures") {
        let program = program.expect("entry");
        for capture in std::fs::read_dir(program.path()).expect("program") {
            let name = capture.expect("entry").file_name().to_string_lossy().into_owned();
            there.insert(format!("{}/{name}", program.file_name().to_string_lossy()));
        }
    }
    let rows = table();
    let listed: BTreeSet<String> = rows.iter().map(|(name, ..)| name.clone()).collect();
    assert_eq!(listed.len(), rows.len(), "a recording stands twice");
    assert_eq!(there, listed);
}

/// A run that went well, in which a tool printed this text.
fn with_tool_output(program: AgentProgram, said: &str) -> (Vec<String>, i32) {
    let said = serde_json::to_string(said).expect("json");
    let lines: &[&str] = match program {
        AgentProgram::Claude => &[
            r#"{"type":"system","subtype":"init","session_id":"s"}"#,
            r#"{"type":"assistant","message":{"id":"m","content":[{"type":"tool_use","id":"t","name":"Bash","input":{"command":"npm test"}}]}}"#,
            r#"{"type":"user","message":{"content":[{"type":"tool_result","tool_use_id":"t","is_error":true,"content":SAID}]}}"#,
            r#"{"type":"assistant","message":{"id":"n","content":[{"type":"text","text":SAID}]}}"#,
            r#"{"type":"result","subtype":"success","is_error":false,"terminal_reason":"completed","result":SAID,"permission_denials":[]}"#,
        ],
        AgentProgram::Codex => &[
            r#"{"type":"thread.started","thread_id":"s"}"#,
            r#"{"type":"item.completed","item":{"id":"i","type":"command_execution","command":"npm test","aggregated_output":SAID,"exit_code":1,"status":"failed"}}"#,
            r#"{"type":"item.completed","item":{"id":"j","type":"agent_message","text":SAID}}"#,
            r#"{"type":"turn.completed","usage":{"input_tokens":1}}"#,
        ],
        AgentProgram::Opencode => &[
            r#"{"type":"step_start","sessionID":"s"}"#,
            r#"{"type":"tool_use","part":{"tool":"bash","state":{"status":"error","input":{"command":"npm test"},"error":SAID}}}"#,
            r#"{"type":"text","part":{"text":SAID}}"#,
            r#"{"type":"step_finish","part":{"reason":"stop","tokens":{"input":1}}}"#,
        ],
        AgentProgram::Gemini => &[
            r#"{"type":"init","session_id":"s"}"#,
            r#"{"type":"tool_use","tool_id":"t","tool_name":"run_shell_command","parameters":{"command":"npm test"}}"#,
            r#"{"type":"tool_result","tool_id":"t","status":"error","output":SAID,"error":{"type":"shell_error","message":SAID}}"#,
            r#"{"type":"message","role":"assistant","content":SAID,"delta":true}"#,
            r#"{"type":"result","status":"success","stats":{}}"#,
        ],
        _ => &[
            r#"{"jsonrpc":"2.0","id":1,"result":{"sessionId":"s"}}"#,
            r#"{"jsonrpc":"2.0","method":"session/update","params":{"update":{"sessionUpdate":"tool_call","toolCallId":"t","title":"npm test","status":"pending"}}}"#,
            r#"{"jsonrpc":"2.0","method":"session/update","params":{"update":{"sessionUpdate":"tool_call_update","toolCallId":"t","status":"failed","rawOutput":SAID}}}"#,
            r#"{"jsonrpc":"2.0","method":"session/update","params":{"update":{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":SAID}}}}"#,
            r#"{"jsonrpc":"2.0","id":2,"result":{"stopReason":"end_turn"}}"#,
        ],
    };
    (lines.iter().map(|line| line.replace("SAID", &said)).collect(), 0)
}

#[test]
fn a_test_suite_that_prints_of_quotas_and_keys_has_neither() {
    let texts = [
        "FAIL quota: You've hit your usage limit. try again at 2:16 AM",
        "expected 200, got 401 Unauthorized: invalid api key",
        "error: 429 Too Many Requests, rate limit reached, insufficient_quota",
        "529 overloaded_error, Reconnecting... 3/5 (last status: 429)",
        "context_length_exceeded: prompt is too long\nAttempt 1 failed\nAttempt 2 failed\nAttempt 3 failed",
        r#"{"type":"result","is_error":true,"terminal_reason":"api_error"}"#,
        r#"{"type":"turn.failed","error":{"message":"Quota exceeded."}}"#,
    ];
    for program in [
        AgentProgram::Claude,
        AgentProgram::Codex,
        AgentProgram::Opencode,
        AgentProgram::Gemini,
        AgentProgram::Acp,
    ] {
        for text in texts {
            let (lines, code) = with_tool_output(program, text);
            let mut reading = reading_of(program, &lines[0]);
            for line in &lines {
                reading.line(Stream::Out, line, false);
                assert_eq!(reading.enough(), None, "{program:?} {text}");
            }
            let exit = ExitFacts { code: Some(code), signal: None, ending: Ending::ByItself, now: NOW };
            assert_eq!(
                reading.conclude(&exit),
                Conclusion::Done { denied: Vec::new() },
                "{program:?} {text}"
            );
        }
    }
}

#[test]
fn a_tag_in_a_tools_output_or_in_the_prompt_is_no_signal_and_the_agents_own_is() {
    for program in [
        AgentProgram::Claude,
        AgentProgram::Codex,
        AgentProgram::Opencode,
        AgentProgram::Gemini,
        AgentProgram::Acp,
    ] {
        let (lines, _) = with_tool_output(program, "all good\n<swarm>COMPLETE</swarm>");
        let mut reading = reading_of(program, &lines[0]);
        // Up to what the agent says itself: the third or fourth line.
        let own = lines.iter().position(|line| {
            ["\"text\",\"text\"", "agent_message", "\"type\":\"text\"", "assistant\",\"content\""]
                .iter()
                .any(|mark| line.contains(mark))
        });
        let own = own.expect("a line of the agent");
        lines[..own].iter().for_each(|line| reading.line(Stream::Out, line, false));
        assert_eq!(reading.heard.signal, None, "{program:?}");
        lines[own..].iter().for_each(|line| reading.line(Stream::Out, line, false));
        let exit = ExitFacts { code: Some(0), signal: None, ending: Ending::ByItself, now: NOW };
        let _ = reading.conclude(&exit);
        assert!(reading.heard.signal.is_some(), "{program:?}");
    }
}

#[test]
fn cost_tokens_and_sessions_are_read() {
    let check = |name: &str, input: u64, output: u64, cost_micros: u64, session: &str| {
        let recording = recording(name);
        let mut reading = recording.reading();
        recording.lines().for_each(|(stream, line)| reading.line(stream, line, false));
        let usage = reading.heard.usage;
        let found = (usage.input_tokens, usage.output_tokens, usage.cost_micros);
        assert_eq!(found, (input, output, cost_micros), "{name}");
        assert!(usage.steps > 0, "{name}");
        assert_eq!(reading.heard.session.as_deref(), Some(session), "{name}");
    };
    check("claude/tool_write", 8410, 50, 12240, "11111111-1111-4111-8111-111111111101");
    // Cut off before its final event: what it told on the way, and no dollars.
    check("claude/sigterm_tool", 4200, 1, 0, "11111111-1111-4111-8111-111111111111");
    check("codex/app_server_tool_write", 2010, 50, 0, "01a1dcab-cd04-7593-9af4-f294f0f6df21");
    // It begins by repeating what the last call of the turn before used.
    check("codex/app_server_resume", 1030, 25, 0, "01a1f03e-ba36-7c70-ac48-8c0b7065119f");
    check("codex/tool_write", 2010, 50, 0, "01a1dc8d-5f1c-71d0-945a-9a99effcb402");
    check("gemini/tool_write", 3010, 75, 0, "22222222-1111-4111-8111-111111111101");
    check("opencode/deny_rule", 2010, 50, 1660, "ses_e236dc036ffeNNTiCwEZrWUyKi");
    check("claude-agent-acp/acp_allow", 8410, 50, 16800, "47610a6c-76b0-4332-8eb1-2056305b586d");
    check("claude-agent-acp/acp_resume", 4240, 25, 37040, "b829d2e1-09bf-4855-85d7-d9eed656b804");
}

#[test]
fn a_sum_over_a_whole_session_is_told_from_what_one_turn_cost() {
    let check = |name: &str, cost: bool, tokens: bool| {
        let recording = recording(name);
        let mut reading = recording.reading();
        recording.lines().for_each(|(stream, line)| reading.line(stream, line, false));
        assert_eq!(
            (reading.heard.cost_of_session, reading.heard.tokens_of_session),
            (cost, tokens),
            "{name}"
        );
    };
    check("claude/tool_write", true, false);
    check("claude-agent-acp/acp_resume", true, false);
    check("codex/tool_write", false, true);
    check("codex/app_server_resume", false, false);
    check("gemini/tool_write", false, false);
}

#[test]
fn the_time_of_a_reset_becomes_a_distance() {
    let check = |name: &str, expected: u64| {
        let Conclusion::Failed(failure) = recording(name).as_recorded(true) else { panic!("{name} failed") };
        assert_eq!(failure.resets_in_secs, Some(expected), "{name}");
    };
    check("claude/quota_unified_oauth", 1_794_709_080 - NOW.unix_secs);
    check("codex/quota", 2 * 3600);
    check("opencode/quota", 1_794_710_354 - NOW.unix_secs);
    check("codex-acp/acp_quota", 2 * 3600 + 11 * 60);
}

#[test]
fn failures_that_a_person_must_end_say_what_helps() {
    for (name, hint) in [
        ("claude/auth", "claude"),
        ("codex/no_key", "codex login"),
        ("gemini/no_key", "gemini"),
        ("opencode/auth", "opencode auth login"),
        ("claude/unknown_flag", "swarm doctor"),
    ] {
        let Conclusion::Failed(failure) = recording(name).as_recorded(false) else { panic!("{name} failed") };
        assert!(failure.hint.as_deref().is_some_and(|text| text.contains(hint)), "{name}: {failure:?}");
        assert!(!failure.text.is_empty() && !failure.text.contains('\u{1b}'), "{name}: {failure:?}");
    }
}

/// What is said of the calls of this run.
fn noticed(recording: &Recording) -> Vec<String> {
    let mut reading = recording.reading();
    let mut circles = Circles::new(Patience { note: 5, stop: 10 });
    let mut said = Vec::new();
    for (stream, line) in recording.lines() {
        reading.line(stream, line, false);
        for event in reading.heard.events.drain(..) {
            let seen = match event {
                AgentEvent::ToolStarted { name, input, same: Some(same) }
                | AgentEvent::ToolKnown { name, input, same } => {
                    circles.called(same, &format!("{name} {input}"))
                }
                _ => Seen::Nothing,
            };
            match seen {
                Seen::Nothing => {}
                Seen::Note(text) => said.push(format!("note {text}")),
                Seen::Enough(text) => {
                    said.push(format!("enough {text}"));
                    circles.progress();
                }
            }
        }
    }
    said
}

/// The same calls, each of another command.
fn of_other_commands(text: &str) -> String {
    let other = |line: &str| {
        let id = line.split("\"toolCallId\":\"").nth(1).and_then(|rest| rest.split('"').next());
        id.map_or_else(|| line.to_owned(), |id| line.replace("echo again", &format!("echo {id}")))
    };
    text.lines().map(|line| other(line) + "\n").collect()
}

#[test]
fn a_loop_told_over_acp_is_noticed_and_as_many_different_commands_are_none() {
    let looping = recording("opencode/acp_loop");
    assert!(
        noticed(&looping).iter().any(|said| said.contains("10 times in a row")),
        "{:?}",
        noticed(&looping)
    );
    for name in ["opencode/acp_loop", "claude-agent-acp/acp_loop", "codex-acp/acp_loop", "gemini/acp_loop"] {
        let differing = recording(name).reworded(of_other_commands);
        assert!(!differing.out.contains("echo again"), "{name}: a call kept its command");
        assert_eq!(noticed(&differing), Vec::<String>::new(), "{name}");
    }
}

#[test]
fn a_recorded_loop_is_noticed_from_its_calls() {
    let check = |name: &str, expected: &[&str]| {
        let mut said = noticed(&recording(name));
        said.truncate(expected.len().max(1));
        assert_eq!(said, expected, "{name}");
    };
    let in_a_row = |word: &str, times: u32, call: &str| {
        format!("{word} the same call {times} times in a row without a new commit: {call}")
    };
    let codex = "shell /bin/bash -lc 'echo again'";
    check("codex/loop", &[&in_a_row("note", 5, codex), &in_a_row("enough", 10, codex)]);
    check(
        "opencode/loop",
        &[&in_a_row("note", 5, "bash echo again"), &in_a_row("enough", 10, "bash echo again")],
    );
    // Its own guard is the first to speak.
    check("gemini/loop", &[]);
    for quiet in [
        "claude/tool_write",
        "codex/tool_write",
        "gemini/tool_write",
        "opencode/tool_write",
        "claude-acp/acp_allow",
    ] {
        check(quiet, &[]);
    }
}

#[test]
fn a_denial_that_was_the_last_thing_tried_is_told_from_one_that_was_got_around() {
    let check = |name: &str, last: bool| {
        let recording = recording(name);
        let mut reading = recording.reading();
        recording.lines().for_each(|(stream, line)| reading.line(stream, line, false));
        let _ = reading.conclude(&recording.exit(Ending::ByItself));
        assert_eq!(reading.heard.denied_last, last, "{name}: {:?}", reading.heard.denied);
    };
    for name in [
        "claude/deny_rule",
        "claude/deny_hook_exit2",
        "claude/mcp_tool_not_allowed",
        "codex/deny_rule",
        "codex/deny_hook",
        "codex/tool_write_read_only",
        "gemini/deny_policy",
        "opencode/deny_rule",
        "opencode/deny_ask",
        "claude-acp/acp_reject",
    ] {
        check(name, true);
    }
    for name in [
        "claude/tool_write",
        "codex/tool_write",
        "gemini/tool_write",
        "opencode/tool_write",
        "claude-acp/acp_allow",
    ] {
        check(name, false);
    }
    // Denied first, done another way then.
    let (lines, _) = with_tool_output(AgentProgram::Gemini, "x");
    let mut reading = reading_of(AgentProgram::Gemini, &lines[0]);
    for line in [
        r#"{"type":"tool_use","tool_id":"a","tool_name":"run_shell_command","parameters":{"command":"touch x"}}"#,
        r#"{"type":"tool_result","tool_id":"a","status":"error","error":{"type":"policy_violation","message":"no"}}"#,
    ] {
        reading.line(Stream::Out, line, false);
    }
    assert!(reading.heard.denied_last);
    for line in [
        r#"{"type":"tool_use","tool_id":"b","tool_name":"write_file","parameters":{"path":"x"}}"#,
        r#"{"type":"tool_result","tool_id":"b","status":"success"}"#,
    ] {
        reading.line(Stream::Out, line, false);
    }
    assert!(!reading.heard.denied_last);
}
