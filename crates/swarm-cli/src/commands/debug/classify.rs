//! `swarm debug classify`: what a recorded run of an agent program was, by the code that judges live ones.

use std::path::{Path, PathBuf};

use serde::Serialize;
use swarm_agents::journal::Stream;
use swarm_agents::signals::AgentSignal;
use swarm_agents::{AgentProgram, Conclusion, Ending, ExitFacts, Moment, Reading, reading_of};
use swarm_protocol::failure::{Consequence, Failure, Usage};

use crate::context::Context;
use crate::error::CliError;
use crate::output::{harmless, money};

/// A recording is read whole. Larger ones are no recordings of one run.
const FILE_MAX: u64 = 256 << 20;

/// Classify a recorded run of an agent program
///
/// Runs the classifier for live agents on recorded output. The class is `done`, `interrupted`, or one of the failures: throttled,
/// overloaded, network, quota, billing, key, configuration, overflow, output_cut, refused, own_limit, limits, shortage, stalled, crashed, unknown.
///
/// Example: swarm debug classify --agent claude --exit 1 --stdout out.jsonl --stderr err.txt
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Program: claude, codex, gemini, opencode, acp, exec or script
    #[arg(long, value_name = "PROGRAM")]
    pub agent: String,
    /// Exit code
    #[arg(long, value_name = "CODE", required_unless_present = "signal", conflicts_with = "signal")]
    pub exit: Option<i32>,
    /// Signal that killed it, instead of an exit code
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(i32).range(1..=64))]
    pub signal: Option<i32>,
    /// File with its standard output
    #[arg(long, value_name = "FILE")]
    pub stdout: PathBuf,
    /// File with its standard error (default: empty)
    #[arg(long, value_name = "FILE")]
    pub stderr: Option<PathBuf>,
    /// The swarm ended it
    #[arg(long)]
    pub stopped: bool,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Judgement {
    agent: &'static str,
    class: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    consequence: Option<Consequence>,
    #[serde(skip_serializing_if = "String::is_empty")]
    text: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    hint: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    resets_in_secs: Option<u64>,
    /// What the program's own rules did not let the agent do.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    denied: Vec<String>,
    /// The final word that the agent said to the swarm.
    #[serde(skip_serializing_if = "Option::is_none")]
    signal: Option<String>,
    usage: Usage,
    #[serde(skip_serializing_if = "Option::is_none")]
    session: Option<String>,
}

pub fn run(args: &Args, cx: &Context) -> Result<(), CliError> {
    let program = AgentProgram::named(&args.agent).map_err(|e| CliError::usage(e.to_string()))?;
    let out = read(&args.stdout)?;
    let err = args.stderr.as_deref().map(read).transpose()?.unwrap_or_default();
    let mut reading = reading_of(program, out.lines().next().unwrap_or_default());
    for (stream, text) in [(Stream::Out, &out), (Stream::Err, &err)] {
        text.lines().for_each(|line| reading.line(stream, line, false));
    }
    let ending = if args.stopped { Ending::Stopped } else { Ending::ByItself };
    let exit = ExitFacts { code: args.exit, signal: args.signal, ending, now: Moment::now() };
    let conclusion = reading.conclude(&exit);
    cx.out.view(&judgement(program, conclusion, &reading), text)
}

