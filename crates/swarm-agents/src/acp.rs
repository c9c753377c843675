//! Any agent that speaks the Agent Client Protocol over its standard input and output.

mod start;
mod updates;

use serde_json::{Value, json};
use swarm_protocol::failure::{Failure, FailureClass, Usage};

use super::failing::{class_of, failed, failure, shown, without_colours};
use super::heard::Heard;
use super::json::{count, field, sum, text, truth};
use super::reading::{Conclusion, ExitFacts, Outgoing, Transcript, gone, not_set_up};
use super::rpc::{Incoming, Talk, incoming};
use super::tools::SERVER;
use super::{gemini, opencode};
use updates::Updates;

pub use start::{invocation, pass_env, writable};

/// The version of the protocol that all known agents answer to.
const PROTOCOL_VERSION: u64 = 1;

/// With what the talk begins.
#[derive(Debug, Clone, Default)]
pub struct Opening {
    pub worktree: String,
    pub prompt: String,
    pub session: Option<String>,
    /// The program and its arguments by which the tools of the run are served.
    pub tools: Option<(String, Vec<String>)>,
}

#[derive(Default)]
pub struct Acp {
    talk: Talk,
    /// None: a recording is read, nothing is said.
    opening: Option<Opening>,
    waits_for: WaitsFor,
    can_load: bool,
    session: Option<String>,
    updates: Updates,
    end: Option<End>,
}

#[derive(Default, Clone, Copy, PartialEq)]
enum WaitsFor {
    #[default]
    Nothing,
    Initialize,
    Session {
        loaded: bool,
    },
    Prompt,
}

enum End {
    /// `stopReason` of the answer to the prompt.
    Stopped(String),
    Failed(Value),
}

impl Acp {
    pub fn talking(opening: Opening) -> Self {
        let mut talk = Talk::versioned();
        // Without file-system capabilities the agent reads and writes itself, inside its sandbox.
        let capabilities = json!({ "fs": { "readTextFile": false, "writeTextFile": false } });
        talk.ask(
            "initialize",
            json!({ "protocolVersion": PROTOCOL_VERSION, "clientCapabilities": capabilities }),
        );
        Self { talk, opening: Some(opening), waits_for: WaitsFor::Initialize, ..Self::default() }
    }
}

impl Transcript for Acp {
    fn out(&mut self, line: &str, heard: &mut Heard) {
        match incoming(line) {
            Some(Incoming::Answer { result, .. }) => self.answered(&result, heard),
            Some(Incoming::Error { error, .. }) => self.refused(error, heard),
            Some(Incoming::Asks { id, method, params }) => self.asked(id, &method, &params, heard),
            Some(Incoming::Tells { method, params }) if method == "session/update" => {
                // What comes while a session is loaded is its past.
                if self.waits_for != (WaitsFor::Session { loaded: true }) {
                    self.updates.take(field(&params, "update"), heard);
                }
            }
            Some(Incoming::Tells { .. }) | None => {}
        }
    }

    /// In bad weather the known programs say nothing in the dialogue for as long as they try again: what they do is told here.
    fn err(&mut self, line: &str, heard: &mut Heard) {
        let line = without_colours(line);
        let asks_again = gemini::asks_again(&line).or_else(|| opencode::asks_again(&line));
        match asks_again.filter(|_| !heard.tool_runs()) {
            Some(failure) => heard.retries(failure, 1),
            // Its log is no last word.
            None if line.starts_with("timestamp=") && !line.contains(" level=ERROR ") => {}
            None => heard.complains(&line),
        }
    }

    fn outgoing(&mut self) -> Outgoing {
        self.talk.outgoing()
    }

    fn conclude(&self, heard: &Heard, exit: &ExitFacts) -> Conclusion {
        match &self.end {
            Some(End::Failed(error)) => Conclusion::Failed(error_of(error, exit)),
            Some(End::Stopped(reason)) => match reason.as_str() {
                "end_turn" if heard.has_said_anything() || self.updates.any_tool() => {
                    Conclusion::Done { denied: self.updates.denied() }
                }
                "end_turn" => {
                    Conclusion::Failed(failed(FailureClass::Unknown, "the model gave an empty answer"))
                }
                "cancelled" => Conclusion::Interrupted,
                "max_tokens" => Conclusion::Failed(failed(FailureClass::OutputCut, "stop reason max_tokens")),
                "max_turn_requests" => {
                    Conclusion::Failed(failed(FailureClass::OwnLimit, "stop reason max_turn_requests"))
                }
                "refusal" => Conclusion::Failed(failed(FailureClass::Refused, "stop reason refusal")),
                other => Conclusion::Failed(failed(FailureClass::Unknown, &format!("stop reason {other}"))),
            },
            None if !heard.spoke && exit.signal.is_none() && exit.code.is_some_and(|code| code != 0) => {
                Conclusion::Failed(not_set_up(heard))
            }
            None => Conclusion::Failed(gone(heard, exit)),
        }
    }
}

