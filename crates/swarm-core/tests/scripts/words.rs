//! Words of recovery in the scripts' language.
//!
//! `start profiles` has three: `main` (its group is `one`; `spare` stands in for it, `wide` has broader
//! rights), `spare` of the group `two`, `wide` of `one` · `start budget` allows 150 tokens to a task and 350 to
//! the swarm · `orphaned a` · `fails a quota silent` without a time · `probe fine` `probe quota` `probe lost` ·
//! `notes a` · `not back a WHY` what was given up with a is in somebody's way, `unrevived a` git failed · `disk low` `disk fine` · `unbuilt a` · `revive ed-001` · `quota open one` `quota hold one` · `split a b c:b` ·
//! `start alike` allows two failures of the checks that are alike · `start tried` tries them where the task began ·
//! `again a` its worktree is ready, with its work · `red otherwise a` · `start three` allows three claims without progress · `closing` `resume close` `resume checks` ·
//! `start read` a person reviews everything · `start tagged` by the tags docs and keys ·
//! `start sharing` all tasks share one tree, and of reserved files it is only told ·
//! `start denying` `start warning` what becomes of work in reserved files · `start named` the files of a task are reserved ·
//! `reserve src/**` `reserve shared src/**` `release 1` ·
//! `propose undo` a program proposes it · `let 1` `no 1` a person answers ·
//! `message a` · `heard a` an iteration whose prompt knew all there is · `extend` `extend a`.

use swarm_core::effect::Key;
use swarm_core::input::{KeyName, Report};
use swarm_core::stage::Stage;
use swarm_core::state::State;
use swarm_protocol::channel::{Answered, IterationOutcome, RunKind};
use swarm_protocol::command::Command;
use swarm_protocol::council::CouncilRules;
use swarm_protocol::failure::{Failure, FailureClass, Usage};
use swarm_protocol::ids::{AgentId, RunId, TaskId};
use swarm_protocol::outcome::{Ended, PauseReason};
use swarm_protocol::policy::{Allowance, Policy, ProfileRule};
use swarm_protocol::reservation::Overlap;
use swarm_protocol::review::Reviewer;

use crate::script::{id, oid, spec};

pub fn policy(word: &str) -> Policy {
    let rule = |name: &str, group: &str| ProfileRule {
        name: name.into(),
        quota_group: group.into(),
        ..ProfileRule::default()
    };
    let profiles = || {
        let main = ProfileRule {
            fallback: vec!["spare".into()],
            broader: Some("wide".into()),
            ..rule("main", "one")
        };
        vec![main, rule("spare", "two"), rule("wide", "one")]
    };
    let allowance = |tokens| Allowance { tokens, ..Allowance::default() };
    match word {
        "profiles" => Policy { profile: "main".into(), profiles: profiles(), ..Policy::default() },
        "strict" => Policy {
            profile: "main".into(),
            profiles: profiles(),
            quota_stops_all: true,
            ..Policy::default()
        },
        "read" => Policy { reviewer: Some(Reviewer::Human), review_rounds: 2, ..Policy::default() },
        "once" => Policy { reviewer: Some(Reviewer::Human), review_rounds: 1, ..Policy::default() },
        "judged" => Policy {
            reviewer: Some(Reviewer::Agent),
            review_profile: Some("judge".into()),
            review_rounds: 2,
            ..Policy::default()
        },
        "council" => Policy {
            reviewer: Some(Reviewer::Council),
            council: CouncilRules {
                members: ["x", "y", "z"].map(|name| (name.to_owned(), format!("judge-{name}"))).into(),
                quorum: 2,
                veto: false,
            },
            review_rounds: 2,
            ..Policy::default()
        },
        "tagged" => Policy {
            review_tags: [("docs".into(), Reviewer::None), ("keys".into(), Reviewer::Human)].into(),
            review_commands: true,
            ..Policy::default()
        },
        "resolved" => Policy { resolve_max: 1, reviewer: Some(Reviewer::Human), ..Policy::default() },
        "resolving" => Policy { resolve_max: 2, verifies: true, ..Policy::default() },
        "alone" => Policy { dispatch: false, resolve_max: 2, verifies: true, ..Policy::default() },
        "alike" => Policy { same_failures_max: 2, ..Policy::default() },
        "tried" => Policy { check_bases: true, ..Policy::default() },
        "denying" => Policy { overlap: Overlap::Deny, ..Policy::default() },
        "warning" => Policy { overlap: Overlap::Warn, ..Policy::default() },
        "sharing" => Policy { shared_tree: true, overlap: Overlap::Warn, ..Policy::default() },
        "named" => Policy { reserve_files: true, ..Policy::default() },
        "orphaning" => Policy { orphans_wait: true, ..Policy::default() },
        "three" => Policy { claims_max: 3, ..Policy::default() },
        "budget" => Policy { task_budget: allowance(150), budget: allowance(350), ..Policy::default() },
        other => panic!("there is no policy {other}"),
    }
}

