//! Prompts: what a person may want a model to do with the swarm, in words that name the tools.

use rmcp::model::{GetPromptResult, Prompt, PromptArgument, PromptMessage, Role};
use serde_json::{Map, Value};
use swarm_protocol::api::ApiError;

struct Kind {
    name: &'static str,
    about: &'static str,
    /// The one argument, with what it is.
    takes: Option<(&'static str, &'static str)>,
    text: &'static str,
}

const PROMPTS: [Kind; 5] = [
    Kind {
        name: "plan-goal",
        about: "Make a plan for a goal and save it",
        takes: Some(("goal", "What is to be reached")),
        text: "Make a plan for this goal: {goal}\n\nRead the repository first. Cut the goal into phases and small tasks \
               that agents can work on at the same time: each has an id (1.1), a title, a description that an agent \
               without our conversation understands, the tasks it depends on, the files it changes and criteria for \
               its acceptance. Two tasks that run at the same time should not change the same files. Show me the plan, \
               and when I agree save it with save_plan. Do not approve it yourself.",
    },
    Kind {
        name: "review-task",
        about: "Review the submitted work of a task",
        takes: Some(("task", "Task id, like 1.2")),
        text: "Review the work of task {task}. Read swarm_task for what it is to do and swarm_diff for what was done, \
               page by page. Does it do what the task asks, serve the goal of the plan, leave a good base for the tasks \
               that depend on it, and is it free of serious mistakes? Tell me what you found. When I agree, call \
               swarm_review with the commit from swarm_diff, or with an issue for each thing to be changed.",
    },
    Kind {
        name: "triage",
        about: "Go through what waits for a person",
        takes: None,
        text: "Read swarm_attention. For each entry tell me in one line what waits, why, and what you would do, looking \
               at swarm_task and swarm_log where the reason is not clear. Then wait for my word before you change \
               anything.",
    },
    Kind {
        name: "explain-failure",
        about: "Find out why a task failed or is stuck",
        takes: Some(("task", "Task id, like 1.2")),
        text: "Find out why task {task} failed or does not get on. Read swarm_task, the last lines of swarm_log for it, \
               and swarm_history with the task. Tell me the cause, what it is proven by, and what would help. Change \
               nothing.",
    },
    Kind {
        name: "handoff",
        about: "Take over a running swarm",
        takes: None,
        text: "You take over this swarm. Read the resource swarm://handoff (or swarm_status, swarm_attention and \
               get_approved_plan), then tell me in a few lines: the goal, what is done, who works on what, what waits \
               for me, and what comes next.",
    },
];

pub fn prompts() -> Vec<Prompt> {
    let argument = |(name, about)| PromptArgument::new(name).with_description(about).with_required(true);
    let made =
        |kind: &Kind| Prompt::new(kind.name, Some(kind.about), kind.takes.map(|takes| vec![argument(takes)]));
    PROMPTS.iter().map(made).collect()
}

/// Longest value that is put into a prompt.
const VALUE_MAX: usize = 10_000;

pub fn prompt(name: &str, given: &Map<String, Value>) -> Result<GetPromptResult, ApiError> {
    let unknown = || ApiError::new("unknown_prompt", format!("There is no prompt {name:?}"), "prompts/list");
    let kind = PROMPTS.iter().find(|kind| kind.name == name).ok_or_else(unknown)?;
    let mut text = kind.text.to_owned();
    if let Some((argument, _)) = kind.takes {
        let value = given.get(argument).and_then(Value::as_str).filter(|value| !value.trim().is_empty());
        let value = value.filter(|value| value.len() <= VALUE_MAX);
        let missing = || ApiError::new("bad_arguments", format!("{name} needs `{argument}`"), "prompts/list");
        text = text.replace(&format!("{{{argument}}}"), value.ok_or_else(missing)?);
    }
    let mut result = GetPromptResult::new(vec![PromptMessage::new_text(Role::User, text)]);
    result.description = Some(kind.about.to_owned());
    Ok(result)
}
