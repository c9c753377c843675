//! What agents are told: templates that a team can replace under `.swarm/prompts/`.
//!
//! A prompt is put together from up to four of them: the task (`work.md`, or `compact.md` after a full context
//! window), what the attempt before left (`recovery.md`), how to go about it after a circle (`focused.md`), and what
//! is to be said now (`notices.md`). So whoever replaces one of them loses nothing of the others. Whoever reviews is
//! told `review.md`, whoever plans `plan.md`, whoever resolves what conflicts when it is taken back `resolve.md`.
//!
//! A template is read and tried when the coordinator starts, so that a slip in it is told to a person
//! at once, not to an agent in the night.

mod plan;
mod recovery;
mod resolve;
mod review;

use std::path::{Path, PathBuf};

use minijinja::{Environment, UndefinedBehavior};
use serde::Serialize;

/// Bytes of a prompt, well below the limit of one frame.
pub const PROMPT_MAX: usize = 512 * 1024;

/// Bytes a template may have.
const TEMPLATE_MAX: u64 = 256 * 1024;

/// Steps of a template before it counts as endless.
const FUEL: u64 = 2_000_000;

const WORK: &str = "work.md";
const COMPACT: &str = "compact.md";
const RECOVERY: &str = "recovery.md";
const FOCUSED: &str = "focused.md";
const NOTICES: &str = "notices.md";
const REVIEW: &str = "review.md";
const PLAN: &str = "plan.md";
const RESOLVE: &str = "resolve.md";
const BUILT_IN: &[(&str, &str)] = &[
    (WORK, include_str!("prompts/work.md")),
    (COMPACT, include_str!("prompts/compact.md")),
    (RECOVERY, include_str!("prompts/recovery.md")),
    (FOCUSED, include_str!("prompts/focused.md")),
    (NOTICES, include_str!("prompts/notices.md")),
    (REVIEW, include_str!("prompts/review.md")),
    (PLAN, include_str!("prompts/plan.md")),
    (RESOLVE, include_str!("prompts/resolve.md")),
];

pub use plan::PlanPrompt;
pub use recovery::{LastAttempt, Recovery};
pub use resolve::{ResolveFile, ResolvePrompt};
pub use review::ReviewPrompt;

/// The templates in force.
#[derive(Debug)]
pub struct Prompts {
    environment: Environment<'static>,
    /// Those of the team, by file name.
    own: Vec<String>,
}

/// A template that cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("Cannot use the prompt template {path}: {why}")]
pub struct PromptError {
    pub path: String,
    pub why: String,
}

/// What the template of a work run can name.
#[derive(Debug, Clone, Default, Serialize)]
pub struct WorkPrompt {
    pub task: TaskWords,
    pub goal: String,
    pub builds_on: Vec<Neighbour>,
    pub unblocks: Vec<Neighbour>,
    pub worktree: String,
    pub branch: String,
    pub agent: String,
    pub attempt: u32,
    pub iteration: u32,
    pub max_iterations: u32,
    pub checks: Vec<String>,
    pub learnings: Learnings,
    /// Output of the last red check, verification or review, or how the last attempt ended.
    pub last_failure: Option<String>,
    /// Where its work was reviewed last and sent back: from where to where, for `git diff`.
    pub reviewed: Option<String>,
    /// Files in which the work conflicts with what others have merged since.
    pub conflicts_in: Vec<String>,
    pub trunk: String,
    pub audit: Vec<String>,
    /// What an attempt before this one left, where it did not end as it should.
    pub recovery: Option<Recovery>,
    /// The context window of the last attempt was full: only what is needed.
    pub compact: bool,
    /// What the last attempt did over and over, or that its time was up; none otherwise.
    pub repeated: Option<String>,
    /// The last attempt's own page, where the prompt is compact.
    pub handover: Option<String>,
    /// Why the last iteration of this attempt was ended from outside.
    pub nudge: Option<String>,
    /// Words of people, oldest first.
    pub messages: Vec<Said>,
    /// Files that nobody else changes while this task is worked on.
    pub reserved: Vec<String>,
    /// Files that others have reserved.
    pub reserved_by_others: Vec<String>,
    /// The worktree is that of all tasks which share one.
    pub shared: bool,
    /// The program has the tools of its run, by which it can say what it would print.
    pub tools: bool,
}

