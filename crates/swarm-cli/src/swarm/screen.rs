//! The swarm for screens where nobody coordinates: read from the ledger, written under our own lock.

use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::SystemTime;

use swarm_core::State;
use swarm_engine::look::{Look, look, show_around, show_left_alone};
use swarm_engine::store::Store;
use swarm_engine::trunk_lines::trunk_lines;
use swarm_engine::work_diff::{part, work_diff};
use swarm_protocol::any_view::AnyView;
use swarm_protocol::api::{ApiError, Seen};
use swarm_protocol::command::{Answer, Command, Envelope};
use swarm_protocol::diff::{DiffAsk, DiffView};
use swarm_protocol::ids::{CommandId, TaskId};
use swarm_protocol::oplog::PreviewView;
use swarm_protocol::over_time::OverTimeView;
use swarm_protocol::trunk::{TrunkAsk, TrunkView};
use swarm_server::client::Client;
use swarm_server::ledger::{Ledger, Position};
use swarm_tui::source::Desk;
use swarm_tui::visit::Visit;

use super::Swarm;
use super::read::unknown;
use super::visits;
use crate::error::{CliError, Hint};

/// Opens a folder in the person's editor; the text is the command to try once more.
pub type Editor = fn(&Path, &str) -> Result<(), CliError>;

/// A ledger that is looked at again when it has changed.
pub struct Screen {
    swarm: Arc<Swarm>,
    open_editor: Editor,
    /// The ledger when it was last looked at.
    mark: Mutex<Mark>,
    /// The state that was last read, so that a ledger that stands still is read once.
    read: Mutex<Option<(Mark, Arc<State>)>>,
}

type Mark = Option<(u64, SystemTime)>;

impl Swarm {
    pub fn client(&self) -> Client {
        Client::new(&self.paths.socket)
    }

    pub fn screen(self: &Arc<Self>, open_editor: Editor) -> Screen {
        let mark = Mutex::new(self.ledger_mark());
        Screen { swarm: Arc::clone(self), open_editor, mark, read: Mutex::default() }
    }

    /// The name of the repository's folder.
    pub fn place(&self) -> String {
        let name = self.git.main_checkout.file_name().map(|name| name.to_string_lossy().into_owned());
        name.unwrap_or_default()
    }
}

/// An error of the command line, as every front end tells it.
pub fn told(error: CliError) -> ApiError {
    let hint = match &error.hint {
        Some(Hint::Run(command)) => command.clone(),
        Some(Hint::Say(text)) => text.clone(),
        None => String::new(),
    };
    let mut message = error.message.clone();
    for cause in &error.causes {
        message.push_str(&format!(": {cause}"));
    }
    let refusal = error.refusal.map(|refusal| *refusal);
    ApiError { refusal, ..ApiError::new(error.kind, message, hint) }
}

impl Screen {
    pub fn swarm(&self) -> &Swarm {
        &self.swarm
    }

    /// One at a time: a large ledger in memory once is enough.
    fn state(&self, at: Option<u64>) -> Result<Arc<State>, ApiError> {
        let mut read = self.read.lock().unwrap_or_else(PoisonError::into_inner);
        if at.is_some() {
            return self.swarm.planned(at).map(Arc::new).map_err(told);
        }
        let mark = self.swarm.ledger_mark();
        if let Some((known, state)) = &*read
            && *known == mark
        {
            return Ok(Arc::clone(state));
        }
        let state = Arc::new(self.swarm.planned(None).map_err(told)?);
        *read = Some((mark, Arc::clone(&state)));
        Ok(state)
    }
}

impl Ledger for Screen {
    fn look(&self, what: &Look, at: Option<u64>) -> Result<Seen<AnyView>, ApiError> {
        let state = self.state(at)?;
        let now = if at.is_some() { state.at } else { self.swarm.now() };
        let mut view = look(&state, what, now, |_| None).view.map_err(ApiError::from)?;
        if at.is_none() {
            let (conflicts, branches) = self.swarm.conflicts(&state);
            conflicts.show_in(&mut view, &branches);
            // A coordinator would have answered itself.
            if let Ok(settings) = self.swarm.configuration() {
                show_around(&mut view, &settings.config, false);
            }
            // One that crashed is started again in a moment where somebody watches it; one that hangs is there.
            if state.running && !self.swarm.is_watched() && !self.swarm.has_coordinator() {
                show_left_alone(&mut view, &state);
            }
        }
        Ok(Seen { seq: state.seq, view })
    }

