//! The intervention panel, the pause and quit dialogs, and the palette.

use ratatui::text::Line;
use swarm_protocol::board::BoardAgent;
use swarm_protocol::outcome::Mode;

use super::dialog::{Parts, plain, typed};
use super::text::{cut, pad, span};
use crate::dialog::{Dialog, Kind};
use crate::keys::{Action, Binding, Part};
use crate::model::Model;
use crate::palette::{self, Entry};
use crate::said::{age, count};
use crate::theme::Role;

fn percent(agent: &BoardAgent) -> String {
    let percent = agent.news.as_ref().and_then(|news| news.percent);
    percent.map(|n| format!(" ({n}%)")).unwrap_or_default()
}

/// Who is held and who is still running.
pub fn pause(model: &Model) -> Parts {
    let theme = model.theme;
    let (running, all) = (model.running(), model.agents().len());
    let paused = model.is_paused();
    let head = match (paused, running) {
        (false, _) => "The pause is on its way".to_owned(),
        (true, 0) => "Every agent is held at its boundary".into(),
        (true, n) => format!("Waiting for {} of {all} to reach a safe boundary", count(n as u64, "agent")),
    };
    let mut body = vec![plain(theme, &head), Line::default()];
    for agent in model.agents() {
        let state = match agent.agent.held {
            true => format!("held {}", theme.either("✓", "v")),
            false => format!("still running, iteration {}", agent.agent.iteration),
        };
        let text = format!("{} on {}: {state}", agent.agent.agent, agent.agent.task);
        body.push(plain(theme, &text));
    }
    let foot = match (paused, running) {
        (true, 0) => "Space resume · Esc stay paused",
        _ => "Space stop those still running; work is kept · Esc wait in background",
    };
    Parts { title: "Pause".into(), head: vec![], body, foot: foot.into() }
}

pub fn quit(model: &Model) -> Parts {
    let theme = model.theme;
    let agents = model.agents();
    let are = if agents.len() == 1 { "is" } else { "are" };
    let mut body = vec![plain(theme, &format!("{} {are} at work:", count(agents.len() as u64, "agent")))];
    for agent in agents {
        let text = format!("  {} on {}{}", agent.agent.agent, agent.agent.task, percent(agent));
        body.push(plain(theme, &text));
    }
    body.push(Line::default());
    for (key, text) in [
        ("q", "quit: agents are stopped, their work is kept for `swarm run`"),
        ("s", "make a checkpoint, then quit"),
        ("d", "leave them running: only this screen goes"),
    ] {
        body.push(Line::from(vec![
            span(theme, Role::Key, &format!("  {key}  ")),
            span(theme, Role::Plain, text),
        ]));
    }
    Parts { title: "Quit?".into(), head: vec![], body, foot: "q · s · d · Esc cancel".into() }
}

/// What the panel offers, in the order of the three parts.
const PANEL: &[(Part, &[Action])] = &[
    (Part::Agent, &[Action::Stop, Action::Redirect, Action::Kill, Action::Message, Action::Log]),
    (
        Part::Task,
        &[
            Action::Block,
            Action::Unblock,
            Action::Edit,
            Action::RollbackTask,
            Action::Debug,
            Action::Diff,
            Action::Review,
        ],
    ),
    (Part::Swarm, &[Action::Pause, Action::Mode, Action::Checkpoint, Action::Checkpoints, Action::Quit]),
];

pub fn panel(model: &Model, width: usize) -> Parts {
    let theme = model.theme;
    let mut body = Vec::new();
    if let Some(board) = &model.board {
        let mode = match board.status.mode {
            Mode::Autopilot => "autopilot",
            Mode::SemiAuto => "semi-auto",
        };
        let counts = &board.status.counts;
        let text = format!(
            "Now: {mode} · {} running · {} in progress",
            count(board.agents.len() as u64, "agent"),
            count(counts.active + counts.review + counts.merging, "task")
        );
        body.push(plain(theme, &text));
    }
    for (part, actions) in PANEL {
        let what = match part {
            Part::Agent => model.agent().map_or_else(
                || "Agent: nobody works on the selected task".to_owned(),
                |agent| {
                    let view = &agent.agent;
                    let title = format!("{} on {}: {}", view.agent, view.task, view.title);
                    let at = format!("iteration {}/{}", view.iteration, agent.iterations_max);
                    format!("{title} · {at} · {}{}", age(model.clock(), view.since), percent(agent))
                },
            ),
            Part::Task => match &model.looking_at {
                Some(task) => format!("Task {task}"),
                None => "Task: none is selected".into(),
            },
            _ => "Whole swarm".into(),
        };
        body.push(Line::from(span(theme, Role::Bold, &cut(&what, width))));
        body.extend(
            actions.iter().filter_map(|action| model.keys.of(*action)).map(|b| offered(model, b, width)),
        );
    }
    Parts {
        title: "Intervention".into(),
        head: vec![],
        body,
        foot: "a key does it · j k other agent · Esc close".into(),
    }
}

/// A dim line says why it is not possible now.
fn offered(model: &Model, binding: &Binding, width: usize) -> Line<'static> {
    let theme = model.theme;
    let refused = binding.verb.and_then(|verb| model.refusal(verb));
    let (role, text) = match refused {
        None => (Role::Plain, binding.help.to_owned()),
        Some(error) => (Role::Dim, format!("{} (not now: {})", binding.word, error.message)),
    };
    Line::from(vec![
        span(
            theme,
            if refused.is_none() { Role::Key } else { Role::Dim },
            &format!("  {} ", pad(binding.shown, 6)),
        ),
        span(theme, role, &cut(&text, width.saturating_sub(9))),
    ])
}

pub fn palette(model: &Model, width: usize) -> Parts {
    let theme = model.theme;
    let Some(Dialog { kind: Kind::Palette { text, selected }, .. }) = &model.dialog else {
        return Parts { title: String::new(), head: vec![], body: vec![], foot: String::new() };
    };
    let mut line = Line::from(span(theme, Role::Dim, ": "));
    typed(theme, text, width.saturating_sub(3), true).into_iter().for_each(|part| line.push_span(part));
    let head = vec![line];
    let line = |(n, entry): (usize, Entry)| {
        let text = match entry {
            Entry::Action(action) => model.keys.of(action).map_or_else(String::new, |binding| {
                format!("{} {}  {}", pad(binding.shown, 8), pad(binding.word, 16), binding.help)
            }),
            Entry::Typed(line) => {
                let command = crate::typed::named(&model.commands, &line);
                let about = command.map_or("", |command| command.about.as_str());
                let takes = command.map_or("", |command| command.takes.as_str());
                format!("{} {}  {about}", pad("swarm", 8), pad(&format!("{line} {takes}"), 28))
            }
            Entry::Task(id) => {
                let title = model.row(&id).map(|row| row.row.title.clone()).unwrap_or_default();
                format!("{} {} {title}", pad("task", 8), pad(id.as_str(), 16))
            }
        };
        let role = if n == *selected { Role::Selected } else { Role::Plain };
        Line::from(span(theme, role, &pad(&text, width)))
    };
    let body = palette::found(model).into_iter().enumerate().map(line).collect();
    Parts { title: "Commands and tasks".into(), head, body, foot: "type · ↑ ↓ · Enter · Esc".into() }
}
