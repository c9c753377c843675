//! News of the world.

use swarm_protocol::api::{AgentNews, ApiError, Since};
use swarm_protocol::board::{AllowedView, BoardView, Group};
use swarm_protocol::ids::{RunId, TaskId};
use swarm_protocol::plan::Status;
use swarm_protocol::view::TaskView;

use super::{dialogs, sending};
use crate::input::{EventLine, LogLine, Wish};
use crate::keys::Action;
use crate::model::{EVENTS_MAX, Full, HELD_MAX, LOG_MAX, Left, Model, Node, View};
use crate::said::{age, count, money, spent};
use crate::visit::Visited;

pub fn board(model: &mut Model, board: Result<Box<BoardView>, ApiError>) -> Vec<Wish> {
    let board = match board {
        Ok(board) => board,
        Err(error) => {
            model.trouble = Some(error);
            return vec![];
        }
    };
    let first = model.board.is_none();
    model.trouble = None;
    model.newest = model.newest.max(board.status.seq);
    let chosen: Vec<(View, String)> =
        kept_by_name(model).filter_map(|view| Some((view, model.chosen(view)?))).collect();
    let before = looked_at(model);
    model.board = Some(board);
    if before != looked_at(model) {
        forget_refusals(model);
    }
    for (view, name) in chosen {
        if !model.choose_again(view, &name) && view == View::Attention {
            model.slipped = model.now;
        }
    }
    if first {
        begin(model);
    }
    keep_selection(model);
    super::confirming::take_up_submission(model);
    roam(model);
    let mut wishes = told(model);
    wishes.extend(model.looking_at.clone().map(Wish::Task));
    if model.past.is_none() {
        wishes.push(Wish::Allowed(model.looking_at.clone()));
        sending::ended(model);
    }
    wishes
}

/// How the task stands that the keys speak of.
fn looked_at(model: &Model) -> Option<(TaskId, Status, Group, String)> {
    let row = model.row(model.looking_at.as_ref()?)?;
    Some((row.row.id.clone(), row.row.status, row.group, row.word.clone()))
}

/// What was refused before the task changed may be allowed now, and the new list is still on its way: until it is here
/// the coordinator judges, not a list that is known to be old.
fn forget_refusals(model: &mut Model) {
    for allowed in &mut model.allowed {
        allowed.refused = None;
    }
}

/// Until somebody touches the screen of a run, it looks at what moves.
fn roam(model: &mut Model) {
    let untouched = model.owns && !model.touched && model.past.is_none();
    let works = |row: &&swarm_protocol::board::BoardRow| row.group == Group::Works;
    let selected = match &model.node {
        Some(Node::Task(id)) => model.row(id),
        _ => None,
    };
    if untouched
        && !selected.as_ref().is_some_and(works)
        && let Some(row) = model.rows().iter().find(works)
    {
        let task = row.row.id.clone();
        super::moving::jump(model, &task);
    }
}

/// Begins again with another plan.
pub fn anew(model: &mut Model) -> Vec<Wish> {
    model.events.clear();
    (model.events_cut, model.events_asked, model.events_to) = (false, None, None);
    (model.newest, model.answered) = (0, 0);
    (model.past, model.board, model.looking_at, model.node) = (None, None, None, None);
    model.ledger = None;
    forget_plan(model);
    vec![Wish::Board(None), Wish::Visited]
}

/// Its tasks may have the names of those of the last plan: nothing that was meant for these is about them.
fn forget_plan(model: &mut Model) {
    // It stays, so that the next letter is no command, and does nothing any more.
    if let Some(dialog) = model.dialog.as_mut().filter(|dialog| dialog.is_about_plan()) {
        dialog.over = true;
    }
    model.full = model.full.filter(|full| *full == Full::Help);
    (model.task, model.diff, model.over_time, model.over_time_of) = (None, None, None, None);
    (model.opened, model.awaited, model.hint, model.left) = (None, None, None, None);
    model.allowed.clear();
    model.marked.clear();
    model.notes.clear();
    model.drafts.clear();
    model.sent.iter_mut().for_each(|sent| (sent.is_verdict, sent.words) = (false, None));
}