    fn preview(&self, command: &Command) -> Result<PreviewView, ApiError> {
        self.swarm.preview(command).map_err(told)
    }

    fn ask(&self, envelope: Envelope) -> Result<Answer, ApiError> {
        self.swarm.ask_with(&envelope).map_err(told)
    }

    fn past_answer(&self, id: &CommandId) -> Option<Answer> {
        let state = self.state(None).ok()?;
        let past = state.answer_of(id)?;
        Some(Answer { id: id.clone(), seq: past.seq, text: past.text.clone(), repeated: true })
    }

    fn diff(&self, ask: &DiffAsk) -> Result<DiffView, ApiError> {
        let task = &ask.task;
        let state = self.state(None)?;
        if state.task(task).is_none() {
            return Err(told(unknown(&state, task)));
        }
        let rounds = self.swarm.rounds(task).map_err(told)?;
        let part = part(ask, &rounds)?;
        let looked = self.swarm.runtime.block_on(async {
            let trunk = self.swarm.trunk_name().await?;
            Ok::<_, CliError>(work_diff(&self.swarm.git, &trunk, &state, task, &part).await?)
        });
        let none = || {
            let message = format!("Task {task} has no work to show yet");
            ApiError::new("not_found", message, format!("swarm task show {task}"))
        };
        let found = looked.map_err(told)?.ok_or_else(none)?;
        Ok(DiffView { round: ask.round, since: ask.since, rounds, ..found })
    }

    fn over_time(&self) -> Result<OverTimeView, ApiError> {
        self.swarm.over_time().map_err(told)
    }

    fn trunk(&self, ask: &TrunkAsk) -> Result<TrunkView, ApiError> {
        let state = self.state(None)?;
        let trunk = self.swarm.runtime.block_on(self.swarm.trunk_name()).map_err(told)?;
        self.swarm.runtime.block_on(trunk_lines(&self.swarm.git, &trunk, &state, ask))
    }

    fn records(&self, last: u64) -> Vec<String> {
        let rows = self.swarm.history(None).unwrap_or_default();
        let skip = rows.len().saturating_sub(usize::try_from(last).unwrap_or(usize::MAX));
        rows.iter().skip(skip).map(|row| row.record.get().to_owned()).collect()
    }

    fn position(&self) -> Option<(String, Position)> {
        let reading = Store::open_reader(&self.swarm.paths, &self.swarm.options("read"), None).ok()?;
        let head = reading.head?;
        Some((reading.ledger_id?, Position { seq: head.seq, end: head.end }))
    }

    fn changed(&self) -> bool {
        self.swarm.watch_ledger().wait();
        let now = self.swarm.ledger_mark();
        let mut mark = self.mark.lock().unwrap_or_else(PoisonError::into_inner);
        let changed = *mark != now;
        *mark = now;
        changed
    }
}

fn in_one_line(error: CliError) -> String {
    let error = told(error);
    format!("{}; {}", error.message, error.hint)
}

impl Desk for Screen {
    fn edit(&self, task: &TaskId) -> Result<(), String> {
        let opened = self
            .swarm
            .worktree_of(task)
            .and_then(|path| (self.open_editor)(&path, &format!("swarm agent debug {task}")));
        opened.map_err(in_one_line)
    }

    fn show(&self, text: &str) -> Result<(), String> {
        let written = tempfile::Builder::new().prefix("swarm-").suffix(".txt").tempfile();
        let file = written.and_then(|file| std::fs::write(file.path(), text).map(|()| file));
        let file = file.map_err(|error| format!("Cannot write a file for the editor: {error}"))?;
        (self.open_editor)(file.path(), "swarm tui").map_err(in_one_line)
    }

    fn last_visit(&self) -> Option<Visit> {
        self.position().map(|(ledger, _)| visits::last(ledger))
    }

    fn note_visit(&self, visit: &Visit) {
        visits::note(visit);
    }
}