fn probe(state: &State) -> RunId {
    let found = state.runs.iter().find(|(_, run)| run.kind == RunKind::Probe);
    found.map_or_else(|| RunId::nth(999), |(id, _)| id.clone())
}

fn run_of(state: &State, task: &TaskId) -> RunId {
    state.task(task).and_then(|t| t.stage.run().cloned()).unwrap_or_else(|| RunId::nth(999))
}

pub fn report(state: &State, words: &[&str]) -> Option<Report> {
    Some(match words {
        ["orphaned", name] => {
            let how = Ended::Orphaned { text: "no exit record".into() };
            Report::WorkEnded { run: run_of(state, &id(name)), how }
        }
        ["fails", name, "quota", "silent"] => {
            let outcome = IterationOutcome::Failed { failure: Failure::new(FailureClass::Quota, "output") };
            boundary(state, &id(name), outcome, 0)
        }
        ["fails", name, "quota", "far"] => {
            let failure =
                Failure { resets_in_secs: Some(2 * 86_400), ..Failure::new(FailureClass::Quota, "output") };
            boundary(state, &id(name), IterationOutcome::Failed { failure }, 0)
        }
        ["red", "otherwise", name] => {
            let Some(Stage::Checking { run, iteration, tip }) =
                state.task(&id(name)).map(|t| t.stage.clone())
            else {
                panic!("{name} is not being checked");
            };
            let (tree, output) = (oid('d'), "another output".into());
            Report::Checked { run, iteration, passed: false, tip, tree, output, gate: None }
        }
        ["again", name] => {
            let (run, branch) = (run_of(state, &id(name)), id(name).branch());
            Report::Prepared { run, branch, base: oid('a'), tip: oid('b') }
        }
        ["heard", name] => boundary(state, &id(name), IterationOutcome::NoSignal, state.seq),
        ["probe", "fine"] => Report::Probed { run: probe(state), failure: None },
        ["probe", "quota"] => {
            let mut failure = Failure::new(FailureClass::Quota, "not yet");
            failure.resets_in_secs = Some(60);
            Report::Probed { run: probe(state), failure: Some(failure) }
        }
        ["probe", class] if matches!(*class, "overloaded" | "key" | "configuration") => {
            let class = match *class {
                "overloaded" => FailureClass::Overloaded,
                "key" => FailureClass::Key,
                _ => FailureClass::Configuration,
            };
            Report::Probed { run: probe(state), failure: Some(Failure::new(class, "not yet")) }
        }
        ["probe", "lost"] => {
            let key = KeyName::from(&Key::Probe(probe(state)));
            Report::EffectFailed { key, task: id("a"), why: "its daemon vanished".into() }
        }
        ["probe", "stopped"] => Report::Stopped { run: probe(state), wip: None, session: None },
        ["unstopped", name, why @ ..] => {
            let over = state.runs.iter().find(|(_, run)| run.task == id(name) && run.ended);
            let run = over.map_or_else(|| RunId::nth(999), |(run, _)| run.clone());
            Report::EffectFailed { key: KeyName::from(&Key::Stop(run)), task: id(name), why: why.join(" ") }
        }
        ["unbuilt", name] => {
            let (key, task) = (KeyName::from(&Key::Build(id(name))), id(name));
            Report::EffectFailed { key, task, why: "git broke".into() }
        }
        ["not", "back", name, why @ ..] => {
            let hint = Some("git switch --detach".into());
            Report::NotRevived { task: id(name), why: why.join(" "), hint }
        }
        ["unrevived", name] => {
            let (key, task) = (KeyName::from(&Key::Revive(id(name))), id(name));
            Report::EffectFailed { key, task, why: "git broke".into() }
        }
        ["notes", name] => {
            Report::Noted { run: run_of(state, &id(name)), text: "the same call 5 times".into() }
        }
        ["needs", "shared", name, glob] => needs(state, name, glob, true),
        ["needs", name, glob] => needs(state, name, glob, false),
        ["disk", word] => Report::Disk { low: *word == "low", why: "900 MiB left".into() },
        _ => return None,
    })
}

