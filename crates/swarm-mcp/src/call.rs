//! One call of a tool, from its arguments to its result. Whatever goes wrong is a result that says so.

mod doing;
mod looking;
mod proposing;
mod waiting;

pub use looking::record_row;
pub(crate) use looking::status_sentence;

use rmcp::model::CallToolResult;
use serde_json::{Map, Value};
use swarm_protocol::api::ApiError;
use swarm_protocol::ids::CommandId;

use crate::limits::{ANSWER_WITHIN, WAIT_MAX};
use crate::refused::Asked;
use crate::source::Source;
use crate::told::{refused, success};
use crate::tools::{Kind, Offer, kind};
use crate::wish::{self, bad};

/// A sentence and the facts.
pub type Told = (String, Map<String, Value>);

#[derive(Clone)]
pub struct Caller {
    pub source: Source,
    pub offer: Offer,
}

impl Caller {
    pub async fn call(&self, tool: &str, mut arguments: Map<String, Value>) -> CallToolResult {
        let told = match self.known(tool) {
            Ok(kind) => {
                with_id(kind, &mut arguments);
                let within = if tool == "swarm_wait" { WAIT_MAX + ANSWER_WITHIN } else { ANSWER_WITHIN };
                let carried = tokio::time::timeout(within, self.carry(tool, arguments.clone()));
                carried.await.unwrap_or_else(|_| Err(lost()))
            }
            Err(error) => Err(error),
        };
        match told {
            Ok((text, facts)) => success(&text, facts),
            Err(error) => refused(&error, &Asked { tool, arguments: &arguments }),
        }
    }

    fn known(&self, tool: &str) -> Result<&'static Kind, ApiError> {
        let kind = kind(tool).ok_or_else(|| {
            let name: String = tool.chars().take(64).collect();
            ApiError::new("unknown_tool", format!("There is no tool {name:?}"), "tools/list")
        })?;
        match kind.is_offered(self.offer) {
            true => Ok(kind),
            false => {
                let text = format!("{tool} is not offered by this server");
                Err(ApiError::new("not_offered", text, "Start it as `swarm mcp --tools all`"))
            }
        }
    }

    async fn carry(&self, tool: &str, arguments: Map<String, Value>) -> Result<Told, ApiError> {
        match wish::wish(tool, arguments.clone())? {
            Some(wish) => self.fulfil(tool, arguments, wish).await,
            None if tool == "swarm_wait" => self.wait(wish::read(arguments)?).await,
            None => self.look(tool, arguments).await,
        }
    }
}

fn lost() -> ApiError {
    let text = format!("No answer within {} s; it may have been carried out", ANSWER_WITHIN.as_secs());
    ApiError::new("lost", text, "Call it again with the same id: what was done is not done twice")
}

/// Gives a call that changes something an id, so that it can be asked for again. `null` is none: some models fill in each
/// member that a schema names.
fn with_id(kind: &Kind, arguments: &mut Map<String, Value>) {
    if kind.takes_id() && arguments.get("id").is_none_or(Value::is_null) {
        arguments.insert("id".into(), ulid::Ulid::generate().to_string().into());
    }
}

/// The id of a wish; one of its own where none was given.
fn id_of(given: Option<CommandId>) -> Result<CommandId, ApiError> {
    let made = || CommandId::new(ulid::Ulid::generate().to_string());
    given.map_or_else(made, Ok).map_err(|error| bad(error.to_string()))
}

/// The members of a view, which is an object.
fn members(view: Value) -> Map<String, Value> {
    match view {
        Value::Object(members) => members,
        other => Map::from_iter([("view".to_owned(), other)]),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_call_without_an_id_or_with_null_for_one_gets_one_that_it_can_be_asked_for_again_by() {
        let asked_as = |arguments: Value| {
            let mut arguments = arguments.as_object().cloned().unwrap_or_default();
            with_id(kind("swarm_run").expect("a tool"), &mut arguments);
            arguments.remove("id").unwrap_or_default()
        };
        assert!(asked_as(serde_json::json!({ "do": "retry" })).is_string());
        assert!(asked_as(serde_json::json!({ "do": "retry", "id": null })).is_string());
        assert_eq!(asked_as(serde_json::json!({ "do": "retry", "id": "w-1" })), "w-1");
    }
}