/// A word of a person.
#[derive(Debug, Clone, Default, Serialize)]
pub struct Said {
    pub by: String,
    pub at: String,
    pub text: String,
}

#[derive(Debug, Clone, Default, Serialize)]
pub struct TaskWords {
    pub id: String,
    pub title: String,
    pub description: String,
    pub acceptance: Vec<String>,
    pub files: Vec<String>,
    pub tags: Vec<String>,
    pub phase: u32,
}

#[derive(Debug, Clone, Default, Serialize)]
pub struct Neighbour {
    pub id: String,
    pub title: String,
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Learnings {
    pub all: Vec<String>,
    /// Of this persona.
    pub own: Vec<String>,
}

impl Prompts {
    /// The built-in templates, and those of the folder in place of the ones they are named after.
    pub fn load(folder: &Path) -> Result<Self, PromptError> {
        let mut environment = Environment::new();
        environment.set_undefined_behavior(UndefinedBehavior::Strict);
        environment.set_fuel(Some(FUEL));
        let mut own = Vec::new();
        for (name, built_in) in BUILT_IN {
            let path = folder.join(name);
            let text = read(&path)?;
            let replaced = text.is_some();
            environment
                .add_template_owned(*name, text.unwrap_or_else(|| (*built_in).to_owned()))
                .map_err(|error| refused(&path, &error))?;
            if replaced {
                own.push((*name).to_owned());
            }
        }
        let prompts = Self { environment, own };
        // Once with as little as there can be and once with everything: both branches of every `if` are tried.
        let bare = WorkPrompt { recovery: Some(Recovery::default()), ..WorkPrompt::default() };
        for sample in [ReviewPrompt::default(), review_sample()] {
            prompts.render(REVIEW, &sample).map_err(|error| refused(&folder.join(REVIEW), &error))?;
        }
        let made = PlanPrompt::new("x", vec!["x".into()], true);
        let split = made.clone().splitting("x", "x", "x");
        for sample in [PlanPrompt::default(), made.changing("x", "x"), split] {
            prompts.render(PLAN, &sample).map_err(|error| refused(&folder.join(PLAN), &error))?;
        }
        for sample in [ResolvePrompt::default(), resolve::sample()] {
            prompts.render(RESOLVE, &sample).map_err(|error| refused(&folder.join(RESOLVE), &error))?;
        }
        for (name, _) in BUILT_IN.iter().filter(|(name, _)| ![REVIEW, PLAN, RESOLVE].contains(name)) {
            for sample in [&bare, &sample()] {
                prompts.render(name, sample).map_err(|error| refused(&folder.join(name), &error))?;
            }
        }
        Ok(prompts)
    }

    /// Every template in force by its file name, and whether it is the team's own. Only read, not tried.
    pub fn texts(folder: &Path) -> Result<Vec<(&'static str, String, bool)>, PromptError> {
        let text = |(name, built_in): &(&'static str, &str)| {
            let own = read(&folder.join(name))?;
            let is_own = own.is_some();
            Ok((*name, own.unwrap_or_else(|| (*built_in).to_owned()), is_own))
        };
        BUILT_IN.iter().map(text).collect()
    }

    /// Which templates are the team's own.
    pub fn own(&self) -> &[String] {
        &self.own
    }

    /// The prompt of one iteration, cut where it would not fit into a frame.
    pub fn work(&self, words: &WorkPrompt) -> String {
        let main = self.render(if words.compact { COMPACT } else { WORK }, words).unwrap_or_else(|error| {
            // It could be rendered when it was loaded; a task must not wait for the one value that it cannot take.
            format!(
                "# Task {}: {}\n\n{}\n\n({error})\n",
                words.task.id, words.task.title, words.task.description
            )
        });
        let more = [
            words.recovery.as_ref().map(|_| RECOVERY),
            words.repeated.as_ref().map(|_| FOCUSED),
            (words.nudge.is_some() || !words.messages.is_empty()).then_some(NOTICES),
        ];
        // What is said now comes last and is never what is cut away.
        let said: Vec<String> =
            more.into_iter().flatten().filter_map(|name| self.render(name, words).ok()).collect();
        let said = cut(said.iter().map(|text| format!("\n{}\n", text.trim())).collect(), PROMPT_MAX / 2);
        let main = cut(main, PROMPT_MAX - said.len() - 1);
        if said.is_empty() { main } else { format!("{}\n{said}", main.trim_end()) }
    }