impl Acp {
    fn answered(&mut self, result: &Value, heard: &mut Heard) {
        if let Some(session) = text(result, "sessionId") {
            heard.session = Some(session.to_owned());
            self.session = Some(session.to_owned());
        }
        if let Some(reason) = text(result, "stopReason") {
            let told = usage(result, heard.usage.cost_micros);
            if told.input_tokens > 0 || told.output_tokens > 0 {
                heard.usage = Usage { steps: heard.usage.steps, ..told };
            }
            heard.sentence_ends();
            self.ends(End::Stopped(reason.to_owned()), heard);
            return;
        }
        let Some(opening) = &self.opening else { return };
        match self.waits_for {
            WaitsFor::Initialize => {
                self.can_load = truth(field(result, "agentCapabilities"), "loadSession");
                let session = opening.session.clone().filter(|_| self.can_load);
                self.open(session);
            }
            WaitsFor::Session { .. } => {
                // The answer to a load does not repeat the name.
                heard.session.clone_from(&self.session);
                let prompt = json!([{ "type": "text", "text": opening.prompt }]);
                self.talk.ask("session/prompt", json!({ "sessionId": self.session, "prompt": prompt }));
                self.waits_for = WaitsFor::Prompt;
            }
            WaitsFor::Prompt | WaitsFor::Nothing => {}
        }
    }

    fn open(&mut self, session: Option<String>) {
        let Some(opening) = &self.opening else { return };
        let servers: Vec<Value> = opening
            .tools
            .iter()
            .map(|(program, args)| json!({ "name": SERVER, "command": program, "args": args, "env": [] }))
            .collect();
        let mut params = json!({ "cwd": opening.worktree, "mcpServers": servers });
        self.waits_for = WaitsFor::Session { loaded: session.is_some() };
        match session {
            Some(session) => {
                params["sessionId"] = json!(session);
                self.session = Some(session);
                self.talk.ask("session/load", params);
            }
            None => {
                self.talk.ask("session/new", params);
            }
        }
    }

    fn refused(&mut self, error: Value, heard: &mut Heard) {
        // The session of the last iteration is gone: a fresh one does the work as well.
        if self.waits_for == (WaitsFor::Session { loaded: true }) {
            heard.session_unknown = true;
            self.open(None);
            return;
        }
        self.ends(End::Failed(error), heard);
    }

    /// Permission is given: the sandbox around the agent is what keeps it, not a question that nobody answers.
    fn asked(&mut self, id: Value, method: &str, params: &Value, heard: &mut Heard) {
        let option = updates::allowing(params);
        if method == "session/request_permission" {
            // What we allow may fail for reasons of its own: no denial. In a recording only the end tells.
            let may_be_denied = self.opening.is_none() || option.is_none();
            self.updates.permission_asked(params, may_be_denied, heard);
        }
        if self.opening.is_none() {
            return;
        }
        match (method, option) {
            ("session/request_permission", Some(option)) => {
                let outcome = json!({ "outcome": "selected", "optionId": option });
                self.talk.answer(id, json!({ "outcome": outcome }));
            }
            ("session/request_permission", None) => {
                self.updates.permission_refused(params, heard);
                self.talk.answer(id, json!({ "outcome": { "outcome": "cancelled" } }));
            }
            _ => {
                self.updates.declined(method, params, heard);
                self.talk.decline(id, method);
            }
        }
    }

    fn ends(&mut self, end: End, heard: &mut Heard) {
        self.end = Some(end);
        heard.said_all = true;
        self.talk.close();
    }
}

/// The kinds differ from agent to agent; the code is nearly always -32603.
fn error_of(error: &Value, exit: &ExitFacts) -> Failure {
    let message = text(error, "message").unwrap_or_default();
    let data = field(error, "data");
    // Those that are written in Rust put the cause there as it is.
    let said = ["message", "details", "error"].iter().find_map(|name| text(data, name));
    let said = said.or_else(|| data.as_str()).unwrap_or_default();
    let code = field(error, "code").as_i64().unwrap_or_default();
    let status = u16::try_from(code).ok().filter(|code| (400..600).contains(code));
    let kinds: Vec<&str> =
        ["errorKind", "codex_error_info", "errorName"].iter().filter_map(|name| text(data, name)).collect();
    let words = format!("{}\n{message}\n{said}", kinds.join(" "));
    // Gemini CLI puts 500 wherever the service named no status: what it says is more than that.
    let status = status.filter(|status| *status != 500 || class_of(None, &words).is_none());
    let mut failure = failure(status, &words);
    failure.text = shown(if said.is_empty() { message } else { said });
    match failure.class {
        // ACP's own code for a log-in that is missing.
        FailureClass::Unknown if code == -32000 => failure.class = FailureClass::Key,
        // Method or parameters not known to it.
        FailureClass::Unknown if (-32602..=-32600).contains(&code) => {
            failure.class = FailureClass::Configuration;
        }
        FailureClass::Quota => failure.resets_in_secs = exit.now.until_said(&format!("{message} {said}")),
        _ => {}
    }
    failure
}

