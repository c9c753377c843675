//! A goal becomes a plan: one agent reads the repository and answers. Nothing is saved here but the conversation; what the
//! answer is worth, the one who asked finds out.

use std::fs::File;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};
use swarm_agents::prompts::{PlanPrompt, Prompts};
use swarm_agents::{Surroundings, ready};
use swarm_git::{Git, GitError};
use swarm_process::end_tree_by_nonce;
use swarm_protocol::answer::last_object;
use swarm_protocol::channel::{Answered, RunKind};
use swarm_protocol::config::Config;
use swarm_protocol::failure::{Failure, Usage};
use swarm_protocol::ids::{RunId, TaskId};
use swarm_protocol::plan::{PlanFile, TaskFile, TaskSpec};
use swarm_protocol::planfile;
use swarm_protocol::planning::Planning;
use swarm_protocol::time::Timestamp;
use swarm_work::daemon::program::StopWish;
use swarm_work::daemon::{DaemonSpec, Form, Known, Question, ask_alone, write_durable};

use crate::clock::wall_clock;
use crate::coordinator::Outfit;
use crate::paths::Paths;
use crate::store::ensure_ignored;

/// Names of files that a prompt carries.
const FILES_MAX: usize = 300;

/// The conversation about a goal, so that it can go on.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Conversation {
    pub goal: String,
    pub profile: String,
    pub session: Option<String>,
    /// Of all questions so far.
    pub usage: Usage,
    /// Since a proposal was taken last.
    recent: Recent,
    /// By which whatever a killed command left behind is found.
    nonce: String,
}

/// What was asked for one proposal.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Recent {
    program: String,
    model: Option<String>,
    began: Option<Timestamp>,
    ended: Timestamp,
    asked: u32,
    usage: Usage,
}

impl Conversation {
    /// What it took to come to the proposal that is taken now; none where nothing was asked for it.
    pub fn planning(&self) -> Option<Planning> {
        let Recent { program, model, began, ended, asked, usage } = self.recent.clone();
        Some(Planning {
            profile: self.profile.clone(),
            program,
            model,
            began: began?,
            ended,
            asked,
            session: self.session.clone(),
            usage,
        })
    }

    /// One that has not begun.
    pub fn about(goal: impl Into<String>, profile: impl Into<String>) -> Self {
        Self { goal: goal.into(), profile: profile.into(), ..Self::default() }
    }
}

/// What is wanted of the planner.
pub enum Wish<'a> {
    /// A plan for the goal.
    Make,
    /// This plan, changed like this.
    Change { plan: &'a PlanFile, wish: &'a str },
    /// Parts of a task of this plan.
    Split { plan: &'a PlanFile, task: &'a TaskFile, wish: &'a str },
}

#[derive(Debug, thiserror::Error)]
pub enum NoPlan {
    #[error("{0}")]
    NoProfile(String),
    /// Its program is not there.
    #[error("{}", .0.text)]
    NotReady(Failure),
    #[error("another command is planning here")]
    Busy,
    #[error("the agent had no answer: {}", .0.sentence())]
    Failed(Failure),
    #[error("it was interrupted")]
    Interrupted,
    #[error(transparent)]
    Git(#[from] GitError),
    #[error(transparent)]
    Io(#[from] std::io::Error),
}

/// Where it is planned, and how.
#[derive(Clone, Copy)]
pub struct Planner<'a> {
    pub git: &'a Git,
    pub paths: &'a Paths,
    pub config: &'a Config,
    pub prompts: &'a Prompts,
}

/// A question that is put, and put again with the reason where the answer cannot be used.
pub struct Asking<'a> {
    planner: Planner<'a>,
    pub talk: Conversation,
    wish: Wish<'a>,
    outfit: Outfit,
    whole: String,
    /// One at a time.
    _lock: File,
}

fn file_in(paths: &Paths) -> PathBuf {
    paths.swarm.join("planner.json")
}

/// The conversation about a plan that was had last here.
pub fn conversation_in(paths: &Paths) -> Option<Conversation> {
    let text = std::fs::read(file_in(paths)).ok()?;
    serde_json::from_slice(&text).ok()
}

