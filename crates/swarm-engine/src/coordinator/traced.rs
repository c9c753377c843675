//! What the log says of the loop: each effect with what it is about, and each record once it is durable.

use std::fmt::{self, Write};

use swarm_core::effect::Effect;
use swarm_core::input::Report;
use swarm_protocol::event::Event;
use swarm_protocol::ids::CommandId;
use tracing::{Span, info, info_span, warn};

use super::Told;
use super::orders::run_of;

/// Around everything that is done for this effect: git calls in it carry its task and its run.
/// `parent`: the span of the trace that it is part of.
pub(super) fn effect_span(effect: &Effect, parent: Option<&str>) -> Span {
    let run = match effect {
        Effect::Rewind { run, .. } => Some(run),
        other => run_of(other),
    };
    info_span!(
        "effect",
        verb = effect.verb(),
        task = effect.task().map(display),
        run = run.map(display),
        operation = operation_of(effect).map(display),
        trace = parent.and_then(|parent| parent.split('-').nth(1)),
    )
}

/// What an effect came to: the name of its report, which says all that matters without its texts.
pub(super) fn reported(report: &Report) {
    match report {
        Report::EffectFailed { why, .. } | Report::Broke { why, .. } | Report::NotRevived { why, .. } => {
            warn!(%why, "failed");
        }
        report => info!(report = name_of(report), "ended"),
    }
}

/// These records are on disk.
pub(super) fn durable(told: Told<'_>) {
    for (seq, _, event) in told {
        info!(
            seq,
            event = event.kind(),
            task = event.task().map(display),
            run = event.run().map(display),
            operation = operation_of_event(event).map(display),
            "recorded"
        );
    }
}

/// The variant's name: the first word of its debug text, of which no more is written.
fn name_of(report: &Report) -> String {
    struct FirstWord(String);
    impl Write for FirstWord {
        fn write_str(&mut self, text: &str) -> fmt::Result {
            let word = text.split(|c: char| !c.is_alphanumeric()).next().unwrap_or_default();
            self.0.push_str(word);
            if word.len() == text.len() { Ok(()) } else { Err(fmt::Error) }
        }
    }
    let mut word = FirstWord(String::new());
    // It ends with an error as soon as the word does.
    let _ = write!(word, "{report:?}");
    word.0
}

fn operation_of(effect: &Effect) -> Option<&CommandId> {
    match effect {
        Effect::Survey { op, .. } | Effect::Move { op, .. } | Effect::Resolve { op, .. } => Some(op),
        Effect::Save { op, .. } => op.as_ref(),
        _ => None,
    }
}

fn operation_of_event(event: &Event) -> Option<&CommandId> {
    match event {
        Event::Operation { id, .. }
        | Event::OperationAsked { id, .. }
        | Event::OperationQuiet { id, .. }
        | Event::OperationPlanned { id, .. }
        | Event::OperationFinished { id, .. }
        | Event::ResolverStarted { id, .. }
        | Event::ResolverEnded { id, .. }
        | Event::OperationStuck { id, .. }
        | Event::OperationFailed { id, .. }
        | Event::OperationSeen { id, .. } => Some(id),
        Event::CheckpointMade { op, .. } => op.as_ref(),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_report_is_named_without_what_it_says() {
        let report = Report::Disk { low: true, why: "secret words".into() };
        assert_eq!(name_of(&report), "Disk");
    }
}
