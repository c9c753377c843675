//! The fields of dialogs, and what stands around them.

use ratatui::text::{Line, Span};
use swarm_protocol::ids::TaskId;
use swarm_protocol::view::ReviewView;
use unicode_width::UnicodeWidthStr;

use super::{Parts, looked, plain};
use crate::dialog::{Dialog, Kind, Shown};
use crate::draw::text::{cut, span, tail, wrapped};
use crate::field::Field;
use crate::keys::Action;
use crate::model::Model;
use crate::theme::{Role, Theme};

/// Lines of a question that stand above the field for the answer.
const ASKED_MAX: usize = 6;

/// Dialogs that a person types into.
pub(super) fn with_field(model: &Model, dialog: &Dialog, width: usize) -> Parts {
    let theme = model.theme;
    let blank = Line::default;
    let (title, mut head, foot) = match &dialog.kind {
        Kind::Block { task, reason } => (
            format!("Block task {task}"),
            labelled(theme, "Reason", reason, width, true),
            "Enter block · Esc cancel",
        ),
        Kind::Edit { task, title, description, second, .. } => {
            let mut head = labelled(theme, "Title", title, width, !*second);
            head.extend(labelled(theme, "Description", description, width, *second));
            (format!("Edit task {task}"), head, "Enter save · Tab other field · Esc cancel")
        }
        Kind::Message { task, text } => (
            format!("Tell the agent of task {task}"),
            labelled(theme, "Message, delivered at its next boundary", text, width, true),
            "Enter send · Esc cancel",
        ),
        Kind::NewCheckpoint { name } => (
            "Make a checkpoint".to_owned(),
            labelled(theme, "Name; empty: named by the moment", name, width, true),
            "Enter make it · Esc cancel",
        ),
        Kind::Answer { question, choice, text } => {
            let what = choice.asks_for.clone().unwrap_or_default();
            let mut head = short_question(theme, question, width);
            head.extend(labelled(theme, &what, text, width, true));
            (choice.label.clone(), head, "Enter send · Esc cancel")
        }
        Kind::Note { file, line, text, .. } => {
            let at = line.map(|line| format!(":{line}")).unwrap_or_default();
            (
                format!("Note at {file}{at}"),
                labelled(theme, "What is to be changed there", text, width, true),
                "Enter keep it for the verdict · Esc cancel",
            )
        }
        Kind::Review { task, note, approve, review } => {
            let choice = if *approve {
                "(•) approve   ( ) needs changes"
            } else {
                "( ) approve   (•) needs changes"
            };
            let mut head = judged(model, task, review.as_deref(), width);
            head.extend([blank(), plain(theme, choice), blank()]);
            head.extend(labelled(theme, "What is to be changed", note, width, !*approve));
            (format!("Review task {task}"), head, "Enter send the verdict · Tab other verdict · Esc cancel")
        }
        _ => (String::new(), vec![], ""),
    };
    let body = match dialog.shown {
        Shown::NotAsked => long_question(theme, &dialog.kind, width),
        _ => {
            head.push(blank());
            looked(model, dialog, width)
        }
    };
    // Enter is offered when it does something.
    let foot = match &dialog.shown {
        Shown::Refused(_) => "Esc close",
        Shown::Awaited => "Esc cancel",
        _ => foot,
    };
    Parts { title, head, body, foot: foot.to_owned() }
}

/// A question as it stands above its field, with a blank line; a longer one stands below, where it can be scrolled.
fn short_question(theme: Theme, question: &str, width: usize) -> Vec<Line<'static>> {
    let asked = wrapped(question, width);
    if asked.len() > ASKED_MAX {
        return vec![];
    }
    asked.iter().map(|line| plain(theme, line)).chain([Line::default()]).collect()
}

fn long_question(theme: Theme, kind: &Kind, width: usize) -> Vec<Line<'static>> {
    let Kind::Answer { question, .. } = kind else { return vec![] };
    let asked = wrapped(question, width);
    if asked.len() <= ASKED_MAX {
        return vec![];
    }
    asked.iter().map(|line| plain(theme, line)).collect()
}

/// What a verdict would be about, and what others said of it.
fn judged(model: &Model, task: &TaskId, review: Option<&ReviewView>, width: usize) -> Vec<Line<'static>> {
    let theme = model.theme;
    let Some(review) = review else { return vec![] };
    let diff_key = model.keys.first(Action::Diff);
    let (commit, tree) = (review.submitted.short(), review.tree.short());
    let about = format!(
        "Commit {commit}, tree {tree}, round {} of {} · {diff_key} shows the diff",
        review.round, review.rounds
    );
    let mut lines = vec![plain(theme, &cut(&about, width))];
    let needs_you = |text: &str| Line::from(span(theme, Role::NeedsYou, &cut(text, width)));
    if model.is_overtaken(review) {
        lines.push(needs_you("A newer submission has arrived: this one no longer waits for a review"));
    } else if let Some(Ok(diff)) = &model.diff
        && model.part.round.is_none()
        && diff.task == *task
        && diff.to != review.submitted
    {
        // Whoever has read it has read something else.
        let read = diff.to.short();
        lines.push(needs_you(&format!("The diff that was read ends at {read}: {diff_key} reads it anew")));
    }
    for note in model.notes_of(task) {
        lines.push(plain(theme, &cut(&format!("Note: {note}"), width)));
    }
    for member in &review.council {
        let voice = match &member.voice {
            Some(voice) => voice.word(),
            None => "has not spoken yet",
        };
        let text = format!("{} ({}): {voice} {}", member.member, member.profile, member.said);
        lines.push(Line::from(span(theme, Role::Dim, &cut(&text, width))));
    }
    lines
}

fn labelled(theme: Theme, label: &str, field: &Field, width: usize, here: bool) -> Vec<Line<'static>> {
    // Where letters go is seen without colours, too.
    let mut line = Line::from(span(theme, Role::Dim, if here { "> " } else { "  " }));
    typed(theme, field, width.saturating_sub(3), here).into_iter().for_each(|part| line.push_span(part));
    vec![Line::from(span(theme, if here { Role::Bold } else { Role::Dim }, label)), line]
}

/// What was typed, in so many cells: its end is always on the screen, with the cursor in it.
pub(in crate::draw) fn typed(theme: Theme, field: &Field, room: usize, here: bool) -> Vec<Span<'static>> {
    let (before, after) = field.halves();
    let before: String = before.chars().map(one_line).collect();
    let mut rest = after.chars().map(one_line);
    let under = rest.next().unwrap_or(' ').to_string();
    let after: String = rest.collect();
    let before = tail(&before, room.saturating_sub(under.width()));
    let after = cut(&after, room.saturating_sub(before.width() + under.width()));
    vec![
        span(theme, Role::Plain, before),
        span(theme, if here { Role::Selected } else { Role::Plain }, &under),
        span(theme, Role::Plain, &after),
    ]
}

/// A field is one line: the end of a line in it is shown as a sign.
fn one_line(c: char) -> char {
    match c {
        '\n' => '⏎',
        c if c.is_control() => ' ',
        c => c,
    }
}
