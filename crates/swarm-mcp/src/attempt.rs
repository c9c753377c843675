//! The tools of an agent inside an attempt. This process stands inside the walls and knows nothing: it hands each call on
//! to the daemon of the run, which knows by the kernel whose call it is, and checks it.

mod tools;

use std::borrow::Cow;
use std::io;
use std::path::PathBuf;
use std::time::Duration;

use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, InitializeRequestParams, InitializeResult,
    ListToolsResult, PaginatedRequestParams, ProtocolVersion, ServerCapabilities, ServerConfig, Tool,
};
use rmcp::service::RequestContext;
use rmcp::{ErrorData, RoleServer, ServerHandler};
use serde_json::{Map, Value};
use swarm_protocol::api::ApiError;
use swarm_protocol::attempt::{CALL_MAX, CONTEXT_MAX, CallAnswer, CallFrame};
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::UnixStream;

use crate::hello::{VERSIONS, info, shake_hands};
use crate::refused::Asked;
use crate::told::{refused, success};
use tools::offered;

const INSTRUCTIONS: &str = "You work on one task of a swarm. These tools are about that task alone: say swarm_complete when all of it is \
    done, swarm_blocked or swarm_ask when a person is needed, and end your turn after each of these three.";

/// Longer than the daemon takes for any answer.
const ANSWER_WITHIN: Duration = Duration::from_secs(30);

/// Bytes of an answer: a context, and a sentence.
const ANSWER_MAX: u64 = 2 * CONTEXT_MAX as u64;

#[derive(Debug, Clone)]
pub struct Attempt {
    pub socket: PathBuf,
}

impl Attempt {
    async fn call(&self, name: &str, arguments: Map<String, Value>) -> CallToolResult {
        let frame = CallFrame { tool: name.to_owned(), arguments: Value::Object(arguments) };
        let asked = Asked { tool: name, arguments: &Map::new() };
        let not_now = |why: &io::Error| {
            let message = format!("The run of this attempt cannot be asked: {why}");
            let hint = "Print the line instead, such as <swarm>COMPLETE</swarm>, alone on its line";
            ApiError::new("unreachable", message, hint)
        };
        let answer = match tokio::time::timeout(ANSWER_WITHIN, self.exchange(&frame)).await {
            Ok(Ok(answer)) => answer,
            Ok(Err(error)) => return refused(&not_now(&error), &asked),
            Err(_) => return refused(&not_now(&io::ErrorKind::TimedOut.into()), &asked),
        };
        let CallAnswer { ok, text, context } = answer;
        if ok {
            let facts = context.and_then(|context| serde_json::to_value(*context).ok());
            return success(
                &text,
                facts.map(|facts| Map::from_iter([("context".to_owned(), facts)])).unwrap_or_default(),
            );
        }
        let hint = "Correct the call, or go on without it";
        refused(&ApiError::new("refused", text, hint), &asked)
    }

    /// One connection for each call: nothing is kept between two.
    async fn exchange(&self, frame: &CallFrame) -> io::Result<CallAnswer> {
        let mut line = serde_json::to_vec(frame)?;
        line.push(b'\n');
        if line.len() > CALL_MAX {
            return Ok(CallAnswer::refused(format!("a call has at most {CALL_MAX} bytes")));
        }
        let mut stream = UnixStream::connect(&self.socket).await?;
        stream.write_all(&line).await?;
        let mut answer = Vec::new();
        BufReader::new(stream.take(ANSWER_MAX)).read_until(b'\n', &mut answer).await?;
        if answer.is_empty() {
            return Err(io::ErrorKind::ConnectionReset.into());
        }
        Ok(serde_json::from_slice(&answer)?)
    }
}

impl ServerHandler for Attempt {
    fn get_info(&self) -> ServerConfig {
        info("swarm-task", ServerCapabilities::builder().enable_tools().build(), INSTRUCTIONS)
    }

    fn supported_protocol_versions(&self) -> Cow<'static, [ProtocolVersion]> {
        Cow::Borrowed(VERSIONS)
    }

    async fn initialize(
        &self,
        request: InitializeRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<InitializeResult, ErrorData> {
        shake_hands(self, request, &context)
    }

    async fn list_tools(
        &self,
        _request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        Ok(ListToolsResult::with_all_items(offered()))
    }

    fn get_tool(&self, name: &str) -> Option<Tool> {
        offered().into_iter().find(|tool| tool.name == name)
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        Ok(self.call(&request.name, request.arguments.unwrap_or_default()).await.into())
    }
}