/// Complete phases are folded, and what moves is selected.
fn begin(model: &mut Model) {
    let Some(board) = &model.board else { return };
    model.folded = board.status.phases.iter().filter(|phase| phase.complete).map(|phase| phase.id).collect();
    let wanted = [Group::Works, Group::NeedsYou, Group::InReview, Group::Merges, Group::Ready, Group::Waits];
    let found = wanted.iter().find_map(|group| board.rows.iter().find(|row| row.group == *group));
    model.node = found.or(board.rows.first()).map(|row| Node::Task(row.row.id.clone()));
    if model.node.is_none() {
        model.node = board.status.phases.first().map(|phase| Node::Phase(phase.id));
    }
}

/// A task that has gone from the tree leaves the selection where it was.
fn keep_selection(model: &mut Model) {
    model.grow();
    let nodes = model.nodes();
    let there = |node: &Node| nodes.contains(node);
    if model.node.as_ref().is_some_and(there) {
        return;
    }
    // Folded away or filtered out: its phase, or whatever comes first.
    let phase = match &model.node {
        Some(Node::Task(id)) => model.row(id).map(|row| Node::Phase(row.row.phase)),
        _ => None,
    };
    let kept = phase.filter(there).or_else(|| nodes.first().cloned());
    model.node = kept;
}

/// The title counts what waits; the bell tells of each entry once, and only a person who looks elsewhere.
fn told(model: &mut Model) -> Vec<Wish> {
    let Some(board) = &model.board else { return vec![] };
    let now: std::collections::BTreeSet<String> =
        board.attention.iter().map(|entry| entry.id.clone()).collect();
    if now == model.told {
        return vec![];
    }
    let fresh = board.attention.iter().find(|entry| !model.told.contains(&entry.id));
    let fresh = fresh.map(|entry| entry.entry.what.clone());
    let name = match now.len() {
        0 => format!("swarm · {}", model.place),
        n => format!("({n}) swarm · {}", model.place),
    };
    model.told = now;
    let mut wishes = vec![Wish::Title(name)];
    if !model.focused && model.past.is_none() {
        wishes.extend(fresh.map(Wish::Bell));
    }
    wishes
}

pub fn task(model: &mut Model, id: &TaskId, task: Result<Box<TaskView>, ApiError>) -> Vec<Wish> {
    if model.looking_at.as_ref() != Some(id) {
        return vec![];
    }
    let (read, why) = match task {
        Ok(read) => (Some(read), None),
        Err(error) => (None, Some(error)),
    };
    model.task = read;
    let awaited = model.edit_awaits.take_if(|awaited| awaited == id).is_some();
    match &model.task {
        Some(_) if awaited && model.dialog.is_none() => dialogs::open(model, Action::Edit),
        None if awaited => {
            let why = why.map(|error| format!(": {}", error.message)).unwrap_or_default();
            model.note(format!("Task {id} cannot be read{why}; try `e` again, or `swarm task show {id}`"));
            vec![]
        }
        _ => vec![],
    }
}

pub fn allowed(model: &mut Model, of: Option<&TaskId>, allowed: Vec<AllowedView>) -> Vec<Wish> {
    if model.looking_at.as_ref() == of {
        model.allowed = allowed;
    }
    vec![]
}

/// Whatever was recorded may have changed anything: the board is asked for again, once for all that came together.
pub fn events(model: &mut Model, events: Vec<EventLine>) -> Vec<Wish> {
    let before = model.length(View::Events);
    for event in events {
        model.newest = model.newest.max(event.seq);
        // After a lost connection some may come again.
        if !model.events_cut && model.events.back().is_none_or(|last| last.seq < event.seq) {
            model.events.push_back(event);
        }
    }
    // What somebody reads stays.
    let kept = if model.cursor(View::Events) == 0 { EVENTS_MAX } else { HELD_MAX };
    let surplus = model.events.len().saturating_sub(kept);
    model.events.drain(..surplus);
    if surplus > 0 {
        model.events_asked = None;
    }
    // Newest first: who reads further down stays at their line.
    let more = model.length(View::Events).saturating_sub(before);
    let at = &mut model.cursors[View::Events.index()];
    *at = if *at == 0 { 0 } else { *at + more };
    if model.past.is_some() { vec![] } else { vec![Wish::Board(None)] }
}

pub fn news(model: &mut Model, news: AgentNews) -> Vec<Wish> {
    if model.past.is_none()
        && let Some(board) = &mut model.board
        && let Some(agent) = board.agents.iter_mut().find(|agent| agent.agent.run == news.run)
    {
        agent.news = Some(news);
    }
    vec![]
}