/// Where agents put what a prompt cost.
fn usage(result: &Value, cost_micros: u64) -> Usage {
    let tokens = field(result, "usage");
    let quota = field(field(field(result, "_meta"), "quota"), "token_count");
    let cached = count(tokens, "cachedReadTokens");
    let input = sum([count(tokens, "inputTokens"), count(tokens, "cachedWriteTokens"), cached]);
    let output = count(tokens, "outputTokens");
    // An agent that tells both tells the same twice.
    let (input, output) = match (input, output) {
        (0, 0) => (count(quota, "input_tokens"), count(quota, "output_tokens")),
        told => told,
    };
    Usage {
        input_tokens: input,
        output_tokens: output,
        cached_tokens: cached,
        cost_micros,
        estimated_micros: 0,
        steps: 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(acp: &mut Acp) -> String {
        match acp.outgoing() {
            Outgoing::Bytes(bytes) => String::from_utf8_lossy(&bytes).into_owned(),
            other => format!("{other:?}"),
        }
    }

    /// Through the greeting; `session` is the one to go on with.
    fn greeted(session: Option<&str>) -> (Acp, Heard) {
        let session = session.map(str::to_owned);
        let mut acp =
            Acp::talking(Opening { worktree: "/w".into(), prompt: "do it".into(), session, tools: None });
        let mut heard = Heard::default();
        assert!(said(&mut acp).contains("initialize"));
        let capable = r#"{"jsonrpc":"2.0","id":0,"result":{"agentCapabilities":{"loadSession":true}}}"#;
        acp.out(capable, &mut heard);
        (acp, heard)
    }

    #[test]
    fn a_session_is_loaded_and_its_past_is_not_heard() {
        let (mut acp, mut heard) = greeted(Some("s1"));
        assert!(said(&mut acp).contains("session/load"));
        let past = r#"{"method":"session/update","params":{"update":{"sessionUpdate":"agent_message_chunk","content":{"text":"<swarm>COMPLETE</swarm>\n"}}}}"#;
        acp.out(past, &mut heard);
        acp.out(r#"{"id":1,"result":{}}"#, &mut heard);
        assert_eq!((heard.signal.clone(), heard.session.as_deref()), (None, Some("s1")));
        assert!(said(&mut acp).contains("do it"));
    }

    #[test]
    fn a_program_that_only_asks_again_is_not_taken_for_one_that_went_silent() {
        let gemini = "Attempt 1 failed with status 500. Retrying with backoff... _ApiError: {\"error\":{\"code\":500}}";
        let opencode = "timestamp=2026-11-19T01:20:14.138Z level=ERROR run=5b message=\"stream error\" small=false error.error=\"AI_APICallError: Cannot connect to API\"";
        for (line, class) in [(gemini, FailureClass::Overloaded), (opencode, FailureClass::Network)] {
            let (mut acp, mut heard) = greeted(None);
            for _ in 0..3 {
                assert!(heard.enough.is_none(), "{line}");
                acp.err(line, &mut heard);
            }
            assert_eq!(heard.enough.map(|failure| failure.class), Some(class), "{line}");
        }
    }

    #[test]
    fn one_that_says_it_was_cancelled_when_its_silence_ended_it_was_silent() {
        use super::super::reading::{Ending, Reading};
        use swarm_protocol::failure::Consequence;
        let (mut acp, mut heard) = greeted(None);
        acp.out(r#"{"id":1,"result":{"sessionId":"s1"}}"#, &mut heard);
        assert!(said(&mut acp).contains("session/prompt"));
        acp.out(r#"{"id":2,"result":{"stopReason":"cancelled"}}"#, &mut heard);
        let setup = super::super::AgentSetup::of(super::super::AgentProgram::Acp);
        let mut reading = Reading::new(&setup, Box::new(acp));
        reading.heard = heard;
        let now = super::super::resets::Moment { unix_secs: 1000, minute_of_day: 16 };
        let mut ended = |ending| reading.conclude(&ExitFacts { code: Some(0), signal: None, ending, now });
        let Conclusion::Failed(failure) = ended(Ending::Silent) else { panic!("not silent") };
        assert_eq!(failure.class.consequence(), Consequence::Silence);
        assert_eq!(ended(Ending::Stopped), Conclusion::Interrupted);
    }

    #[test]
    fn the_cause_of_an_error_is_found_wherever_an_agent_puts_it() {
        let now = super::super::resets::Moment { unix_secs: 1000, minute_of_day: 16 };
        let exit = ExitFacts { code: None, signal: None, ending: super::super::reading::Ending::Silent, now };
        let lost = "stream disconnected before completion: error sending request";
        let until = "You've hit your usage limit. Try again at 1:16 AM.";
        for (data, class, resets) in [
            (json!(lost), FailureClass::Network, None),
            (json!({ "details": lost }), FailureClass::Network, None),
            (json!({ "error": lost }), FailureClass::Network, None),
            (json!(until), FailureClass::Quota, Some(3600)),
            (json!(null), FailureClass::Unknown, None),
        ] {
            let error = json!({ "code": -32603, "message": "Internal error", "data": data });
            let failure = error_of(&error, &exit);
            assert_eq!((failure.class, failure.resets_in_secs), (class, resets), "{data}");
        }
    }

    #[test]
    fn a_500_that_only_means_that_there_was_no_status_does_not_hide_what_is_said() {
        let now = super::super::resets::Moment { unix_secs: 1000, minute_of_day: 16 };
        let exit = ExitFacts { code: None, signal: None, ending: super::super::reading::Ending::Silent, now };
        for (message, class) in [
            ("terminated", FailureClass::Network),
            ("Incomplete JSON segment at the end", FailureClass::Network),
            ("Internal error", FailureClass::Overloaded),
        ] {
            let error = json!({ "code": 500, "message": message });
            assert_eq!(error_of(&error, &exit).class, class, "{message}");
        }
    }

    #[test]
    fn a_session_that_is_gone_gives_way_to_a_fresh_one() {
        let (mut acp, mut heard) = greeted(Some("s1"));
        let _ = said(&mut acp);
        acp.out(r#"{"id":1,"error":{"code":-32603,"message":"no such session"}}"#, &mut heard);
        assert!(heard.session_unknown && said(&mut acp).contains("session/new"));
        acp.out(r#"{"id":2,"result":{"sessionId":"s2"}}"#, &mut heard);
        assert_eq!(heard.session.as_deref(), Some("s2"));
    }

    #[test]
    fn tokens_are_those_of_the_answer_or_as_far_as_the_context_was_told() {
        let context = |used: u64| {
            let update = json!({ "sessionUpdate": "usage_update", "used": used, "size": 1000 });
            json!({ "method": "session/update", "params": { "update": update } }).to_string()
        };
        for (answer, expected) in [
            (r#"{"id":2,"result":{"stopReason":"end_turn"}}"#, (300, 0)),
            (
                r#"{"id":2,"result":{"stopReason":"end_turn","usage":{"inputTokens":7,"outputTokens":3}}}"#,
                (7, 3),
            ),
            (
                r#"{"id":2,"result":{"stopReason":"end_turn","_meta":{"quota":{"token_count":{"input_tokens":9,"output_tokens":4}}}}}"#,
                (9, 4),
            ),
            (
                r#"{"id":2,"result":{"stopReason":"end_turn","usage":{"inputTokens":7,"outputTokens":3},"_meta":{"quota":{"token_count":{"input_tokens":9,"output_tokens":4}}}}}"#,
                (7, 3),
            ),
        ] {
            let (mut acp, mut heard) = greeted(None);
            [100, 100, 200].into_iter().for_each(|used| acp.out(&context(used), &mut heard));
            acp.out(answer, &mut heard);
            assert_eq!((heard.usage.input_tokens, heard.usage.output_tokens), expected, "{answer}");
        }
    }

    #[test]
    fn permission_is_given_for_as_long_as_possible_and_files_are_not_served() {
        let (mut acp, mut heard) = greeted(None);
        let _ = said(&mut acp);
        let asks = r#"{"id":"p","method":"session/request_permission","params":{"toolCall":{"toolCallId":"t"},"options":[{"optionId":"once","kind":"allow_once"},{"optionId":"always","kind":"allow_always"},{"optionId":"no","kind":"reject_once"}]}}"#;
        acp.out(asks, &mut heard);
        assert!(said(&mut acp).contains(r#""optionId":"always""#));
        acp.out(r#"{"id":"f","method":"fs/read_text_file","params":{}}"#, &mut heard);
        assert!(said(&mut acp).contains("-32601"));
    }
}
