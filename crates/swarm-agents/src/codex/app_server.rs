//! `codex app-server`: JSON-RPC over lines, with kinds of errors. One thread, one turn, then our side is closed.

use serde_json::{Value, json};
use swarm_protocol::failure::{Failure, FailureClass, Usage};

use super::super::call::{shown_input, whole_input};
use super::super::failing::{failed, failure};
use super::super::heard::Heard;
use super::super::json::{array, count, field, text, truth};
use super::super::reading::{Conclusion, ExitFacts, Outgoing, gone};
use super::super::rpc::{Incoming, Talk, incoming};
use super::{reconnects, status_of, told, turn_failed};

/// With what the talk begins.
#[derive(Debug, Clone, Default)]
pub struct Opening {
    pub worktree: String,
    pub prompt: String,
    pub session: Option<String>,
    pub model: Option<String>,
    /// `danger-full-access` where the box around it is ours.
    pub sandbox: &'static str,
}

#[derive(Default)]
pub struct AppServer {
    talk: Talk,
    /// None: a recording is read, nothing is said.
    opening: Option<Opening>,
    waits_for: WaitsFor,
    thread: Option<String>,
    /// What is told before our turn begins is about an earlier one: a resumed thread repeats its last usage.
    turn_runs: bool,
    /// It tells what each call of the model used; otherwise what the calls led to is counted.
    tells_usage: bool,
    end: Option<End>,
}

/// The answer that is due.
#[derive(Default, Clone, Copy, PartialEq)]
enum WaitsFor {
    #[default]
    Nothing,
    Initialize,
    Thread {
        resumed: bool,
    },
    Turn,
}

enum End {
    Completed,
    Interrupted,
    Failed {
        message: String,
        /// The cause, where the message only says that it gave up.
        details: String,
        kind: Value,
    },
    /// The server did not accept what it was asked: nothing was sent to a model.
    Refused(String),
}

impl AppServer {
    pub fn talking(opening: Opening) -> Self {
        let mut talk = Talk::default();
        let client = json!({ "name": "swarm", "title": "Swarm", "version": env!("CARGO_PKG_VERSION") });
        talk.ask("initialize", json!({ "clientInfo": client }));
        Self { talk, opening: Some(opening), waits_for: WaitsFor::Initialize, ..Self::default() }
    }

    pub fn outgoing(&mut self) -> Outgoing {
        self.talk.outgoing()
    }

    /// It cannot be talked with at all: an older program, or one without this way in.
    pub fn is_not_available(&self) -> bool {
        self.waits_for == WaitsFor::Initialize && self.opening.is_some()
    }

    pub fn out(&mut self, line: &str, heard: &mut Heard) {
        match incoming(line) {
            Some(Incoming::Answer { result, .. }) => self.answered(&result, heard),
            Some(Incoming::Error { error, .. }) => self.refused(&error, heard),
            Some(Incoming::Asks { id, method, .. }) => self.asked(id, &method),
            Some(Incoming::Tells { method, params }) => self.told(&method, &params, heard),
            None => {}
        }
    }

    fn answered(&mut self, result: &Value, heard: &mut Heard) {
        if let Some(thread) = text(field(result, "thread"), "id") {
            heard.session = Some(thread.to_owned());
            self.thread = Some(thread.to_owned());
        }
        let Some(opening) = &self.opening else { return };
        match self.waits_for {
            WaitsFor::Initialize => {
                self.talk.tell("initialized", json!({}));
                let session = opening.session.clone();
                self.open(session.as_deref());
            }
            WaitsFor::Thread { .. } => {
                let input = json!([{ "type": "text", "text": opening.prompt }]);
                self.talk.ask("turn/start", json!({ "threadId": self.thread, "input": input }));
                self.waits_for = WaitsFor::Turn;
            }
            WaitsFor::Turn | WaitsFor::Nothing => self.waits_for = WaitsFor::Nothing,
        }
    }

    fn open(&mut self, session: Option<&str>) {
        let Some(opening) = &self.opening else { return };
        let mut params = json!({
            "cwd": opening.worktree,
            "approvalPolicy": "never",
            "sandbox": opening.sandbox,
        });
        if let Some(model) = &opening.model {
            params["model"] = json!(model);
        }
        match session {
            Some(session) => {
                params["threadId"] = json!(session);
                self.talk.ask("thread/resume", params);
            }
            None => {
                self.talk.ask("thread/start", params);
            }
        }
        self.waits_for = WaitsFor::Thread { resumed: session.is_some() };
    }

    fn refused(&mut self, error: &Value, heard: &mut Heard) {
        let message = text(error, "message").unwrap_or("no reason given").to_owned();
        // The thread of the last iteration is gone: a fresh one does the work as well.
        if self.waits_for == (WaitsFor::Thread { resumed: true }) {
            heard.session_unknown = true;
            self.open(None);
            return;
        }
        self.ends(End::Refused(message), heard);
    }

    /// Nobody is there to be asked. With approvals off it asks only where it must.
    fn asked(&mut self, id: Value, method: &str) {
        if self.opening.is_none() {
            return;
        }
        let decision = match method {
            "item/commandExecution/requestApproval" | "item/fileChange/requestApproval" => "accept",
            "execCommandApproval" | "applyPatchApproval" => "approved",
            _ => return self.talk.decline(id, method),
        };
        self.talk.answer(id, json!({ "decision": decision }));
    }

