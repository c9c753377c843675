//! A goal becomes a plan: the agent that plans is asked, and what it proposes is kept as a draft.

use std::path::{Path, PathBuf};
use std::time::Duration;

use swarm_agents::prompts::Prompts;
use swarm_engine::planning::{
    Asking, Conversation, NoPlan, Planner, Wish, conversation_in, no_proposal_any_more,
};
use swarm_process::complain;
use swarm_protocol::command::{Answer, Command, SaveKind};
use swarm_protocol::config::PlanApproval;
use swarm_protocol::failure::Usage;
use swarm_protocol::ids::{BadName, TaskId};
use swarm_protocol::plan::{PlanFile, TaskSpec};
use swarm_protocol::planfile;
use swarm_protocol::planning::Planning;
use swarm_protocol::refusal::Refusal;
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::watch;

use super::Swarm;
use crate::error::CliError;
use crate::output;

const CANNOT: &str = "Cannot make a plan";
const CANNOT_SPLIT: &str = "Cannot split the task";

/// Times that the agent is asked: a plan that is refused is worth a second time, with the reason.
const ASKED_MAX: u32 = 2;

/// What the planner proposes.
pub struct Draft {
    pub plan: PlanFile,
    pub talk: Conversation,
    /// Where it lies, as people see it.
    pub file: String,
}

/// Parts of a task that the planner proposes.
pub struct Parts {
    pub parts: Vec<TaskSpec>,
    pub usage: Usage,
    pub planning: Option<Planning>,
    /// Where they lie until somebody takes them.
    pub file: PathBuf,
}

/// What is said of a question to the planner that comes to nothing.
struct Words {
    cannot: &'static str,
    /// What it was asked for.
    what: &'static str,
    instead: String,
}

impl Swarm {
    fn draft_file(&self) -> PathBuf {
        self.paths.swarm.join("plan-draft.json")
    }

    /// Whether the configuration takes plans as they come.
    pub fn approves_plans_itself(&self) -> Result<bool, CliError> {
        Ok(self.configuration()?.config.plan.approve == PlanApproval::Auto)
    }

    /// A plan for the goal. Refused while there is one.
    pub fn make_draft(&self, goal: &str, agent: Option<&str>) -> Result<Draft, CliError> {
        let profile = self.planner_for(goal, agent)?;
        self.proposed(Conversation::about(goal.trim(), profile), Wish::Make)
    }

    /// Who would be asked for a plan for the goal.
    pub fn planner_for(&self, goal: &str, agent: Option<&str>) -> Result<String, CliError> {
        if goal.trim().is_empty() {
            return Err(CliError::usage("The goal is empty").say("Describe the goal"));
        }
        if self.plan_file(None).is_ok() {
            let what = "A plan already exists";
            return Err(CliError::refused_now(what)
                .say("Change it with `swarm plan refine WISH`, or archive it and start again with `swarm run --fresh GOAL`"));
        }
        self.planner(agent)
    }

    /// The profile that plans.
    pub fn planner(&self, agent: Option<&str>) -> Result<String, CliError> {
        self.trusted()?;
        let config = self.configuration()?.config;
        Ok(agent.map(str::to_owned).or(config.plan.profile).unwrap_or(config.agent))
    }

    /// The draft, or else the plan itself, changed.
    pub fn refine_draft(&self, wish: &str, agent: Option<&str>) -> Result<Draft, CliError> {
        if wish.trim().is_empty() {
            return Err(CliError::usage("The wish is empty").say("Describe the change to the plan"));
        }
        let plan = match std::fs::read(self.draft_file()) {
            Ok(bytes) => planfile::parse("the draft", &bytes)?,
            Err(_) => self.plan_file(None)?,
        };
        let talk = self.conversation_about(&plan.goal, agent)?;
        self.proposed(talk, Wish::Change { plan: &plan, wish: wish.trim() })
    }

    /// The one that was had about this goal with the same profile goes on.
    fn conversation_about(&self, goal: &str, agent: Option<&str>) -> Result<Conversation, CliError> {
        let config = self.configuration()?.config;
        let profile = self.planner(agent)?;
        let same = |talk: &Conversation| talk.goal == goal && talk.profile == profile;
        let planner =
            Planner { git: &self.git, paths: &self.paths, config: &config, prompts: &self.templates()? };
        let talk = planner.last().filter(same);
        Ok(talk.unwrap_or_else(|| Conversation::about(goal, &profile)))
    }

