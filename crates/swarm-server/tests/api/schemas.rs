//! The whole description: routes from the handlers, schemas from the types that travel.

use schemars::generate::SchemaSettings;
use schemars::{JsonSchema, SchemaGenerator};
use serde_json::{Value, json};
use swarm_protocol::api::{
    AgentNews, AgentNow, CommandRequest, Delivery, ErrorBody, GivenPrompt, HistoryPage, LogPage, Pong,
};
use swarm_protocol::board::{AllowedView, BoardView, Choice};
use swarm_protocol::command::Command;
use swarm_protocol::deed::{
    DeedDone, DeedRequest, HookProgram, LearningsView, PromptView, SavedView, WorktreeView,
};
use swarm_protocol::diff::DiffView;
use swarm_protocol::doctor::DoctorView;
use swarm_protocol::oplog::{CheckpointView, HookView, OperationView, PreviewView};
use swarm_protocol::over_time::OverTimeView;
use swarm_protocol::plan::PlanFile;
use swarm_protocol::trunk::TrunkView;
use swarm_protocol::view::{
    ApprovedPlanView, AttentionView, HandoffView, ReviewView, StatusView, TaskRow, TaskView,
};
use swarm_server::api::described_routes;

pub fn description() -> Value {
    let mut description = described_routes();
    description["components"]["schemas"] = schemas();
    description
}

fn schemas() -> Value {
    let settings = SchemaSettings::draft2020_12().with(|settings| {
        settings.definitions_path = "/components/schemas".into();
        settings.meta_schema = None;
    });
    let mut generator = settings.into_generator();
    named::<CommandRequest>(&mut generator);
    named::<Delivery>(&mut generator);
    named::<ErrorBody>(&mut generator);
    named::<HistoryPage>(&mut generator);
    named::<LogPage>(&mut generator);
    named::<GivenPrompt>(&mut generator);
    named::<Pong>(&mut generator);
    named::<AgentNews>(&mut generator);
    named::<Command>(&mut generator);
    named::<DiffView>(&mut generator);
    named::<DoctorView>(&mut generator);
    named::<DeedRequest>(&mut generator);
    named::<DeedDone>(&mut generator);
    named::<LearningsView>(&mut generator);
    named::<OverTimeView>(&mut generator);
    named::<TrunkView>(&mut generator);
    named::<PreviewView>(&mut generator);
    let views = [
        ("Status", named::<StatusView>(&mut generator)),
        ("Board", named::<BoardView>(&mut generator)),
        ("Allowed", json!({ "type": "array", "items": named::<AllowedView>(&mut generator) })),
        ("Choices", json!({ "type": "array", "items": named::<Choice>(&mut generator) })),
        ("Tasks", json!({ "type": "array", "items": named::<TaskRow>(&mut generator) })),
        ("Task", named::<TaskView>(&mut generator)),
        ("Agents", json!({ "type": "array", "items": named::<AgentNow>(&mut generator) })),
        ("Attention", json!({ "type": "array", "items": named::<AttentionView>(&mut generator) })),
        ("Plan", named::<PlanFile>(&mut generator)),
        ("ApprovedPlan", named::<ApprovedPlanView>(&mut generator)),
        ("Handoff", named::<HandoffView>(&mut generator)),
        ("Operations", json!({ "type": "array", "items": named::<OperationView>(&mut generator) })),
        ("Operation", named::<OperationView>(&mut generator)),
        ("Checkpoints", json!({ "type": "array", "items": named::<CheckpointView>(&mut generator) })),
        ("Reviews", json!({ "type": "array", "items": named::<ReviewView>(&mut generator) })),
        ("Hooks", json!({ "type": "array", "items": named::<HookView>(&mut generator) })),
    ];
    let lists = [
        ("Worktrees", named::<WorktreeView>(&mut generator)),
        ("Saved", named::<SavedView>(&mut generator)),
        ("Prompts", named::<PromptView>(&mut generator)),
        ("HookPrograms", named::<HookProgram>(&mut generator)),
    ];
    let usage = named::<swarm_protocol::failure::Usage>(&mut generator);
    let mut schemas = generator.take_definitions(true);
    schemas.insert("Since".into(), since(&usage));
    schemas.insert("Settings".into(), every_setting());
    for (name, item) in lists {
        schemas.insert(name.into(), json!({ "type": "array", "items": item }));
    }
    for (name, view) in views {
        schemas.insert(format!("Seen{name}"), seen(&view));
    }
    Value::Object(schemas)
}

/// Made of records where it is asked for.
fn since(usage: &Value) -> Value {
    let tasks = json!({ "type": "array", "items": { "$ref": "#/components/schemas/TaskId" } });
    json!({
        "type": "object",
        "required": ["from", "seq", "tasks", "usage"],
        "properties": {
            "from": { "type": "integer", "minimum": 0 },
            "seq": { "type": "integer", "minimum": 0 },
            "tasks": { "type": "object", "additionalProperties": tasks },
            "usage": usage,
        },
    })
}

/// Each with the line, the variable or the flag that it comes from.
fn every_setting() -> Value {
    json!({
        "type": "array",
        "items": {
            "type": "object",
            "required": ["key", "value", "from"],
            "properties": {
                "key": { "type": "string" },
                "value": {},
                "from": { "type": "string", "enum": ["default", "file", "environment", "flag"] },
                "line": { "type": "integer", "minimum": 0 },
                "name": { "type": "string" },
            },
        },
    })
}

/// Puts the type under its name and points to it.
fn named<T: JsonSchema>(generator: &mut SchemaGenerator) -> Value {
    serde_json::to_value(generator.subschema_for::<T>()).unwrap_or_default()
}

/// A view and the record it was read at.
fn seen(view: &Value) -> Value {
    json!({
        "type": "object",
        "required": ["seq", "view"],
        "properties": { "seq": { "type": "integer", "minimum": 0 }, "view": view },
    })
}
