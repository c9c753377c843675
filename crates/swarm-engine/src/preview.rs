//! What an operation would do, without doing it: the same look at git and at the ledger, and the same plan.
//! Reads only, needs no lock: a front end may ask beside a coordinator that works, or where there is none.

use swarm_core::input::Input;
use swarm_core::{State, operation, requested, show, step};
use swarm_protocol::channel::RunKind;
use swarm_protocol::command::{Command, Envelope};
use swarm_protocol::config::Regenerate;
use swarm_protocol::conflict::{self, Resolved};
use swarm_protocol::event::Event;
use swarm_protocol::ids::{CommandId, Oid, TaskId};
use swarm_protocol::operation::{RefMove, Request, Survey, SurveyAsk, TrunkHow, TrunkMove};
use swarm_protocol::oplog::{PreviewView, StopView};
use swarm_protocol::refusal::Refusal;
use swarm_protocol::time::Timestamp;

use crate::paths::Paths;
use crate::store::{OpenOptions, Store, StoreError};
use swarm_git::{Git, GitError};
use swarm_work::operation::moving::rebuild::{Making, Rebuilt, rebuild};
use swarm_work::operation::survey as of_git;
use swarm_work::publish::saved_paths;
use swarm_work::rescue::wip_ref;

/// Files named of each agent that is stopped; all of them are in git.
const FILES_MAX: usize = 100;

/// Where to look.
#[derive(Debug, Clone, Copy)]
pub struct Place<'a> {
    pub git: &'a Git,
    pub paths: &'a Paths,
    /// Short name.
    pub trunk: &'a str,
    /// Files that commands make again where reverts conflict in them.
    pub regenerate: &'a [Regenerate],
}