    /// Refused where the task cannot be split: nobody is paid for an answer that is of no use.
    pub fn may_split(&self, id: &TaskId) -> Result<(), CliError> {
        let part = |n: u8| Ok(TaskSpec::new(TaskId::new(format!("{id}-{n}"))?, format!("Part {n}")));
        let parts = [1, 2].map(part).into_iter().collect::<Result<_, BadName>>();
        let parts = parts.map_err(|error| CliError::usage(error.to_string()))?;
        self.preview(&Command::SplitTask { task: id.clone(), parts, planning: None }).map(drop)
    }

    /// Parts of a task that the agent proposes.
    pub fn propose_parts(&self, id: &TaskId, wish: &str, agent: Option<&str>) -> Result<Parts, CliError> {
        self.may_split(id)?;
        let plan = self.plan_file(None)?;
        let mut all = plan.phases.iter().flat_map(|phase| &phase.tasks);
        let Some(task) = all.find(|task| task.id == *id) else {
            return Err(Refusal::UnknownTask { task: id.to_string(), near: None }.into());
        };
        let talk = self.conversation_about(&plan.goal, agent)?;
        let wish = Wish::Split { plan: &plan, task, wish: wish.trim() };
        let words = Words {
            cannot: CANNOT_SPLIT,
            what: "parts",
            instead: format!("split it yourself: `swarm task split {id} FILE`"),
        };
        let (parts, talk) = self.asked(&words, talk, wish, |asking, text| {
            let parts = asking.parts_in(text)?;
            let command = Command::SplitTask { task: id.clone(), parts: parts.clone(), planning: None };
            self.judged(&command).map(|()| parts)
        })?;
        let file = self.paths.swarm.join(format!("split-{id}.json"));
        let text = serde_json::to_vec_pretty(&serde_json::json!({ "tasks": parts }));
        let text = text.map_err(|error| CliError::environment(CANNOT_SPLIT).because(error))?;
        self.write_whole(&file, &text)?;
        Ok(Parts { parts, usage: talk.usage, planning: talk.planning(), file })
    }

    /// The proposed parts take the place of the task.
    pub fn take_parts(&self, id: &TaskId, draft: &Parts) -> Result<Answer, CliError> {
        let answer = self.ask(Command::SplitTask {
            task: id.clone(),
            parts: draft.parts.clone(),
            planning: draft.planning.clone(),
        })?;
        self.proposal_is_taken();
        complain("remove the proposed parts", std::fs::remove_file(&draft.file));
        Ok(answer)
    }

    /// The draft becomes the plan, and is approved.
    pub fn take_draft(&self, draft: &Draft) -> Result<String, CliError> {
        self.ask(save(&draft.plan, draft.talk.planning()))?;
        self.ask(Command::ApprovePlan)?;
        self.is_no_draft_any_more(&self.draft_file());
        let tasks: usize = draft.plan.phases.iter().map(|phase| phase.tasks.len()).sum();
        let many = if tasks == 1 { "1 task".to_owned() } else { format!("{tasks} tasks") };
        Ok(format!("Plan saved and approved: {many}"))
    }

    /// What it took to propose what stands in this file, where it is the draft.
    pub fn planning_of(&self, file: &Path) -> Option<Planning> {
        is_same(file, &self.draft_file()).then(|| self.last_talk()?.planning()).flatten()
    }

    fn last_talk(&self) -> Option<Conversation> {
        conversation_in(&self.paths)
    }

    fn proposal_is_taken(&self) {
        complain("note that the proposal was taken", no_proposal_any_more(&self.paths));
    }

    /// The draft has become the plan: left there, it would be what is refined next.
    pub fn is_no_draft_any_more(&self, file: &Path) {
        let draft = self.draft_file();
        if is_same(file, &draft) {
            complain("remove the draft", std::fs::remove_file(draft));
            self.proposal_is_taken();
        }
    }

    fn templates(&self) -> Result<Prompts, CliError> {
        Prompts::load(&self.paths.swarm.join("prompts"))
            .map_err(|error| CliError::environment(error.to_string()).say("Fix the template, or remove it"))
    }

