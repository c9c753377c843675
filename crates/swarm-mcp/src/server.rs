//! The protocol's requests, each answered from what the swarm is at that moment.

use std::borrow::Cow;

use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CompleteRequestParams, CompleteResult, CompletionInfo,
    GetPromptRequestParams, GetPromptResponse, InitializeRequestParams, InitializeResult, ListPromptsResult,
    ListResourceTemplatesResult, ListResourcesResult, ListToolsResult, PaginatedRequestParams,
    ProtocolVersion, ReadResourceRequestParams, ReadResourceResponse, ReadResourceResult, ResourceContents,
    ServerCapabilities, ServerConfig, Tool,
};
use rmcp::service::RequestContext;
use rmcp::{ErrorData, RoleServer, ServerHandler};
use swarm_protocol::api::ApiError;

use crate::call::Caller;
use crate::hello::{VERSIONS, info, shake_hands};
use crate::limits::RESOURCE_MAX;
use crate::progress;
use crate::prompts::{prompt, prompts};
use crate::told::fit;
use crate::tools::{kind, offered};
use crate::uri::{self, Shown};

const INSTRUCTIONS: &str = "Swarm runs coding agents in parallel on this git repository. Look with swarm_status, \
    swarm_attention and swarm_tasks; follow with swarm_wait. What takes something back (swarm_rollback, swarm_undo, reset and \
    close of swarm_plan) is a preview until you pass the `expect` that it answered. A refusal names the next call. Give writes \
    an `id`: sent again with the same one, they are done once.";

#[derive(Clone)]
pub struct Server {
    pub caller: Caller,
}

/// The span that a client says its call is part of (W3C Trace Context). It goes to the log, so nothing else may stand in it.
fn traceparent_in(text: &str) -> Option<&str> {
    let parts: Vec<&str> = text.split('-').collect();
    let is_hex = |part: &&str| part.bytes().all(|c| c.is_ascii_digit() || (b'a'..=b'f').contains(&c));
    let lengths: Vec<usize> = parts.iter().map(|part| part.len()).collect();
    (lengths == [2, 32, 16, 2] && parts.iter().all(is_hex)).then_some(text)
}

fn told(error: &ApiError) -> ErrorData {
    let data = serde_json::json!({ "kind": error.kind, "hint": error.hint });
    match error.kind.as_str() {
        "not_found" | "unknown_task" | "unknown_operation" | "no_log" => {
            ErrorData::resource_not_found(error.message.clone(), Some(data))
        }
        _ => ErrorData::invalid_params(error.message.clone(), Some(data)),
    }
}

impl ServerHandler for Server {
    fn get_info(&self) -> ServerConfig {
        let all = ServerCapabilities::builder();
        let all = all.enable_tools().enable_resources().enable_prompts().enable_completions();
        info("swarm", all.build(), INSTRUCTIONS)
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
        Ok(ListToolsResult::with_all_items(offered(self.caller.offer)))
    }

    fn get_tool(&self, name: &str) -> Option<Tool> {
        kind(name)?;
        offered(self.caller.offer).into_iter().find(|tool| tool.name == name)
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let calling = self.caller.call(&request.name, request.arguments.unwrap_or_default());
        let result = match context.meta.get_progress_token() {
            Some(token) => progress::told(&context.peer, &self.caller.source, token, calling).await,
            None => calling.await,
        };
        let refused = result.is_error == Some(true);
        let traceparent = context.meta.get("traceparent").and_then(|said| traceparent_in(said.as_str()?));
        tracing::info!(tool = %request.name, refused, traceparent, "called");
        Ok(result.into())
    }

    async fn list_resources(
        &self,
        _request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        Ok(ListResourcesResult::with_all_items(uri::resources()))
    }

    async fn list_resource_templates(
        &self,
        _request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        Ok(ListResourceTemplatesResult::with_all_items(uri::templates()))
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        let shown = uri::read(&self.caller.source, &request.uri).await.map_err(|error| told(&error))?;
        let contents = match shown {
            Shown::Json(value) => {
                let text = fit(value, RESOURCE_MAX).to_string();
                ResourceContents::text(text, request.uri).with_mime_type("application/json")
            }
            Shown::Patch(patch) => ResourceContents::text(patch, request.uri).with_mime_type("text/x-diff"),
        };
        Ok(ReadResourceResult::new(vec![contents]).into())
    }

    async fn list_prompts(
        &self,
        _request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListPromptsResult, ErrorData> {
        Ok(ListPromptsResult::with_all_items(prompts()))
    }

    async fn get_prompt(
        &self,
        request: GetPromptRequestParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<GetPromptResponse, ErrorData> {
        let given = request.arguments.unwrap_or_default();
        prompt(&request.name, &given).map(Into::into).map_err(|error| told(&error))
    }

    async fn complete(
        &self,
        request: CompleteRequestParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<CompleteResult, ErrorData> {
        let argument = request.argument;
        let names = uri::complete(&self.caller.source, &argument.name, &argument.value).await;
        Ok(CompleteResult::new(CompletionInfo::with_all_values(names).unwrap_or_default()))
    }
}

#[cfg(test)]
mod tests {
    use super::traceparent_in;

    #[test]
    fn what_a_client_says_of_its_trace_is_taken_only_in_its_form() {
        let good = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
        assert_eq!(traceparent_in(good), Some(good));
        for bad in
            ["", "00", &good[1..], &good.to_uppercase(), &good.replace('b', "\n"), &format!("{good}-x")]
        {
            assert_eq!(traceparent_in(bad), None, "{bad}");
        }
    }
}