    /// The question to whoever reviews. What an agent wrote was cut before.
    pub fn review(&self, words: &ReviewPrompt) -> String {
        let text = self.render(REVIEW, words).unwrap_or_else(|error| {
            format!("# Review of task {}\n\n{}\n\n({error})\n", words.task.id, words.diff)
        });
        cut(text, PROMPT_MAX)
    }

    /// The question to whoever plans.
    pub fn plan(&self, words: &PlanPrompt) -> String {
        let text = self.render(PLAN, words).unwrap_or_else(|error| {
            format!("# Make a plan\n\n{}\n\n{}\n\n({error})\n", words.goal, words.wish)
        });
        cut(text, PROMPT_MAX)
    }

    fn render(&self, name: &str, words: &impl Serialize) -> Result<String, minijinja::Error> {
        self.environment.get_template(name)?.render(minijinja::value::Serde(words))
    }
}

fn cut(mut text: String, most: usize) -> String {
    if text.len() > most {
        let mut end = most;
        while !text.is_char_boundary(end) {
            end -= 1;
        }
        text.truncate(end);
    }
    text
}

/// None where the team has no template of its own.
fn read(path: &PathBuf) -> Result<Option<String>, PromptError> {
    let cannot = |why: String| PromptError { path: path.display().to_string(), why };
    match std::fs::metadata(path) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(cannot(error.to_string())),
        Ok(meta) if meta.len() > TEMPLATE_MAX => {
            return Err(cannot(format!("it has {} bytes, at most {TEMPLATE_MAX} are read", meta.len())));
        }
        Ok(_) => {}
    }
    match std::fs::read(path).map(String::from_utf8) {
        Ok(Ok(text)) if text.trim().is_empty() => Err(cannot("it is empty".into())),
        Ok(Ok(text)) => Ok(Some(text)),
        Ok(Err(_)) => Err(cannot("it is not UTF-8 text".into())),
        Err(error) => Err(cannot(error.to_string())),
    }
}

fn refused(path: &Path, error: &minijinja::Error) -> PromptError {
    let line = error.line().map_or(String::new(), |line| format!("line {line}: "));
    let detail = error.detail().map_or(String::new(), |detail| format!(": {detail}"));
    PromptError { path: path.display().to_string(), why: format!("{line}{}{detail}", error.kind()) }
}

fn review_sample() -> ReviewPrompt {
    let WorkPrompt { task, goal, builds_on, unblocks, checks, .. } = sample();
    let words = ReviewPrompt { task, goal, builds_on, unblocks, checks, ..ReviewPrompt::default() };
    let words = ReviewPrompt { last_notes: Some("x".into()), ..words };
    let words = words.with_changes("x", "x\nx", Some("x"), 2);
    ReviewPrompt { files_left: 1, since_cut: true, ..words }
}