fn read(path: &Path) -> Result<String, CliError> {
    let cannot = || CliError::environment(format!("Cannot read {}", path.display()));
    let length = std::fs::metadata(path).map_err(|e| cannot().because(e))?.len();
    if length > FILE_MAX {
        let limit = FILE_MAX >> 20;
        return Err(cannot().because(format!("it has {} MiB; at most {limit} are read", length >> 20)));
    }
    let bytes = std::fs::read(path).map_err(|e| cannot().because(e))?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

fn judgement(program: AgentProgram, conclusion: Conclusion, reading: &Reading) -> Judgement {
    let heard = &reading.heard;
    let mut judgement = Judgement {
        agent: program.name(),
        class: "interrupted",
        consequence: None,
        text: String::new(),
        hint: None,
        resets_in_secs: None,
        denied: Vec::new(),
        signal: heard.signal.as_ref().map(signal),
        usage: heard.usage,
        session: heard.session.clone(),
    };
    match conclusion {
        Conclusion::Done { denied } => {
            judgement.class = "done";
            judgement.denied = denied;
        }
        Conclusion::Failed(Failure { class, text, resets_in_secs, hint }) => {
            judgement.class = class.word();
            judgement.consequence = Some(class.consequence());
            (judgement.text, judgement.hint, judgement.resets_in_secs) = (text, hint, resets_in_secs);
        }
        Conclusion::Interrupted => {}
    }
    judgement
}

fn signal(signal: &AgentSignal) -> String {
    match signal {
        AgentSignal::Complete => "COMPLETE".into(),
        AgentSignal::Blocked(text) => format!("BLOCKED: {text}"),
        AgentSignal::Failed(text) => format!("FAILED: {text}"),
        AgentSignal::NeedsHelp(text) => format!("NEEDS_HELP: {text}"),
        AgentSignal::Progress(percent) => format!("PROGRESS: {percent}"),
        AgentSignal::Learning(text) => format!("LEARNING: {text}"),
        AgentSignal::LearningGlobal(text) => format!("LEARNING_GLOBAL: {text}"),
    }
}

fn text(judgement: &Judgement) -> String {
    let usage = &judgement.usage;
    let consequence = judgement.consequence.map(|consequence| match consequence {
        Consequence::Transient => "retried later, no attempt used",
        Consequence::Quota => "waits for the reset, no attempt used",
        Consequence::Setup => "blocked at once, you are asked",
        Consequence::OnceMore => "retried once, then you are asked",
        Consequence::Overflow => "a fresh session with a handover",
        Consequence::Timeout => "handled like a timeout",
        Consequence::Loop => "the agent is told, then handled like a timeout",
        Consequence::Silence => "the agent is told, then handled like a crash",
        Consequence::Denied => "handed to a profile with broader rights, else you are asked",
        Consequence::Crash => "handled like a crash",
    });
    let steps = match usage.steps {
        1 => "1 step".to_owned(),
        n => format!("{n} steps"),
    };
    let tokens = format!(
        "{} in ({} cached), {} out, {}, {}",
        usage.input_tokens,
        usage.cached_tokens,
        usage.output_tokens,
        steps,
        money::spent(usage)
    );
    let rows = [
        ("class", Some(judgement.class.to_owned())),
        ("consequence", consequence.map(str::to_owned)),
        ("text", Some(judgement.text.clone()).filter(|text| !text.is_empty())),
        ("hint", judgement.hint.clone()),
        ("resets in", judgement.resets_in_secs.map(|secs| format!("{secs} s"))),
        ("denied", Some(judgement.denied.join("; ")).filter(|text| !text.is_empty())),
        ("signal", judgement.signal.clone()),
        ("usage", (!usage.is_none()).then_some(tokens)),
        ("session", judgement.session.clone()),
    ];
    let lines = rows
        .into_iter()
        .filter_map(|(name, value)| value.map(|value| format!("{name:<12} {}", harmless(&value))));
    lines.collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_run_has_cost_is_told_in_dollars() {
        let judgement = Judgement {
            agent: "claude",
            class: "done",
            consequence: None,
            text: String::new(),
            hint: None,
            resets_in_secs: None,
            denied: vec![],
            signal: None,
            usage: Usage { input_tokens: 9, cost_micros: 1_250_000, steps: 1, ..Usage::default() },
            session: None,
        };
        assert!(text(&judgement).contains("9 in (0 cached), 0 out, 1 step, $1.25"), "{}", text(&judgement));
    }
}
