//! The tools, in their fixed order: what each is for, what it takes, and how much it can do.

use std::sync::{Arc, LazyLock};

use rmcp::model::{JsonObject, Tool, ToolAnnotations};
use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde_json::Value;

use crate::arguments as takes;

/// How much a tool can do: clients let people allow whole groups.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Risk {
    /// Looks.
    Read,
    /// Changes the plan or lets something begin; undo takes it back.
    Write,
    /// Stops work or takes it back.
    Destructive,
}

/// Which tools are offered.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Offer {
    /// Those that only look.
    Read,
    /// And those that change the plan.
    Plan,
    #[default]
    All,
}

pub struct Kind {
    pub name: &'static str,
    pub risk: Risk,
    /// The smallest offer that has it.
    pub offer: Offer,
    pub title: &'static str,
    pub about: &'static str,
    schema: fn() -> JsonObject,
}

macro_rules! tools {
    ($($name:literal $risk:ident $offer:ident $takes:ty, $title:literal, $about:expr;)*) => {
        /// Clients show them in this order, and models prefer what comes first.
        pub const TOOLS: &[Kind] = &[$(Kind {
            name: $name,
            risk: Risk::$risk,
            offer: Offer::$offer,
            title: $title,
            about: $about,
            schema: schema_of::<$takes>,
        }),*];
    };
}

tools! {
    "swarm_status" Read Read takes::AtArgs, "Status",
        "The swarm at a glance: goal, counts of tasks by status, agents at work, what is next, what waits for a person. Members that matter: counts, agents, next, attention, paused, seq.";
    "swarm_attention" Read Read takes::AtArgs, "Attention list",
        "Everything that waits for a person, each with why and the commands that resolve it. Empty: nothing waits.";
    "get_approved_plan" Read Read takes::AtArgs, "Approved plan",
        "The plan that a person agreed to, and whether the present one has drifted from it: approved, drifted, plan, execution_profile.";
    "swarm_tasks" Read Read takes::TasksArgs, "Tasks",
        "Tasks of the plan, by status, tag or text. tasks has id, title, status, stage, depends; next is the `after` of the next page.";
    "swarm_task" Read Read takes::TaskArgs, "Task",
        "Everything about one task: stage, why it waits or failed, attempts, usage, messages, its commands, its audit trail.";
    "swarm_diff" Read Read takes::DiffArgs, "Diff",
        "What the work of a task changes, as a patch from trunk; `to` is the commit to name in a review. cursor goes on where it was cut.";
    "swarm_log" Read Read takes::LogArgs, "Log",
        "What an agent or a check has printed: lines, cursor, end. For a task or an agent, of its newest run.";
    "swarm_history" Read Read takes::HistoryArgs, "History",
        "Records of the ledger as rows: seq, at, by, type, task, text. next is where to go on.";
    "swarm_wait" Read Read takes::WaitArgs, "Wait",
        "Waits up to 20 seconds for a change, a new attention entry, a task, an operation, or for the swarm to be idle. happened says whether it came; call it again with the new seq as `from`.";
    "swarm_preview" Read Read takes::PreviewArgs, "Preview",
        "What a call of another tool would do now, without doing it: says, facts, stops. `expect` is given where the tool takes one.";
    "swarm_worktree_list" Read Read takes::AtArgs, "Worktrees",
        "Worktrees with their task, branch, uncommitted files and state.";
    "swarm_init" Write Plan takes::InitArgs, "Prepare the repository",
        "Creates .swarm with a configuration where there is none. Existing files are never changed.";
    "save_plan" Write Plan takes::SavePlanArgs, "Save the plan",
        "Makes the plan what is given: goal, phases, tasks with id (1.1), title, description, depends, acceptance, files. Refused with the reason if it has cycles or unknown dependencies. A locked execution profile needs reset_statuses.";
    "update_task_status" Write Plan takes::StatusArgs, "Set a status",
        "pending puts a task back into the queue, active lets it start, blocked needs a reason, deferred and cancelled put it aside. done is never set by hand: the answer says what is missing.";
    "phase_complete" Write Plan takes::PhaseArgs, "Complete a phase",
        "Completes a phase whose tasks are all done or cancelled.";
    "swarm_edit" Write Plan takes::EditArgs, "Edit a task",
        "Adds, edits, moves, removes or splits a task, waives a gate, or accepts a task as it is. `do` says which; see the members for what each needs.";
    "swarm_plan" Destructive Plan takes::PlanArgs, "Decide about the plan",
        "Approves the plan, sets or locks its execution profile, resets it or closes it. reset and close without `expect` are previews.";
    "swarm_run" Write All takes::RunArgs, "Let work go on",
        "Starts tasks, resumes, sets the mode, sends a message to an agent, revives an agent, extends a budget, opens a quota, marks attention as seen, releases reserved files, retries after an abort.";
    "swarm_stop" Destructive All takes::StopArgs, "Stop work",
        "Pauses, stops or kills the agent of a task, blocks a task, redirects an agent, holds a quota, reserves files, or ends the swarm. Work is kept.";
    "swarm_checkpoint" Write All takes::CheckpointArgs, "Checkpoint",
        "Makes or deletes a checkpoint of plan, trunk, branches and worktrees.";
    "swarm_rollback" Destructive All takes::RollbackArgs, "Roll back",
        "Takes work back: to a checkpoint, one task, the session, or an abort. Without `expect` it is a preview and changes nothing; with the preview's `expect` it does exactly that or nothing.";
    "swarm_undo" Destructive All takes::UndoArgs, "Undo or redo",
        "Takes back the newest operation of a person, or the one named; with redo, takes back an undo. Without `expect` it is a preview.";
    "swarm_review" Write All takes::ReviewArgs, "Review",
        "Approves submitted work, or asks for changes with issues for the next attempt. Read swarm_diff first and give its `to` as commit.";
    "swarm_complete" Write All takes::CompleteArgs, "Submit work",
        "Submits the commits in the worktree of a task: they are checked, reviewed, merged and verified like an agent's. Refused where files are not committed.";
    "swarm_worktree_create" Write All takes::WorktreeCreateArgs, "Create a worktree",
        "Makes the worktree of a task on its branch, or finds the existing one: path, branch.";
    "swarm_worktree_merge" Write All takes::CompleteArgs, "Merge a worktree",
        "The same as swarm_complete, under the name of the worktree commands.";
    "swarm_worktree_cleanup" Write All takes::WorktreeArgs, "Remove a worktree",
        "Removes the worktree of a task if nothing in it would be lost, else says why it stays.";
}

