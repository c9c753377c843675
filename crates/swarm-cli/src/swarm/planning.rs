//! A goal becomes a plan: the agent that plans is asked, and what it proposes is kept as a draft.

use std::path::{Path, PathBuf};
use std::time::Duration;

use swarm_agents::prompts::Prompts;
use swarm_engine::planning::{Asking, Conversation, NoPlan, Planner, Wish};
use swarm_process::complain;
use swarm_protocol::command::{Command, SaveKind};
use swarm_protocol::config::PlanApproval;
use swarm_protocol::plan::PlanFile;
use swarm_protocol::planfile;
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::watch;

use super::Swarm;
use crate::error::CliError;
use crate::output;

const CANNOT: &str = "Cannot make a plan";

/// Times that the agent is asked: a plan that is refused is worth a second time, with the reason.
const ASKED_MAX: u32 = 2;

/// What the planner proposes.
pub struct Draft {
    pub plan: PlanFile,
    pub talk: Conversation,
    /// Where it lies, as people see it.
    pub file: String,
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
            return Err(CliError::usage("The goal is empty").say("Say what is to be reached"));
        }
        if self.plan_file(None).is_ok() {
            let what = "There is a plan already";
            return Err(CliError::refused_now(what)
                .say("Change it with `swarm plan refine WISH`, or close it first with `swarm close`"));
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
            return Err(CliError::usage("The wish is empty").say("Say what is to be changed in the plan"));
        }
        let plan = match std::fs::read(self.draft_file()) {
            Ok(bytes) => planfile::parse("the draft", &bytes)?,
            Err(_) => self.plan_file(None)?,
        };
        let config = self.configuration()?.config;
        let profile = self.planner(agent)?;
        let same = |talk: &Conversation| talk.goal == plan.goal && talk.profile == profile;
        let planner =
            Planner { git: &self.git, paths: &self.paths, config: &config, prompts: &self.templates()? };
        let talk = planner.last().filter(same);
        let talk = talk.unwrap_or_else(|| Conversation::about(&plan.goal, &profile));
        self.proposed(talk, Wish::Change { plan: &plan, wish: wish.trim() })
    }

    /// The draft becomes the plan, and is approved.
    pub fn take_draft(&self, draft: &Draft) -> Result<String, CliError> {
        self.ask(save(&draft.plan))?;
        self.ask(Command::ApprovePlan)?;
        self.is_no_draft_any_more(&self.draft_file());
        let tasks: usize = draft.plan.phases.iter().map(|phase| phase.tasks.len()).sum();
        let many = if tasks == 1 { "1 task".to_owned() } else { format!("{tasks} tasks") };
        Ok(format!("Plan saved and approved: {many}"))
    }

    /// The draft has become the plan: left there, it would be what is refined next.
    pub fn is_no_draft_any_more(&self, file: &Path) {
        let same = |one: &Path, other: &Path| {
            std::fs::canonicalize(one)
                .is_ok_and(|one| std::fs::canonicalize(other).is_ok_and(|other| one == other))
        };
        let draft = self.draft_file();
        if same(file, &draft) {
            complain("remove the draft", std::fs::remove_file(draft));
        }
    }

    fn templates(&self) -> Result<Prompts, CliError> {
        Prompts::load(&self.paths.swarm.join("prompts"))
            .map_err(|error| CliError::environment(error.to_string()).say("Fix the template, or remove it"))
    }

    fn proposed(&self, talk: Conversation, wish: Wish<'_>) -> Result<Draft, CliError> {
        let (config, prompts) = (self.configuration()?.config, self.templates()?);
        let planner = Planner { git: &self.git, paths: &self.paths, config: &config, prompts: &prompts };
        let log = self.relative(&self.paths.agents.join("planner/logs/r0.jsonl"));
        output::note(&format!("{} is planning; Ctrl+C interrupts it (log: {log})", talk.profile));
        let failed = |error| no_plan(error, &log);
        let mut asking = self.runtime.block_on(planner.begin(talk, wish)).map_err(failed)?;
        let grace = Duration::from_secs(config.stop.grace.secs);
        let mut refused: Option<String> = None;
        for _ in 0..ASKED_MAX {
            if let Some(why) = &refused {
                output::note(&format!("The plan cannot be used ({why}); asking once more"));
            }
            let answer = self.runtime.block_on(interruptible(&mut asking, refused.as_deref(), grace));
            match answer.map_err(failed)?.and_then(|plan| self.judged(plan)) {
                Ok(plan) => {
                    let file = self.draft_file();
                    self.write_whole(&file, planfile::to_json(&plan).as_bytes())?;
                    return Ok(Draft { plan, talk: asking.talk, file: self.relative(&file) });
                }
                Err(why) => refused = Some(why),
            }
        }
        let why = format!("the agent's plan cannot be used: {}", refused.unwrap_or_default());
        let hint = format!("See {log} for what it said; ask again, or write the plan yourself");
        Err(CliError::refused_now(CANNOT).because(why).say(hint))
    }

    /// Whether it would be saved as it is.
    fn judged(&self, plan: PlanFile) -> Result<PlanFile, String> {
        match self.preview(&save(&plan)) {
            Ok(_) => Ok(plan),
            Err(error) => Err(error.message),
        }
    }
}

async fn interruptible(
    asking: &mut Asking<'_>,
    refused: Option<&str>,
    grace: Duration,
) -> Result<Result<PlanFile, String>, NoPlan> {
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

fn save(plan: &PlanFile) -> Command {
    Command::SavePlan {
        plan: plan.clone(),
        kind: SaveKind::Save,
        source: "planner".into(),
        reset_statuses: false,
    }
}

fn no_plan(error: NoPlan, log: &str) -> CliError {
    let because = error.to_string();
    match error {
        NoPlan::NoProfile(_) => CliError::usage(CANNOT).because(because).run_instead("swarm config show"),
        NoPlan::Busy => CliError::owned(CANNOT).because(because).say("Wait for it, or interrupt it"),
        NoPlan::Failed(failure) | NoPlan::NotReady(failure) => {
            let hint = failure.hint.unwrap_or_else(|| format!("See {log}"));
            CliError::environment(CANNOT).because(because).say(hint)
        }
        NoPlan::Interrupted => CliError::refused_now(CANNOT).because(because).say("Nothing was changed"),
        NoPlan::Git(_) | NoPlan::Io(_) => CliError::environment(CANNOT).because(because),
    }
}