/// The proposal was taken: what is asked from here on is for another one.
pub fn no_proposal_any_more(paths: &Paths) -> Result<(), NoPlan> {
    let Some(mut talk) = conversation_in(paths) else { return Ok(()) };
    talk.recent = Recent::default();
    keep(paths, &talk)
}

fn keep(paths: &Paths, talk: &Conversation) -> Result<(), NoPlan> {
    write_durable(&file_in(paths), talk).map_err(|error| NoPlan::Io(std::io::Error::other(error)))
}

impl<'a> Planner<'a> {
    /// The conversation that was had last.
    pub fn last(&self) -> Option<Conversation> {
        conversation_in(self.paths)
    }

    /// Everything is there to ask; nothing is started yet.
    pub async fn begin(self, talk: Conversation, wish: Wish<'a>) -> Result<Asking<'a>, NoPlan> {
        let outfit =
            Outfit::of(self.config, &talk.profile).map_err(|error| NoPlan::NoProfile(error.to_string()))?;
        ready(&outfit.setup, &Surroundings::of_this_process()).map_err(NoPlan::NotReady)?;
        let lock = self.alone().await?;
        let whole = self.prompt(&talk, &wish).await?;
        Ok(Asking { planner: self, talk, wish, outfit, whole, _lock: lock })
    }

    /// What a killed one left behind is ended first.
    async fn alone(&self) -> Result<File, NoPlan> {
        std::fs::create_dir_all(&self.paths.run)?;
        ensure_ignored(self.paths)?;
        let mut options = File::options();
        let lock =
            options.create(true).truncate(false).write(true).open(self.paths.run.join("planner.lock"))?;
        if lock.try_lock().is_err() {
            return Err(NoPlan::Busy);
        }
        if let Some(left) = self.last().filter(|talk| !talk.nonce.is_empty()) {
            end_tree_by_nonce(&left.nonce, std::time::Duration::ZERO).await;
        }
        Ok(lock)
    }

    async fn prompt(&self, talk: &Conversation, wish: &Wish<'_>) -> Result<String, NoPlan> {
        let listed = self.git.call(["ls-files", "-z", "--cached"]).long_list().ok().await?;
        let names = || listed.split(|byte| *byte == 0).filter(|name| !name.is_empty());
        let files = names().take(FILES_MAX).map(|name| String::from_utf8_lossy(name).into_owned());
        let words = PlanPrompt::new(&talk.goal, files.collect(), names().count() > FILES_MAX);
        Ok(self.prompts.plan(&match wish {
            Wish::Make => words,
            Wish::Change { plan, wish } => words.changing(&planfile::to_json(plan), wish),
            Wish::Split { plan, task, wish } => {
                words.splitting(&planfile::to_json(plan), task.id.as_str(), wish)
            }
        }))
    }

    fn keep(&self, talk: &Conversation) -> Result<(), NoPlan> {
        keep(self.paths, talk)
    }

    /// The walls of the profile, in the repository itself, with nothing that may be written there.
    fn spec(&self, outfit: &Outfit, question: Question, nonce: String) -> DaemonSpec {
        DaemonSpec {
            run: RunId::nth(0),
            kind: RunKind::Review,
            nonce,
            root: self.paths.root.clone(),
            worktree: self.paths.root.clone(),
            shared: None,
            task: TaskId::new("plan").expect("a task id"),
            agent: None,
            attempt: 1,
            start: None,
            title: String::new(),
            agent_setup: Some(outfit.setup.clone()),
            question: Some(question),
            guard: outfit.guard.clone(),
            known: Known { repository: Some(self.git.repository()), containment: None },
            set_up: None,
            env: Default::default(),
            stop_grace_secs: self.config.stop.grace.secs,
            alone_secs: self.config.daemon.alone.secs,
            reconnect_max_secs: self.config.daemon.reconnect_max.secs,
            journal_max_bytes: 64 << 20,
            file_max_bytes: self.config.worktree.max_file << 20,
        }
    }
}

impl Asking<'_> {
    /// What it says; `refused` is why its last answer could not be used.
    pub async fn answer(&mut self, refused: Option<&str>, stop: &mut StopWish) -> Result<String, NoPlan> {
        let prompt = match refused {
            None => self.whole.clone(),
            Some(why) => {
                let what = if matches!(self.wish, Wish::Split { .. }) { "split" } else { "plan" };
                let again = format!(
                    "Your {what} cannot be used: {why}. Answer again, with nothing but the JSON object."
                );
                match self.talk.session {
                    Some(_) => again,
                    None => format!("{}\n\n{again}\n", self.whole.trim_end()),
                }
            }
        };
        let answered = self.put(prompt, stop).await?;
        match answered.failure {
            Some(failure) => Err(NoPlan::Failed(failure)),
            None => Ok(answered.text),
        }
    }