/// Without references, whole: not every client follows them.
fn schema_of<T: JsonSchema>() -> JsonObject {
    let settings = SchemaSettings::draft2020_12().with(|settings| {
        settings.inline_subschemas = true;
        settings.meta_schema = None;
    });
    let mut schema = settings.into_generator().into_root_schema_for::<T>().to_value();
    if let Some(members) = schema.as_object_mut() {
        members.remove("title");
        members.entry("properties").or_insert_with(|| Value::Object(JsonObject::new()));
    }
    schema.as_object().cloned().unwrap_or_default()
}

impl Kind {
    pub fn is_offered(&self, offer: Offer) -> bool {
        self.offer <= offer
    }

    /// Sent twice with the same `id`, it is done once.
    pub fn takes_id(&self) -> bool {
        LISTED.iter().find(|tool| tool.name == self.name).is_some_and(|tool| {
            tool.input_schema.get("properties").is_some_and(|members| members.get("id").is_some())
        })
    }

    fn tool(&self) -> Tool {
        let annotations = ToolAnnotations::with_title(self.title)
            .read_only(self.risk == Risk::Read)
            .destructive(self.risk == Risk::Destructive)
            // An id makes each repetition harmless, and without one a second call finds it done.
            .idempotent(true)
            .open_world(false);
        Tool::new(self.name, self.about, Arc::new((self.schema)()))
            .with_title(self.title)
            .with_annotations(annotations)
    }
}

/// Schemas are made once: every client asks for them, and some at each turn.
static LISTED: LazyLock<Vec<Tool>> = LazyLock::new(|| TOOLS.iter().map(Kind::tool).collect());

pub fn kind(name: &str) -> Option<&'static Kind> {
    TOOLS.iter().find(|kind| kind.name == name)
}

pub fn offered(offer: Offer) -> Vec<Tool> {
    let listed = LISTED.iter().zip(TOOLS);
    listed.filter(|(_, kind)| kind.is_offered(offer)).map(|(tool, _)| tool.clone()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_are_27_and_a_limit_of_40_somewhere() {
        assert_eq!((TOOLS.len(), offered(Offer::All).len()), (27, 27));
        assert_eq!(offered(Offer::Read).len(), 11);
    }

    #[test]
    fn every_schema_is_one_object_without_references() {
        for tool in offered(Offer::All) {
            let schema = Value::Object(tool.input_schema.as_ref().clone());
            assert_eq!(schema["type"], "object", "{}", tool.name);
            assert_eq!(schema["additionalProperties"], false, "{}", tool.name);
            assert!(!schema.to_string().contains("$ref"), "{}: {schema}", tool.name);
            // Some models take no such schema at the top.
            assert!(schema.get("oneOf").is_none() && schema.get("anyOf").is_none(), "{}", tool.name);
        }
    }

    #[test]
    fn a_name_is_there_once_and_reads_come_first() {
        let names: std::collections::BTreeSet<_> = TOOLS.iter().map(|kind| kind.name).collect();
        assert_eq!(names.len(), TOOLS.len());
        assert!(TOOLS.is_sorted_by_key(|kind| kind.risk != Risk::Read));
    }
}
