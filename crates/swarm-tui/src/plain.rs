//! Sentences instead of a screen: appended, never redrawn, so that screen readers and scrollback work.

use std::io::{self, Write};

use swarm_protocol::api::ApiError;
use swarm_protocol::board::BoardView;
use tokio::io::{AsyncBufReadExt, BufReader};
use tokio::sync::mpsc;

use crate::input::{EventLine, Input, Link};
use crate::said::{clock, count, spent};
use crate::source::Source;
use crate::update::filled;

const QUEUE: usize = 256;

/// Tells what is and what happens until the input ends. An empty line asks for the state, a number chooses a way on.
pub async fn tell(source: Source) -> io::Result<()> {
    let (told, mut news) = mpsc::channel(QUEUE);
    let mut board = say_state(&source).await?;
    tokio::spawn(crate::session::follow(source.clone(), told));
    let mut lines = BufReader::new(tokio::io::stdin()).lines();
    // Records up to this one were told, or happened before anybody looked.
    let mut last = None;
    loop {
        tokio::select! {
            line = lines.next_line() => match line? {
                None => return Ok(()),
                Some(line) if matches!(line.trim(), "q" | "quit") => return Ok(()),
                Some(line) => {
                    let (number, words) = line.trim().split_once(' ').unwrap_or((line.trim(), ""));
                    match number.parse::<usize>() {
                        Ok(number) => choose(&source, board.as_ref(), number, words).await?,
                        Err(_) => board = say_state(&source).await?,
                    }
                }
            },
            Some(input) = news.recv() => match input {
                // Another plan: its records are numbered from one again, and what it has is history.
                Input::Anew => last = None,
                Input::Events(events) => {
                    let fresh = fresh(&mut last, events);
                    for event in fresh {
                        if let Some(text) = &event.text {
                            let task = event.task.map(|task| format!("task {task}: ")).unwrap_or_default();
                            say(&format!("{} {task}{text}", clock(event.at)))?;
                        }
                    }
                }
                Input::Link(Link::Offline) => say("No coordinator is running. Start one with: swarm run")?,
                _ => {}
            },
        }
    }
}

/// Those that were not told yet; none of the first ones, which happened before anybody looked.
fn fresh(last: &mut Option<u64>, events: Vec<EventLine>) -> Vec<EventLine> {
    let newest = events.iter().map(|event| event.seq).max();
    let fresh = match *last {
        None => vec![],
        Some(last) => events.into_iter().filter(|event| event.seq > last).collect(),
    };
    *last = Some(last.unwrap_or_default().max(newest.unwrap_or_default()));
    fresh
}

fn say(text: &str) -> io::Result<()> {
    let mut out = io::stdout().lock();
    let harmless: String = text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    writeln!(out, "{harmless}")?;
    out.flush()
}

async fn say_state(source: &Source) -> io::Result<Option<BoardView>> {
    match source.board(None).await {
        Err(ApiError { message, hint, .. }) => {
            say(&format!("{message}. {hint}"))?;
            Ok(None)
        }
        Ok(board) => {
            sentences(&board).iter().try_for_each(|line| say(line))?;
            Ok(Some(board))
        }
    }
}

/// The state in sentences; what waits for the person last, with a number for each way on.
pub fn sentences(board: &BoardView) -> Vec<String> {
    let (status, counts) = (&board.status, &board.status.counts);
    let mut lines = vec![format!(
        "Goal: {}. Mode {}. {} of {} done, {} ready, {} at work, {} spent.",
        status.goal,
        status.mode.word(),
        counts.done,
        count(counts.total, "task"),
        counts.ready,
        count(board.agents.len() as u64, "agent"),
        spent(&status.usage)
    )];
    for pause in &board.pauses {
        lines.push(format!("Paused by {}. To go on: {}.", pause.reason.word(), pause.ended_by));
    }
    for agent in &board.agents {
        let view = &agent.agent;
        lines.push(format!("{} is {} on task {}, {}.", view.agent, view.doing, view.task, view.title));
    }
    if board.attention.is_empty() {
        lines.push("Nothing waits for you.".into());
    }
    let mut number = 0;
    for entry in &board.attention {
        let why = entry.entry.why.lines().next().unwrap_or_default();
        lines.push(format!("Waits for you: {}. {why}.", entry.entry.what));
        for choice in &entry.choices {
            number += 1;
            lines.push(match &choice.asks_for {
                None => format!("  Type {number} for: {}.", choice.label),
                Some(what) => format!("  Type {number} and your words for: {}. {what}.", choice.label),
            });
        }
    }
    lines.push("An empty line repeats this, q leaves.".into());
    lines
}

async fn choose(source: &Source, board: Option<&BoardView>, number: usize, words: &str) -> io::Result<()> {
    let mut choices = board.into_iter().flat_map(|board| &board.attention).flat_map(|entry| &entry.choices);
    let Some(choice) = number.checked_sub(1).and_then(|at| choices.nth(at)) else {
        return say(&format!("There is no choice {number}"));
    };
    if let (Some(what), true) = (&choice.asks_for, words.trim().is_empty()) {
        return say(&format!("{what} is needed. Type {number} and your words"));
    }
    let command = match choice.asks_for {
        Some(_) => filled(choice.command.clone(), words.trim()),
        None => choice.command.clone(),
    };
    match source.send(command).await {
        Ok(answer) => say(&answer.text),
        Err(error) => say(&format!("Refused: {}. {}", error.message, error.hint)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use swarm_protocol::time::Timestamp;

    #[test]
    fn what_was_told_is_not_told_again_when_the_coordinator_is_back() {
        let lines = |seqs: &[u64]| {
            let line = |seq: &u64| EventLine {
                seq: *seq,
                at: Timestamp(0),
                task: None,
                by: String::new(),
                text: None,
                kind: String::new(),
            };
            seqs.iter().map(line).collect::<Vec<_>>()
        };
        let mut last = None;
        let mut told =
            |seqs: &[u64]| fresh(&mut last, lines(seqs)).iter().map(|event| event.seq).collect::<Vec<_>>();
        assert!(told(&[1, 2, 3]).is_empty(), "history");
        assert_eq!(told(&[4]), [4]);
        assert_eq!(told(&[1, 2, 3, 4, 5]), [5], "the coordinator is back and tells from the beginning");
    }
}