/// Why there is no preview.
#[derive(Debug, thiserror::Error)]
pub enum NoPreview {
    /// It would be refused, and this is why.
    #[error("{}", .0.message())]
    Refused(Refusal),
    #[error(transparent)]
    Git(#[from] GitError),
    #[error("the ledger cannot be read back to record {at}")]
    Ledger {
        at: u64,
        #[source]
        source: StoreError,
    },
}

/// What the command would do now.
pub async fn preview(
    place: &Place<'_>,
    state: &State,
    command: &Command,
    now: Timestamp,
) -> Result<PreviewView, NoPreview> {
    let mut after = state.clone();
    let mut view = tried(&mut after, command, now).map_err(NoPreview::Refused)?;
    let mut looked = None;
    if let Some(request) = requested(state, command, now).map_err(NoPreview::Refused)? {
        let ask = operation::ask(state, &request).map_err(NoPreview::Refused)?;
        let survey = survey(place, state, &ask).await?;
        let plan = operation::plan(state, &request, &survey, now).map_err(NoPreview::Refused)?;
        let mut agent = None;
        let decided = match fits(place, plan.trunk.as_ref()).await {
            Ok(decided) => decided,
            Err(stuck) => {
                let (why, hint) = operation::conflicts(state, command.kind(), &request, &stuck.paths);
                let asked = operation::resolver(state, &request, 0).filter(|_| stuck.asks);
                let Some((_, profile)) = asked else {
                    return Err(NoPreview::Refused(Refusal::CannotMove { why, hint }));
                };
                agent = Some(format!("{why}: {profile} is asked to resolve it, which is verified first"));
                vec![]
            }
        };
        // A checkpoint is the thing itself, not what is kept before it.
        let made = matches!(request, Request::Checkpoint { .. });
        view = PreviewView {
            kind: command.kind().into(),
            text: if made { made_of(state, &plan.checkpoint) } else { String::new() },
            says: plan.says.clone(),
            facts: plan.facts.clone(),
            checkpoint: (!made).then(|| plan.checkpoint.clone()),
            expect: Some(operation::hash(&plan)),
            nothing: !made && plan.moves_nothing(),
            plan: Some(plan),
            stops: vec![],
        };
        view.says.commits.extend(agent);
        if !decided.is_empty() {
            let files = conflict::shown(&decided);
            view.says
                .commits
                .push(format!("conflicts with later work, resolved and verified first: {files}"));
        }
        looked = Some(survey);
        of_git_moves(place, state, &request, &mut view).await?;
    }
    view.stops = stopped(place, state, &after, looked).await?;
    view.nothing &= view.stops.is_empty();
    // A plan says itself what stays.
    let stays = operation::stays::stays(&view.kind);
    if view.plan.is_none() && !view.stops.is_empty() && stays != "nothing" {
        view.says.stays.push(stays.into());
    }
    if let Command::Redirect { task, to, same_worktree: true } = command {
        let files = view.stops.iter().find(|stop| stop.task == *task).map_or(0, |stop| stop.files_in_all);
        let line = taken_along(place, task, to, files).await?;
        view.says.work.push(line);
    }
    Ok(view)
}

/// Reverts for which there is no rule.
struct Stuck {
    paths: Vec<String>,
    /// An agent could say what is to become of the files.
    asks: bool,
}

/// What is decided where the reverts of this move conflict with what is on trunk; the error are the files in which they do
/// without a way out. They are tried in the object database and nowhere else; where that cannot be written to, the operation
/// itself will tell.
async fn fits(place: &Place<'_>, trunk: Option<&TrunkMove>) -> Result<Vec<Resolved>, Stuck> {
    let Some(TrunkMove { old, how: TrunkHow::Rebuild { revert, pick }, .. }) = trunk else {
        return Ok(vec![]);
    };
    let making = Making::Supposed(place.regenerate);
    match rebuild(place.git, old, (revert, pick), 0, None, making).await {
        Ok(Rebuilt::Conflict { paths, open, .. }) => {
            let asks = match open {
                Some(open) => open.shown(place.git).await.is_ok_and(|shown| shown.is_some()),
                None => false,
            };
            Err(Stuck { paths, asks })
        }
        Ok(Rebuilt::Unmade(_)) => Ok(vec![]),
        Ok(Rebuilt::Built { resolved, .. }) => Ok(resolved),
        Err(error) => {
            tracing::debug!(%error, "the reverts of a preview cannot be tried");
            Ok(vec![])
        }
    }
}

/// The command carried out on a copy: whether it is accepted, its answer, and what it changes at once.
fn tried(state: &mut State, command: &Command, now: Timestamp) -> Result<PreviewView, Refusal> {
    let id = CommandId::new("preview").expect("a good id");
    let envelope = Envelope { id: id.clone(), by: "person:preview".into(), command: command.clone() };
    let planned = state.plan.is_some();
    let events = step(state, Input::Command(envelope), now)?;
    // A ledger begins with its plan: the store takes nothing else first.
    if !planned && !matches!(events.first(), Some(Event::PlanCreated { .. })) {
        return Err(Refusal::NoPlan);
    }
    let nothing = events.iter().all(|event| matches!(event, Event::Operation { .. }));
    let told = events.into_iter().find_map(|event| match event {
        Event::Operation { id: of, answer, facts, checkpoint, .. } if of == id => {
            Some((answer, facts.unwrap_or_default(), checkpoint))
        }
        _ => None,
    });
    let (text, facts, checkpoint) = told.unwrap_or_default();
    let (kind, says) = (command.kind().into(), Default::default());
    Ok(PreviewView { kind, text, says, facts, checkpoint, expect: None, plan: None, stops: vec![], nothing })
}

/// What a person cannot see from the plan's own lines: which checkpoint is meant, the commits that go with a branch, the
/// local changes that come back.
async fn of_git_moves(
    place: &Place<'_>,
    state: &State,
    request: &Request,
    view: &mut PreviewView,
) -> Result<(), NoPreview> {
    let Some(plan) = view.plan.clone() else { return Ok(()) };
    if let Request::Rollback { to, .. } | Request::Abort { to, .. } = request
        && let Some(checkpoint) = state.ops.checkpoints.get(to)
    {
        let trunk =
            checkpoint.trunk.as_ref().map_or(String::new(), |oid| format!(", trunk at {}", oid.short()));
        let at = checkpoint.at.dated();
        view.text = format!("Back to the checkpoint {to} of {at} ({}{trunk})", checkpoint.trigger);
    }
    if let Request::Undo { operation: undone, .. } = request
        && let Some(record) = state.ops.record(undone)
    {
        view.text = operation::undo::told(state, record);
    }
    for moved in &plan.refs {
        view.says.work.extend(branch_moved(place, moved, &plan.checkpoint).await?);
    }
    if let Some(name) = &plan.local {
        let files = saved_paths(place.git, name).await?;
        if !files.is_empty() {
            let files: Vec<String> = files.iter().take(FILES_MAX).map(|f| f.display().to_string()).collect();
            view.says.work.push(format!(
                "your local changes on {name} come back where nothing was changed since: {}",
                files.join(", ")
            ));
            view.nothing = false;
        }
    }
    Ok(())
}

/// Commits named in one line; the checkpoint has them all.
const COMMITS_MAX: usize = 10;

/// A branch that goes, comes or moves, with the commits that nothing but the checkpoint has then.
async fn branch_moved(
    place: &Place<'_>,
    moved: &RefMove,
    checkpoint: &str,
) -> Result<Option<String>, NoPreview> {
    let name = moved.name.trim_start_matches("refs/heads/");
    let Some(old) = &moved.old else {
        // One of a task went with its worktree. A new one of a person's is said by who makes it.
        let new = moved.new.as_ref().filter(|_| name.starts_with("swarm/"));
        return Ok(new.map(|new| format!("the branch {name} comes back at {}", new.short())));
    };
    let mut commits = commits_only_in(place, old, moved.new.as_ref()).await?;
    let count = commits.len();
    commits.truncate(COMMITS_MAX);
    if count > COMMITS_MAX {
        commits.push(format!("{} more", count - COMMITS_MAX));
    }
    let what = match &moved.new {
        None => format!("the branch {name} goes from {}", old.short()),
        Some(new) => format!("the branch {name} moves from {} to {}", old.short(), new.short()),
    };
    Ok(Some(match count {
        0 => what,
        1 => format!("{what}; 1 unmerged commit of it is kept in {checkpoint}: {}", commits.join(", ")),
        n => format!("{what}; {n} unmerged commits of it are kept in {checkpoint}: {}", commits.join(", ")),
    }))
}

/// Commits of `tip` that neither trunk nor `besides` has, newest first, as people name them.
async fn commits_only_in(
    place: &Place<'_>,
    tip: &Oid,
    besides: Option<&Oid>,
) -> Result<Vec<String>, NoPreview> {
    let trunk = place.git.ref_value(&format!("refs/heads/{}", place.trunk)).await?;
    let args =
        ["log", "--no-decorate", "--format=%h %s", "--abbrev=8", "--max-count=1000", tip.as_str(), "--not"];
    let call = place.git.call(args).args(trunk.iter().chain(besides).map(Oid::as_str));
    let listed = call.long_list().ok().await?;
    Ok(String::from_utf8_lossy(&listed).lines().map(str::to_owned).collect())
}

/// What one task's work is to another that begins with it.
async fn taken_along(
    place: &Place<'_>,
    from: &TaskId,
    to: &TaskId,
    files: usize,
) -> Result<String, NoPreview> {
    let tip = place.git.ref_value(&format!("refs/heads/{}", from.branch())).await?;
    let commits = match &tip {
        Some(tip) => commits_only_in(place, tip, None).await?,
        None => vec![],
    };
    let named = if commits.is_empty() { String::new() } else { format!(" ({})", commits.join(", ")) };
    let made = if commits.len() == 1 { "1 commit".into() } else { format!("{} commits", commits.len()) };
    let touched = if files == 1 { "1 changed file".into() } else { format!("{files} changed files") };
    Ok(format!(
        "what was done for {from} so far, {made}{named} and {touched}, begins {to} and is merged with it, finished or not"
    ))
}

/// What a checkpoint would hold.
fn made_of(state: &State, name: &str) -> String {
    match state.tasks.values().filter(|task| task.worktree).count() {
        0 => format!("A checkpoint {name} of the plan and of trunk; there are no worktrees"),
        1 => format!("A checkpoint {name} of the plan, of trunk and of 1 worktree with its uncommitted work"),
        n => format!(
            "A checkpoint {name} of the plan, of trunk and of {n} worktrees with their uncommitted work"
        ),
    }
}

/// Whose processes end, and which files of theirs are kept at which ref.
async fn stopped(
    place: &Place<'_>,
    before: &State,
    after: &State,
    looked: Option<Survey>,
) -> Result<Vec<StopView>, NoPreview> {
    let mut stops = show::stops(before, after);
    let of_agents = |stop: &&mut StopView| stop.kind == RunKind::Work;
    let mut found = looked.unwrap_or_default();
    let unseen = stops.iter_mut().filter(of_agents).map(|stop| stop.task.clone());
    let unseen: Vec<_> = unseen.filter(|task| !found.tips.contains_key(task)).collect();
    if !unseen.is_empty() {
        let ask = SurveyAsk { tasks: unseen, ..SurveyAsk::default() };
        let more = of_git::survey(place.git, place.trunk, &place.paths.worktrees, &ask).await?;
        found.tips.extend(more.tips);
        found.dirty.extend(more.dirty);
    }
    for stop in stops.iter_mut().filter(of_agents) {
        let Some(tip) = found.tips.get(&stop.task) else { continue };
        // One that is killed loses its commits, too.
        let rewind = after.ops.rewinds.get(&stop.task);
        let from = rewind.and_then(|rewind| rewind.to.as_ref()).unwrap_or(tip);
        let work = found.dirty.get(&stop.task).unwrap_or(tip);
        let files = place.git.changed_paths(from, work).await?;
        stop.saved_to = (from != work).then(|| wip_ref(&stop.task, &stop.run));
        stop.files_in_all = files.len();
        stop.files = files.iter().take(FILES_MAX).map(|path| path.display().to_string()).collect();
    }
    Ok(stops)
}

/// Git's part and the ledger's part of the look before an operation.
pub async fn survey(place: &Place<'_>, now: &State, ask: &SurveyAsk) -> Result<Survey, NoPreview> {
    let Place { git, paths, trunk, .. } = place;
    let mut ask = ask.clone();
    let mut tasks = Default::default();
    if let Some(at) = ask.at {
        let then = state_at(paths, at).await.map_err(|source| NoPreview::Ledger { at, source })?;
        tasks = operation::differing(now, &then);
        let more: Vec<_> = tasks.keys().filter(|id| !ask.tasks.contains(id)).cloned().collect();
        ask.tasks.extend(more);
    }
    let mut found = of_git::survey(git, trunk, &paths.worktrees, &ask).await?;
    found.tasks = tasks;
    Ok(found)
}

/// The state as it was when this record had been written. The ledger is read again, off the loop's thread.
async fn state_at(paths: &Paths, at: u64) -> Result<State, StoreError> {
    let paths = paths.clone();
    let reading = tokio::task::spawn_blocking(move || {
        Store::open_reader(&paths, &OpenOptions::new("read"), Some(at)).map(|reading| reading.state)
    });
    match reading.await {
        Ok(state) => state,
        Err(died) => std::panic::resume_unwind(died.into_panic()),
    }
}
