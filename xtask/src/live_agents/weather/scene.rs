//! One program in one kind of weather, judged by what the ledger says.

use std::fs;
use std::process::Child;
use std::time::{Duration, Instant};

use anyhow::{Result, bail};
use serde_json::Value;

use super::super::stage::{Props, Stage, tail, wait};
use super::kinds::{Kind, UNSEEN, Until};
use super::sky;

/// Two, so that it is seen what the second one makes of the first one's failure.
const PLAN: &str =
    "# Greet\n\n## Phase 1: words\n- [ ] 1.1 Write a greeting, and commit it\n- [ ] 1.2 Write another one\n";
const TASKS: [&str; 2] = ["1.1", "1.2"];

/// Some programs try for minutes before they give up.
const MET_WITHIN: Duration = Duration::from_secs(300);
const DONE_WITHIN: Duration = Duration::from_secs(300);

pub fn play(props: &Props<'_>, profile: &str, kind: &Kind) -> Result<String> {
    let scene = format!("{profile}-{}", kind.name);
    let around = sky::around(kind, profile);
    let mut stage = Stage::set_up_in(props, &scene, &[], &sky::part(props, &scene), around)?;
    sky::begins(&mut stage, kind, profile)?;
    fs::write(stage.folder.join("plan.md"), PLAN)?;
    let words = sky::command(&stage, kind, props.swarm);
    let mut command = stage.command(&words[0]);
    let out = fs::File::create(stage.folder.join("all.log"))?;
    command
        .args(&words[1..])
        .args(["run", "--plan", "../plan.md", "--agents", kind.agents])
        .stdout(out.try_clone()?)
        .stderr(out);
    let mut run = command.spawn()?;
    let played = weather(&mut stage, kind, profile, &mut run);
    if played.is_err() {
        stage.end(&mut run);
    }
    let met_secs = played?;
    let records = records(&stage)?;
    let said = verdict(kind, &records)?;
    for task in TASKS {
        stage.on_trunk(&format!("hello-{task}.txt"), "hello\n")?;
    }
    let attention = stage.view(&["attention"])?;
    if attention.as_array().is_some_and(|entries| !entries.is_empty()) {
        bail!("somebody is still asked: {attention}");
    }
    stage.is_at_rest()?;
    Ok(format!("{}: {said}; met after {met_secs} s; both on trunk", kind.name))
}

/// Lets it pass; how long it took to be met.
fn weather(stage: &mut Stage<'_>, kind: &Kind, profile: &str, run: &mut Child) -> Result<u64> {
    let began = Instant::now();
    sky::strikes(stage, kind)?;
    let until = Instant::now() + MET_WITHIN;
    while !is_met(kind, &records(stage)?) {
        if let Some(status) = wait(run, Duration::from_millis(200))? {
            if is_met(kind, &records(stage)?) {
                break;
            }
            bail!("the run ended with {status} before the weather was met: {}", said(stage));
        }
        if Instant::now() > until {
            bail!("not met within {} s: {}", MET_WITHIN.as_secs(), said(stage));
        }
    }
    let met_secs = began.elapsed().as_secs();
    if kind.lasts == Until::Helped {
        helped(stage, kind, profile, run)?;
        return Ok(met_secs);
    }
    sky::ends(stage, kind, profile)?;
    match wait(run, DONE_WITHIN)? {
        Some(status) if status.success() => Ok(met_secs),
        Some(status) => bail!("the run ended with {status}: {}", said(stage)),
        None => bail!("not done {} s after the weather: {}", DONE_WITHIN.as_secs(), said(stage)),
    }
}