fn sample() -> WorkPrompt {
    let some = || vec!["x".to_owned()];
    let neighbour = || vec![Neighbour { id: "1".into(), title: "x".into() }];
    WorkPrompt {
        task: TaskWords {
            id: "1".into(),
            title: "x".into(),
            description: "x".into(),
            acceptance: some(),
            files: some(),
            tags: some(),
            phase: 1,
        },
        goal: "x".into(),
        builds_on: neighbour(),
        unblocks: neighbour(),
        worktree: "x".into(),
        branch: "x".into(),
        agent: "x".into(),
        attempt: 2,
        iteration: 2,
        max_iterations: 50,
        checks: some(),
        learnings: Learnings { all: some(), own: some() },
        last_failure: Some("x".into()),
        reviewed: Some("x".into()),
        conflicts_in: some(),
        trunk: "x".into(),
        audit: some(),
        recovery: Some(Recovery {
            last: LastAttempt {
                started: Some("x".into()),
                files_modified: some(),
                tests: Some("x".into()),
                last_commit: Some("x".into()),
                error: Some("x".into()),
                ended: "x".into(),
            },
            ..Recovery::default()
        }),
        compact: true,
        reserved: some(),
        reserved_by_others: some(),
        shared: true,
        tools: true,
        repeated: Some("x".into()),
        handover: Some("x".into()),
        nudge: Some("x".into()),
        messages: vec![Said { by: "x".into(), at: "x".into(), text: "x".into() }],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with_template(text: &str) -> Result<Prompts, PromptError> {
        let folder = tempfile::tempdir().expect("a folder");
        std::fs::write(folder.path().join("work.md"), text).expect("written");
        Prompts::load(folder.path()).map_err(|error| {
            let path = error.path.replace(&format!("{}/", folder.path().display()), "");
            PromptError { path, ..error }
        })
    }

    #[test]
    fn the_built_in_prompt_names_the_place_and_what_went_wrong() {
        let prompts = Prompts::load(Path::new("nowhere")).expect("built in");
        let words = WorkPrompt {
            worktree: "/x/.swarm/worktrees/1.2".into(),
            branch: "swarm/1.2".into(),
            last_failure: Some("1 test failed".into()),
            compact: false,
            shared: false,
            ..sample()
        };
        let text = prompts.work(&words);
        for part in
            ["worktree /x/.swarm/worktrees/1.2 on the branch swarm/1.2", "1 test failed", "iteration 2 of"]
        {
            assert!(text.contains(part), "{part:?} is not in:\n{text}");
        }
        let first = prompts.work(&WorkPrompt {
            attempt: 1,
            iteration: 1,
            last_failure: None,
            compact: false,
            ..sample()
        });
        assert!(!first.contains("Before now"), "{first}");
    }

    #[test]
    fn in_the_shared_tree_nobody_is_told_to_commit() {
        let prompts = Prompts::load(Path::new("nowhere")).expect("built in");
        for compact in [false, true] {
            let said = |shared| prompts.work(&WorkPrompt { compact, shared, ..sample() });
            assert!(
                said(true).contains("Do not commit") && !said(true).contains("and committed"),
                "{}",
                said(true)
            );
            assert!(said(false).contains("Commit what you do") && !said(false).contains("Do not commit"));
        }
    }

    #[test]
    fn a_template_of_the_team_is_used_and_a_slip_in_it_is_told_with_its_line() {
        let prompts = with_template("Do {{ task.id }} in {{ worktree }}\n").expect("good");
        assert_eq!(prompts.own(), ["work.md"]);
        let plain = WorkPrompt { recovery: None, repeated: None, nudge: None, messages: vec![], ..sample() };
        assert_eq!(prompts.work(&WorkPrompt { compact: false, ..plain.clone() }), "Do 1 in x");
        // What a person said reaches the agent whatever the team's template says.
        let said = WorkPrompt { compact: false, messages: sample().messages, ..plain };
        assert_eq!(prompts.work(&said), "Do 1 in x\n\n## Messages\n\n- x, x: x\n");
        for (text, why) in [
            ("one\ntwo {{ tusk.id }}", "line 2: undefined value"),
            ("{% if goal %}", "line 1: syntax error: unexpected end of input, expected end of block"),
            ("  \n", "it is empty"),
            (
                "{% for i in range(100000) %}{% for j in range(100000) %}x{% endfor %}{% endfor %}",
                "engine ran out of fuel",
            ),
        ] {
            let error = with_template(text).expect_err(text);
            assert_eq!(error.path, "work.md");
            assert!(error.why.contains(why), "{text:?}: {}", error.why);
        }
    }

    #[test]
    fn nothing_in_a_task_can_be_taken_for_a_template() {
        let prompts = Prompts::load(Path::new("nowhere")).expect("built in");
        let mut words = WorkPrompt { compact: false, ..sample() };
        words.task.title = "{{ goal }} {% for %}".into();
        assert!(prompts.work(&words).contains("{{ goal }} {% for %}"));
        words.task.description = "ä".repeat(PROMPT_MAX);
        assert!(prompts.work(&words).len() <= PROMPT_MAX);
    }
}
