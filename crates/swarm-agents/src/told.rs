//! What a program that speaks plain text can tell about itself, each on a line of its own: the events that other
//! programs have in their protocol.
//!
//! `<swarm>TOOL: NAME INPUT</swarm>`, `<swarm>TOOL_END: ok|failed</swarm>`, `<swarm>DENIED: WHAT</swarm>`,
//! `<swarm>USAGE: input=N output=N cached=N cost=DOLLARS</swarm>`, `<swarm>SESSION: ID</swarm>`,
//! `<swarm>FAILURE: CLASS [resets=SECONDS] TEXT</swarm>`.

use swarm_protocol::failure::{Failure, FailureClass, Usage};

use super::failing::failed;
use super::json::micros;

#[derive(Debug, Clone, PartialEq)]
pub enum Told {
    Tool { name: String, input: String },
    ToolEnded { ok: bool },
    Denied(String),
    Usage(Usage),
    Session(String),
    Failure(Failure),
}

/// Reads one line of what the program printed; none for anything else.
pub fn told_in(line: &str) -> Option<Told> {
    let body = line.trim().strip_prefix("<swarm>")?.strip_suffix("</swarm>")?;
    let (word, text) = body.split_once(':')?;
    let text = text.trim();
    Some(match word.trim() {
        "TOOL" => {
            let (name, input) = text.split_once(char::is_whitespace).unwrap_or((text, ""));
            Told::Tool { name: name.to_owned(), input: input.trim().to_owned() }
        }
        "TOOL_END" => Told::ToolEnded { ok: text == "ok" },
        "DENIED" if !text.is_empty() => Told::Denied(text.to_owned()),
        "SESSION" if !text.is_empty() => Told::Session(text.to_owned()),
        "USAGE" => Told::Usage(usage(text)),
        "FAILURE" => Told::Failure(failure(text)?),
        _ => return None,
    })
}

fn usage(text: &str) -> Usage {
    let mut usage = Usage { steps: 1, ..Usage::default() };
    for (name, value) in text.split_whitespace().filter_map(|pair| pair.split_once('=')) {
        let count = value.parse().unwrap_or_default();
        match name {
            "input" => usage.input_tokens = count,
            "output" => usage.output_tokens = count,
            "cached" => usage.cached_tokens = count,
            "cost" => usage.cost_micros = micros(value.parse().unwrap_or_default()),
            "steps" => usage.steps = count,
            _ => {}
        }
    }
    usage
}

fn failure(text: &str) -> Option<Failure> {
    let (word, rest) = text.split_once(char::is_whitespace).unwrap_or((text, ""));
    let class = FailureClass::ALL.into_iter().find(|class| class.word() == word)?;
    let rest = rest.trim();
    let (resets, said) = match rest.strip_prefix("resets=") {
        Some(rest) => {
            let (secs, said) = rest.split_once(char::is_whitespace).unwrap_or((rest, ""));
            (secs.parse().ok(), said)
        }
        None => (None, rest),
    };
    Some(Failure { resets_in_secs: resets, ..failed(class, said) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_plain_program_can_tell_what_others_have_events_for() {
        let tool = Told::Tool { name: "sh".into(), input: "make -j 2".into() };
        assert_eq!(told_in("<swarm>TOOL: sh make -j 2</swarm>"), Some(tool));
        assert_eq!(told_in("<swarm>TOOL_END: failed</swarm>"), Some(Told::ToolEnded { ok: false }));
        let Some(Told::Usage(usage)) = told_in("<swarm>USAGE: input=7 output=3 cost=0.25</swarm>") else {
            panic!("no usage")
        };
        assert_eq!((usage.input_tokens, usage.output_tokens, usage.cost_micros), (7, 3, 250_000));
        let Some(Told::Failure(failure)) = told_in("<swarm>FAILURE: quota resets=90 all gone</swarm>") else {
            panic!("no failure")
        };
        assert_eq!(
            (failure.class, failure.resets_in_secs, failure.text.as_str()),
            (FailureClass::Quota, Some(90), "all gone")
        );
        for line in [
            "<swarm>FAILURE: tired</swarm>",
            "TOOL: sh",
            "<swarm>COMPLETE</swarm>",
            "say <swarm>TOOL: x</swarm>",
        ] {
            assert_eq!(told_in(line), None, "{line}");
        }
    }
}