/// The run ends, the attention list says which command helps, and with that the rest is done.
fn helped(stage: &mut Stage<'_>, kind: &Kind, profile: &str, run: &mut Child) -> Result<()> {
    match wait(run, DONE_WITHIN)? {
        Some(status) if status.code() == Some(1) => {}
        other => bail!("with blocked tasks the run ended with {other:?}: {}", said(stage)),
    }
    sky::ends(stage, kind, profile)?;
    for entry in stage.view(&["attention"])?.as_array().into_iter().flatten() {
        let commands = entry["commands"].as_array().into_iter().flatten().filter_map(Value::as_str);
        let Some(unblock) = commands.into_iter().find(|command| command.contains("unblock")) else {
            bail!("no command that helps: {entry}");
        };
        stage.swarm(&unblock.split_whitespace().skip(1).collect::<Vec<_>>())?;
    }
    stage.swarm(&["run"])?;
    Ok(())
}

fn said(stage: &Stage<'_>) -> String {
    tail(&fs::read_to_string(stage.folder.join("all.log")).unwrap_or_default())
}

/// Read from the file: nothing is asked of a swarm that is busy.
fn records(stage: &Stage<'_>) -> Result<Vec<Value>> {
    let text = fs::read_to_string(stage.repo().join(".swarm/plan-ledger.jsonl")).unwrap_or_default();
    let whole = text.rfind('\n').map_or("", |end| &text[..end]);
    whole.lines().map(|line| Ok(serde_json::from_str(line)?)).collect()
}

fn of<'a>(records: &'a [Value], kind: &str) -> impl Iterator<Item = &'a Value> {
    records.iter().filter(move |record| record["type"] == kind)
}

/// The class of each failure, in order: of iterations, and of attempts that ended without one.
fn classes(records: &[Value]) -> Vec<String> {
    let told = records.iter().filter_map(|record| match record["type"].as_str()? {
        "iteration" if record["data"]["class"].is_null() => Some(UNSEEN),
        "iteration" => record["data"]["class"].as_str(),
        "agent_failed" => match record["data"]["how"]["kind"].as_str()? {
            "failed" => record["data"]["how"]["failure"]["class"].as_str(),
            "not_started" => Some("configuration"),
            other => Some(other),
        },
        _ => None,
    });
    told.map(str::to_owned).collect()
}

fn is_met(kind: &Kind, records: &[Value]) -> bool {
    match kind.lasts {
        Until::Met => !classes(records).is_empty(),
        Until::Probed => of(records, "quota_probe_failed").next().is_some(),
        Until::Helped => of(records, "agent_failed").next().is_some(),
    }
}

/// Whether it was taken for what it is, and a person was asked exactly where one is needed.
fn verdict(kind: &Kind, records: &[Value]) -> Result<String> {
    let mut classes = classes(records);
    // The last iteration of each task is the one in which it was done.
    if !kind.classes.contains(&UNSEEN) {
        classes.retain(|class| class != UNSEEN);
    }
    classes.dedup();
    if classes.is_empty() || classes.iter().any(|class| !kind.classes.contains(&class.as_str())) {
        bail!("taken for {}, not for {}", classes.join(", "), kind.classes.join(" or "));
    }
    if let Some(out) = of(records, "agent_degraded").next() {
        bail!("out of service: {}", out["data"]["why"]);
    }
    let asked = of(records, "agent_failed").filter(|record| record["status"] == "blocked").count();
    if (asked > 0) != kind.asks {
        bail!("a person was asked {asked} times");
    }
    let counted =
        of(records, "agent_failed").filter(|record| record["data"]["next"]["counts"] == true).count();
    // A program that stops at its own number of steps has used up its try.
    let own_limit = classes.iter().any(|class| class == "own_limit");
    if counted > usize::from(own_limit) {
        bail!("{counted} retries were held against the tasks");
    }
    let resets = of(records, "quota_exhausted").any(|record| record["data"]["resetsAt"].is_string());
    let gate = of(records, "quota_exhausted")
        .next()
        .map_or("", |_| if resets { ", waits for its reset" } else { ", probes" });
    let person = if kind.asks { ", a person is asked" } else { "" };
    let failed = of(records, "agent_failed").count();
    Ok(format!("{}{gate}{person}, {failed} attempts ended", classes.join(", ")))
}