    fn told(&mut self, method: &str, params: &Value, heard: &mut Heard) {
        let item = field(params, "item");
        match method {
            "item/started" => starts(item, heard),
            "item/completed" => {
                if !self.tells_usage && text(item, "type") != Some("userMessage") {
                    heard.steps();
                }
                completed(item, heard);
            }
            "item/agentMessage/delta" | "item/reasoning/textDelta" => heard.goes_on(),
            "turn/started" => self.turn_runs = true,
            "thread/tokenUsage/updated" if self.turn_runs => {
                self.tells_usage = true;
                heard.steps();
                heard.usage = heard.usage.plus(usage(field(field(params, "tokenUsage"), "last")));
            }
            "error" if truth(params, "willRetry") => {
                let error = field(params, "error");
                reconnects(text(error, "message").unwrap_or_default(), retry(error), heard);
            }
            "turn/completed" => {
                let turn = field(params, "turn");
                let end = match text(turn, "status") {
                    Some("completed") => End::Completed,
                    Some("interrupted") => End::Interrupted,
                    _ => {
                        let error = field(turn, "error");
                        let message = text(error, "message").unwrap_or("the turn failed").to_owned();
                        let details = text(error, "additionalDetails").unwrap_or_default().to_owned();
                        End::Failed { message, details, kind: field(error, "codexErrorInfo").clone() }
                    }
                };
                self.ends(end, heard);
            }
            _ => {}
        }
    }

    fn ends(&mut self, end: End, heard: &mut Heard) {
        self.end = Some(end);
        heard.said_all = true;
        self.talk.close();
    }

    pub fn conclude(&self, heard: &Heard, exit: &ExitFacts) -> Conclusion {
        match &self.end {
            Some(End::Completed) if heard.has_said_anything() => {
                Conclusion::Done { denied: heard.denied.clone() }
            }
            Some(End::Completed) => {
                Conclusion::Failed(failed(FailureClass::Unknown, "the model gave an empty answer"))
            }
            Some(End::Interrupted) => Conclusion::Interrupted,
            Some(End::Failed { message, details, kind }) => Conclusion::Failed(match exact(kind) {
                Some(class) => failed(class, message),
                None => turn_failed(message, details, kind, heard),
            }),
            Some(End::Refused(message)) => Conclusion::Failed(failed(FailureClass::Configuration, message)),
            None => Conclusion::Failed(gone(heard, exit)),
        }
    }
}

/// Kinds that say all there is to know.
fn exact(kind: &Value) -> Option<FailureClass> {
    match kind.as_str()? {
        "contextWindowExceeded" => Some(FailureClass::Overflow),
        "usageLimitExceeded" => Some(FailureClass::Quota),
        "rateLimitExceeded" => Some(FailureClass::Throttled),
        "serverOverloaded" | "flexUnavailable" | "policyCapacityUnavailable" | "internalServerError" => {
            Some(FailureClass::Overloaded)
        }
        "unauthorized" => Some(FailureClass::Key),
        "modelNotFound" => Some(FailureClass::Configuration),
        "sandboxError" => Some(FailureClass::Denied),
        "cyberPolicy" | "misalignmentPolicyViolation" => Some(FailureClass::Refused),
        "sessionBudgetExceeded" => Some(FailureClass::OwnLimit),
        _ => None,
    }
}

/// Why it asks again: the message only counts, the cause stands beside it.
fn retry(error: &Value) -> Failure {
    let message = text(error, "message").unwrap_or_default();
    let details = text(error, "additionalDetails").unwrap_or_default();
    let kind = field(error, "codexErrorInfo");
    let words = if kind.is_null() { String::new() } else { kind.to_string() };
    let mut failure = failure(status_of(&words), &format!("{message}\n{details}\n{words}"));
    if let Some(class) = exact(kind) {
        failure.class = class;
    }
    failure.text = told(message, details);
    failure
}

fn starts(item: &Value, heard: &mut Heard) {
    let id = text(item, "id").unwrap_or_default();
    match text(item, "type") {
        Some("commandExecution") => {
            let command = text(item, "command").unwrap_or_default();
            heard.tool_starts(id, "shell", command, Some(command));
        }
        Some("fileChange") => {
            let paths: Vec<&str> = array(item, "changes").iter().filter_map(|c| text(c, "path")).collect();
            let whole = field(item, "changes");
            // Without what is changed in them two changes of the same files are not the same.
            let tells_all = array(item, "changes").iter().all(|change| text(change, "diff").is_some());
            heard.tool_starts(id, "edit", &paths.join(" "), tells_all.then(|| whole.to_string()).as_deref());
        }
        Some("mcpToolCall" | "dynamicToolCall") => {
            let (name, input) = (text(item, "tool").unwrap_or("a tool"), field(item, "arguments"));
            heard.tool_starts(id, name, &shown_input(input), whole_input(name, input).as_deref());
        }
        Some("webSearch") => {
            let query = text(item, "query").unwrap_or_default();
            heard.tool_starts(id, "web search", query, Some(query));
        }
        _ => {}
    }
}

fn completed(item: &Value, heard: &mut Heard) {
    match text(item, "type") {
        Some("agentMessage") => heard.says(text(item, "text").unwrap_or_default()),
        Some("userMessage") => {}
        _ => {
            let id = text(item, "id").unwrap_or_default();
            let status = text(item, "status").unwrap_or("completed");
            if status == "declined" {
                heard.denies(text(item, "command").unwrap_or("a change"));
            }
            starts(item, heard);
            heard.tool_ends(id, status == "completed");
        }
    }
}

/// Of one call of the model: sums over the thread would count earlier iterations again.
fn usage(tokens: &Value) -> Usage {
    Usage {
        input_tokens: count(tokens, "inputTokens"),
        output_tokens: count(tokens, "outputTokens"),
        cached_tokens: count(tokens, "cachedInputTokens"),
        cost_micros: 0,
        estimated_micros: 0,
        steps: 0,
    }
}