fn needs(state: &State, name: &str, glob: &str, shared: bool) -> Report {
    Report::NeedsFiles { run: run_of(state, &id(name)), files: vec![glob.into()], shared }
}

fn boundary(state: &State, task: &TaskId, outcome: IterationOutcome, known: u64) -> Report {
    let iteration = match state.task(task).map(|t| &t.stage) {
        Some(Stage::Active { iteration, .. }) => *iteration,
        _ => 0,
    };
    let (run, tip, usage) = (run_of(state, task), Some(oid('b')), Usage::default());
    Report::Boundary { run, iteration, outcome, tip, note: None, usage, session: None, known }
}

pub fn command(words: &[&str]) -> Option<Command> {
    Some(match words {
        ["revive", agent] => Command::ReviveAgent { agent: AgentId::new(agent).expect("an agent id") },
        ["quota", "open", group] => Command::OpenQuota { group: (*group).into() },
        ["quota", "hold", group] => Command::HoldQuota { group: (*group).into() },
        ["split", task, parts @ ..] => Command::SplitTask {
            task: id(task),
            parts: parts.iter().map(|part| spec(part)).collect(),
            planning: None,
        },
        ["message", task] => Command::MessageAgent { task: id(task), text: "use the old parser".into() },
        ["closing"] => Command::Pause { reason: PauseReason::Close, why: "close".into(), force: true },
        ["resume", "close"] => Command::Resume { reason: PauseReason::Close },
        ["resume", "checks"] => Command::Resume { reason: PauseReason::Checks },
        ["reserve", "shared", glob] => reserve(glob, true),
        ["reserve", glob] => reserve(glob, false),
        ["propose", wish @ ..] => {
            let command = Box::new(crate::script::command(wish));
            Command::Propose { command, says: vec!["as shown".into()] }
        }
        ["let", number] => Command::AcceptProposal { number: number.parse().expect("a number") },
        ["no", number] => {
            let (number, reason) = (number.parse().expect("a number"), Some("not today".into()));
            Command::DeclineProposal { number, reason }
        }
        ["release", number] => Command::ReleaseReservation { number: number.parse().expect("a number") },
        ["extend"] => Command::ExtendBudget { task: None },
        ["extend", task] => Command::ExtendBudget { task: Some(id(task)) },
        _ => return None,
    })
}

fn reserve(glob: &str, shared: bool) -> Command {
    Command::Reserve { files: vec![glob.into()], shared, secs: None, reason: None }
}

/// What an agent that reviews comes back with.
pub fn answered(word: &str) -> Answered {
    let failure = |class| Some(Failure::new(class, "no"));
    let (text, failure) = match word {
        "says-good" => (r#"{"verdict":"approve"}"#, None),
        "says-but" => (r#"{"verdict":"concerns","issues":[{"text":"slow"}]}"#, None),
        "says-bad" => (r#"{"verdict":"needs_changes","issues":[{"text":"not yet"}]}"#, None),
        "says-quota" => ("", failure(FailureClass::Quota)),
        "says-key" => ("", failure(FailureClass::Key)),
        _ => ("I like it", None),
    };
    Answered { text: text.into(), failure, session: Some("talk-1".into()), ..Answered::default() }
}