    async fn put(&mut self, prompt: String, stop: &mut StopWish) -> Result<Answered, NoPlan> {
        let talk = &mut self.talk;
        talk.nonce = ulid::Ulid::generate().to_string();
        self.planner.keep(talk)?;
        talk.recent.began.get_or_insert_with(wall_clock);
        talk.recent.asked += 1;
        let question = Question { prompt, session: talk.session.clone(), form: Form::Plan, member: None };
        let spec = self.planner.spec(&self.outfit, question, talk.nonce.clone());
        let answered = ask_alone(spec, self.planner.config.plan.timeout.secs, stop).await;
        talk.nonce.clear();
        let answered = answered?.ok_or(NoPlan::Interrupted)?;
        let setup = &self.outfit.setup;
        talk.usage = talk.usage.plus(answered.usage);
        talk.recent.usage = talk.recent.usage.plus(answered.usage);
        talk.recent.ended = wall_clock();
        (talk.recent.program, talk.recent.model) = (setup.program.name().to_owned(), setup.model.clone());
        talk.session.clone_from(&answered.session);
        self.planner.keep(talk)?;
        Ok(answered)
    }

    /// The plan of an answer, with nothing in it that is not a planner's to decide.
    pub fn plan_in(&self, answer: &str) -> Result<PlanFile, String> {
        let mut object = last_object(answer)?;
        // Of the goal and of rights only people decide.
        if let Some(plan) = object.as_object_mut() {
            plan.insert("goal".into(), self.talk.goal.clone().into());
            plan.remove("execution_profile");
        }
        let text = object.to_string();
        let mut plan = planfile::parse("the answer", text.as_bytes()).map_err(|error| error.to_string())?;
        let before = match &self.wish {
            Wish::Change { plan, .. } => Some(*plan),
            Wish::Make | Wish::Split { .. } => None,
        };
        for task in plan.phases.iter_mut().flat_map(|phase| &mut phase.tasks) {
            let mut known = before.into_iter().flat_map(|plan| &plan.phases).flat_map(|phase| &phase.tasks);
            let was = known.find(|was| was.id == task.id);
            task.status = None;
            task.profile = was.and_then(|was| was.profile.clone());
            task.review = was.and_then(|was| was.review.clone());
            task.isolation = was.and_then(|was| was.isolation.clone());
            task.allow_empty = was.is_some_and(|was| was.allow_empty);
            // A tag may decide who reviews.
            let kept: Vec<String> = was.map(|was| was.tags.clone()).unwrap_or_default();
            task.tags.retain(|tag| !kept.contains(tag));
            task.tags.splice(0..0, kept);
        }
        if plan.phases.iter().all(|phase| phase.tasks.is_empty()) {
            return Err("it has no tasks".into());
        }
        Ok(plan)
    }
    /// The parts of an answer. Who does and who reviews them is what it was for the whole.
    pub fn parts_in(&self, answer: &str) -> Result<Vec<TaskSpec>, String> {
        let Wish::Split { task: whole, .. } = &self.wish else {
            return Err("nobody asked for parts".into());
        };
        let text = last_object(answer)?.to_string();
        let parts = planfile::parse_parts("the answer", text.as_bytes(), &whole.id);
        let mut parts = parts.map_err(|error| error.to_string())?;
        for part in &mut parts {
            part.profile.clone_from(&whole.profile);
            part.review.clone_from(&whole.review);
            part.isolation.clone_from(&whole.isolation);
            part.allow_empty = false;
            if part.reserve.is_empty() && part.share.is_empty() {
                part.reserve.clone_from(&whole.reserve);
                part.share.clone_from(&whole.share);
            }
            part.tags.retain(|tag| !whole.tags.contains(tag));
            part.tags.splice(0..0, whole.tags.iter().cloned());
        }
        Ok(parts)
    }
}