    fn proposed(&self, talk: Conversation, wish: Wish<'_>) -> Result<Draft, CliError> {
        let words = Words { cannot: CANNOT, what: "plan", instead: "write the plan yourself".into() };
        let (plan, talk) = self.asked(&words, talk, wish, |asking, text| {
            let plan = asking.plan_in(text)?;
            self.judged(&save(&plan, None)).map(|()| plan)
        })?;
        let file = self.draft_file();
        self.write_whole(&file, planfile::to_json(&plan).as_bytes())?;
        Ok(Draft { plan, talk, file: self.relative(&file) })
    }

    /// Asks the agent that plans, and once more with the reason where `read` cannot use what it says.
    fn asked<T>(
        &self,
        words: &Words,
        talk: Conversation,
        wish: Wish<'_>,
        read: impl Fn(&Asking<'_>, &str) -> Result<T, String>,
    ) -> Result<(T, Conversation), CliError> {
        let (config, prompts) = (self.configuration()?.config, self.templates()?);
        let planner = Planner { git: &self.git, paths: &self.paths, config: &config, prompts: &prompts };
        let log = self.relative(&self.paths.agents.join("planner/logs/r0.jsonl"));
        output::note(&format!("{} is planning; Ctrl+C interrupts it (log: {log})", talk.profile));
        let Words { cannot, what, instead } = words;
        let failed = |error| no_plan(cannot, error, &log);
        let mut asking = self.runtime.block_on(planner.begin(talk, wish)).map_err(failed)?;
        let grace = Duration::from_secs(config.stop.grace.secs);
        let mut refused: Option<String> = None;
        for _ in 0..ASKED_MAX {
            if let Some(why) = &refused {
                output::note(&format!("The {what} cannot be used ({why}); asking once more"));
            }
            let answer = self.runtime.block_on(interruptible(&mut asking, refused.as_deref(), grace));
            match read(&asking, &answer.map_err(failed)?) {
                Ok(read) => return Ok((read, asking.talk)),
                Err(why) => refused = Some(why),
            }
        }
        let why = format!("the agent's {what} cannot be used: {}", refused.unwrap_or_default());
        let hint = format!("Read its answer in {log}; ask again, or {instead}");
        Err(CliError::refused_now(*cannot).because(why).say(hint))
    }

    /// Whether it would be done as it is.
    fn judged(&self, command: &Command) -> Result<(), String> {
        self.preview(command).map(drop).map_err(|error| error.message)
    }
}

async fn interruptible(
    asking: &mut Asking<'_>,
    refused: Option<&str>,
    grace: Duration,
) -> Result<String, NoPlan> {
    let (tell, mut stop) = watch::channel(None);
    let mut interrupts = signal(SignalKind::interrupt())?;
    let mut ends = signal(SignalKind::terminate())?;
    let told = async {
        tokio::select! { _ = interrupts.recv() => {}, _ = ends.recv() => {} }
        tell.send_replace(Some(grace));
        // The program ends in its grace, and with it the question.
        std::future::pending().await
    };
    tokio::select! {
        answer = asking.answer(refused, &mut stop) => answer,
        never = told => never,
    }
}

fn is_same(one: &Path, other: &Path) -> bool {
    std::fs::canonicalize(one).is_ok_and(|one| std::fs::canonicalize(other).is_ok_and(|other| one == other))
}

fn save(plan: &PlanFile, planning: Option<Planning>) -> Command {
    Command::SavePlan {
        plan: plan.clone(),
        kind: SaveKind::Save,
        source: "planner".into(),
        reset_statuses: false,
        planning,
    }
}

fn no_plan(cannot: &str, error: NoPlan, log: &str) -> CliError {
    let because = error.to_string();
    match error {
        NoPlan::NoProfile(_) => CliError::usage(cannot).because(because).run_instead("swarm config show"),
        NoPlan::Busy => CliError::owned(cannot).because(because).say("Wait for it, or interrupt it"),
        NoPlan::Failed(failure) | NoPlan::NotReady(failure) => {
            let hint = failure.hint.unwrap_or_else(|| format!("See {log}"));
            CliError::environment(cannot).because(because).say(hint)
        }
        NoPlan::Interrupted => CliError::refused_now(cannot).because(because).say("Nothing was changed"),
        NoPlan::Git(_) | NoPlan::Io(_) => CliError::environment(cannot).because(because),
    }
}
