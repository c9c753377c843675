//! What tools take. Read by serde, described by schemars: unknown members are refused, so that a model learns of its
//! mistake instead of being half obeyed.

mod reading;
mod writing;

pub use reading::{
    AtArgs, DiffArgs, HistoryArgs, LogArgs, PreviewArgs, TaskArgs, TasksArgs, Until, WaitArgs,
};
pub use writing::{
    CheckpointArgs, CheckpointDo, CompleteArgs, EditArgs, EditDo, InitArgs, PhaseArgs, PlanArgs, PlanDo,
    ReviewArgs, RollbackArgs, RollbackTo, RunArgs, RunDo, SavePlanArgs, StatusArgs, StopArgs, StopDo,
    UndoArgs, Verdict, WorktreeArgs, WorktreeCreateArgs,
};

use schemars::{Schema, SchemaGenerator, json_schema};
use swarm_protocol::outcome::{Gate, Mode, PauseReason};
use swarm_protocol::plan::Status;

/// The plan as its published schema has it, without references: some clients do not follow them.
fn plan(_: &mut SchemaGenerator) -> Schema {
    const PUBLISHED: &str = include_str!("../reference/plan.schema.json");
    let mut schema: serde_json::Value = serde_json::from_str(PUBLISHED).unwrap_or_default();
    let definitions = schema["$defs"].take();
    inline(&mut schema, &definitions);
    if let Some(members) = schema.as_object_mut() {
        for name in ["$defs", "$schema", "title"] {
            members.remove(name);
        }
    }
    schema.try_into().unwrap_or_else(|_| json_schema!({ "type": "object" }))
}

/// Puts in place of each reference what it refers to.
fn inline(schema: &mut serde_json::Value, definitions: &serde_json::Value) {
    let name = schema["$ref"].as_str().and_then(|text| text.strip_prefix("#/$defs/")).map(str::to_owned);
    if let Some(name) = name {
        *schema = definitions[&name].clone();
    }
    match schema {
        serde_json::Value::Object(members) => {
            members.values_mut().for_each(|value| inline(value, definitions));
        }
        serde_json::Value::Array(values) => values.iter_mut().for_each(|value| inline(value, definitions)),
        _ => {}
    }
}

fn status(_: &mut SchemaGenerator) -> Schema {
    json_schema!({ "type": "string", "enum": Status::ALL.map(Status::word) })
}

fn mode(_: &mut SchemaGenerator) -> Schema {
    json_schema!({ "type": "string", "enum": Mode::ALL.map(Mode::word) })
}

fn gate(_: &mut SchemaGenerator) -> Schema {
    json_schema!({ "type": "string", "enum": Gate::ALL.map(Gate::word) })
}

fn pause(_: &mut SchemaGenerator) -> Schema {
    json_schema!({ "type": "string", "enum": PauseReason::ALL.map(PauseReason::word) })
}

fn size(_: &mut SchemaGenerator) -> Schema {
    json_schema!({ "type": "string", "enum": ["small", "medium", "large"] })
}