pub fn log(model: &mut Model, run: &RunId, lines: Vec<LogLine>) -> Vec<Wish> {
    if let Some(tile) = model.wall.get_mut(run) {
        append(&mut tile.lines, lines.iter().cloned());
    }
    if model.log.run.as_ref() != Some(run) {
        return vec![];
    }
    if model.log.back.is_some() && model.log.lines.len() + lines.len() > HELD_MAX {
        // Whoever reads above is not pulled away from their line.
        model.log.cut = true;
    }
    if model.log.cut {
        model.log.unseen += lines.len();
        return vec![];
    }
    let before = if model.log.back.is_some() { crate::draw::log::length(model) } else { 0 };
    match model.log.back {
        Some(_) => model.log.lines.extend(lines),
        None => append(&mut model.log.lines, lines),
    }
    if model.log.back.is_some() {
        let now = crate::draw::log::length(model);
        let more = now.saturating_sub(before);
        model.log.back = model.log.back.map(|back| (back + more).min(now));
        model.log.unseen += more;
    }
    vec![]
}

fn append(log: &mut std::collections::VecDeque<LogLine>, lines: impl IntoIterator<Item = LogLine>) {
    log.extend(lines);
    let surplus = log.len().saturating_sub(LOG_MAX);
    log.drain(..surplus);
}

/// Shorter absences need no summary.
const AWAY_SECS: u64 = 300;

/// The person looks elsewhere, or is back: what happened meanwhile is one line.
pub fn looked_up(model: &mut Model) {
    let Some(board) = &model.board else { return };
    let now = Left {
        at: model.now,
        done: board.status.counts.done,
        waiting: board.attention.len(),
        cost_micros: board.status.usage.cost_micros,
    };
    if !model.focused {
        model.left = Some(now);
        return;
    }
    let Some(left) = model.left.take().filter(|left| now.at.secs_since(left.at) >= AWAY_SECS) else { return };
    let done = count(now.done.saturating_sub(left.done), "task");
    let spent = money(now.cost_micros.saturating_sub(left.cost_micros));
    let waiting = match now.waiting {
        0 => "nothing waits for you".to_owned(),
        1 => "1 thing waits for you".into(),
        n => format!("{n} things wait for you"),
    };
    let since = age(now.at, left.at);
    model.note(format!("Since you left {since} ago: {done} done, {spent} spent, {waiting}"));
}

/// The screen was opened again: what happened meanwhile is one line, where nothing else is said.
pub fn visited(model: &mut Model, visited: Visited) {
    model.ledger = Some(visited.ledger);
    let Some((at, since)) = visited.since else { return };
    let news = happened(&since);
    if news.is_empty() || model.said.is_some() || model.now.secs_since(at) < AWAY_SECS {
        return;
    }
    model.note(format!("Since you left {} ago: {}", age(model.now, at), news.join("; ")));
}

/// So many tasks are named; more are counted.
const NAMED_MAX: usize = 4;

/// `2.1, 2.5 done`, `7 tasks blocked`, `$1.20 spent`: what has ended comes first.
fn happened(since: &Since) -> Vec<String> {
    const ENDS: [&str; 8] =
        ["done", "blocked", "failed", "timeout", "gone", "review", "cancelled", "deferred"];
    let of_status = |word: &&str| {
        let ids = since.tasks.get(*word)?;
        let names: Vec<&str> = ids.iter().map(TaskId::as_str).collect();
        let names = match names.len() {
            n if n > NAMED_MAX => count(n as u64, "task"),
            _ => names.join(", "),
        };
        Some(match *word {
            "review" => format!("{names} in review"),
            word => format!("{names} {word}"),
        })
    };
    let mut news: Vec<String> = ENDS.iter().filter_map(of_status).collect();
    if since.usage.cost_micros > 0 {
        news.push(format!("{} spent", spent(&since.usage)));
    }
    news
}

/// Who has not moved in a list whose newest line stands first stays at the newest.
fn kept_by_name(model: &Model) -> impl Iterator<Item = View> + '_ {
    let newest_first = |view: &View| matches!(view, View::Checkpoints | View::Operations);
    View::ALL.iter().copied().filter(move |view| !newest_first(view) || model.cursor(*view) > 0)
}
