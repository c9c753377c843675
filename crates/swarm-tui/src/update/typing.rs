//! Commands that are typed: looked at first, carried out when the person has seen what they would do.

use swarm_protocol::api::ApiError;

use crate::dialog::{Dialog, Kind, Shown};
use crate::field::Field;
use crate::input::{Link, Wish};
use crate::model::{Model, Said, Sent, Tone};
use crate::typed::{Does, Looked, Typed, called, named, unknown, words};

/// A line of the palette. One that lacks what the command needs goes back there to be completed.
pub fn entered(model: &mut Model, typed: String) -> Vec<Wish> {
    let Some((command, line)) = called(&model.commands, &typed) else {
        model.note(unknown(&model.commands, &typed));
        return vec![];
    };
    let lacks = line.trim() == command.words && !command.takes.is_empty();
    if lacks {
        let task = model.looking_at.as_ref().filter(|_| command.takes.starts_with("<TASK>"));
        let task = task.map(|task| format!("{task} ")).unwrap_or_default();
        let text = Field::new(&format!("{} {task}", command.words));
        model.dialog = Some(Dialog::new(Kind::Palette { text, selected: 0 }, model.now));
        return vec![];
    }
    let does = does_now(command, &line);
    if does != Does::Reads
        && let Some(wishes) = super::pressed::in_the_past(model)
    {
        return wishes;
    }
    match words(&line) {
        Err(why) => {
            // Columns are counted in what was typed, which may begin with the name of the program.
            model.note(words(&typed).err().unwrap_or(why));
            vec![]
        }
        Ok(words) if does == Does::Here => vec![Wish::CallHere(words)],
        Ok(words) => {
            model.tickets += 1;
            let kind = Kind::Typed { line, words: words.clone(), does };
            let mut dialog = Dialog::new(kind, model.now);
            (dialog.ticket, dialog.shown) = (model.tickets, Shown::Awaited);
            model.dialog = Some(dialog);
            vec![Wish::Look(model.tickets, words, does)]
        }
    }
}

/// Some commands change something only where they are told to; alone they say what there is.
fn does_now(command: &Typed, line: &str) -> Does {
    let mut rest =
        line.trim_start().strip_prefix(command.words.as_str()).unwrap_or_default().split_whitespace();
    match command.words.as_str() {
        "doctor" if !rest.any(|word| word == "--fix") => Does::Reads,
        "restore" if rest.all(|word| word.starts_with('-')) => Does::Reads,
        _ => command.does,
    }
}

/// The command that a refusal named; without one, and without a coordinator, a run.
pub fn hint(model: &mut Model) -> Vec<Wish> {
    let offline = (model.link == Link::Offline).then(|| "run".to_owned());
    match model.hint.take().or(offline) {
        Some(line) if named(&model.commands, &line).is_some() => entered(model, line),
        _ => {
            model.note("No command waits to be looked at");
            vec![]
        }
    }
}

pub fn carry_out(model: &mut Model, line: &str, words: Vec<String>, seen: Option<String>) -> Vec<Wish> {
    model.tickets += 1;
    let ticket = model.tickets;
    model.note(format!("swarm {line}: sent"));
    let what = format!("swarm {line}");
    model.sent.push(Sent { ticket, task: None, what, is_verdict: false, words: None, leave: None });
    vec![Wish::Call(ticket, words, seen)]
}

/// What it would do goes into its dialog; what it did onto the line of results.
pub fn told(model: &mut Model, ticket: u64, told: Result<Looked, ApiError>) -> Vec<Wish> {
    if let Some(dialog) = model.dialog.as_mut().filter(|dialog| dialog.ticket == ticket) {
        dialog.shown = match told {
            Ok(Looked::Preview(preview)) => Shown::Arrived(preview),
            Ok(Looked::Text(text)) => Shown::Told(text),
            Err(error) => Shown::Refused(error),
        };
        return vec![];
    }
    let Some(at) = model.sent.iter().position(|sent| sent.ticket == ticket) else { return vec![] };
    let sent = model.sent.remove(at);
    match told {
        Err(error) => model.refuse(&error),
        Ok(Looked::Preview(_)) => {}
        Ok(Looked::Text(text)) => {
            let first = text.lines().map(str::trim).find(|line| !line.is_empty());
            let text = first.map_or_else(|| format!("{}: done", sent.what), str::to_owned);
            model.said = Some(Said { tone: Tone::Done, text, undo: false });
        }
    }
    vec![Wish::Board(model.past)]
}
