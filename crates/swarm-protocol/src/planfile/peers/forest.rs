//! Issues of beads or hive: which belong together, and which wait for which. Epics with children are phases,
//! everything else is a task.

use std::collections::{BTreeMap, BTreeSet};

use super::issue::{self, Issue, State};
use super::names::Names;
use super::order::{Waits, refuse_circles, refuse_dangling};
use super::{Care, Imported, Source, listed, odd, phases};
use crate::planfile::error::PlanFileError;

/// Dependencies of all tasks together. One on an epic is one on each of its tasks, and that multiplies.
const DEPENDENCIES_MAX: usize = 200_000;
/// An epic in an epic in an epic is seen; a hundred of them is a mistake in somebody's script.
const LEVELS_MAX: usize = 100;

pub(super) fn read(name: &str, text: &str, from: Source, care: Care) -> Result<Imported, PlanFileError> {
    let mut notes = Vec::new();
    let mut issues = issue::all(name, text, care, &mut notes)?;
    // Tombstones count here: an id that comes back after its end is still there twice.
    let names = Names::of(name, issues.iter().map(|issue| (issue.id.as_str(), issue.line)))?;
    bury(&mut issues, &mut notes);
    if care == Care::Strict {
        refuse_dangling(name, &waits_of(&issues))?;
    }
    let_go(&mut issues, &mut notes);
    let forest = Forest::grow(name, &issues)?;
    let depends = forest.depends(name, &issues)?;
    let direct: Waits<'_> = forest
        .tasks()
        .map(|at| &issues[at])
        .map(|issue| {
            let on = depends[issue.id.as_str()].iter().map(|at| issues[*at].id.as_str()).collect();
            (issue.id.as_str(), (issue.line, on))
        })
        .collect();
    refuse_circles(name, &direct)?;
    odd::say(issues.iter().map(|issue| (issue.id.as_str(), issue.odd.as_slice())), &mut notes);
    forest.say(&issues, &mut notes);
    tell(&issues, &names, &mut notes);
    let depends: BTreeMap<String, Vec<String>> = direct
        .iter()
        .map(|(id, (_, on))| ((*id).to_owned(), on.iter().map(|on| (*on).to_owned()).collect()))
        .collect();
    let plan = phases::plan(forest, issues, &names, &depends, from);
    Ok(Imported { plan, from, notes })
}

/// Takes the tombstones out, and what waited for them no longer does.
fn bury(issues: &mut Vec<Issue<'_>>, notes: &mut Vec<String>) {
    let dead: BTreeSet<String> =
        issues.iter().filter(|issue| issue.state == State::Tombstone).map(|issue| issue.id.clone()).collect();
    if dead.is_empty() {
        return;
    }
    issues.retain(|issue| issue.state != State::Tombstone);
    notes.push(format!("Tombstones, left out: {}", listed(&dead.iter().collect::<Vec<_>>())));
    let is_dead = |id: &String| dead.contains(id);
    let mut freed = Vec::new();
    for issue in issues.iter_mut() {
        if issue.blocked_by.iter().any(is_dead) {
            freed.push(issue.id.clone());
        }
        issue.blocked_by.retain(|id| !is_dead(id));
        issue.parent.take_if(|id| is_dead(id));
    }
    if !freed.is_empty() {
        notes.push(format!("Waited for a tombstone, and no longer do: {}", listed(&freed)));
    }
}

/// Takes out waits for what the file does not have. The members that name it stay with the issue.
fn let_go(issues: &mut [Issue<'_>], notes: &mut Vec<String>) {
    let there: BTreeSet<String> = issues.iter().map(|issue| issue.id.clone()).collect();
    let (mut waits, mut parents) = (Vec::new(), Vec::new());
    for issue in issues.iter_mut() {
        let missing = issue.blocked_by.iter().filter(|on| !there.contains(*on));
        waits.extend(missing.map(|on| format!("{} on {}", issue.id, on.escape_debug())));
        issue.blocked_by.retain(|on| there.contains(on));
        let parent = issue.parent.take_if(|parent| !there.contains(parent));
        parents.extend(parent.map(|parent| format!("{} in {}", issue.id, parent.escape_debug())));
    }
    if !waits.is_empty() {
        notes.push(format!("Dependencies on what is not in the file, left out: {}", listed(&waits)));
    }
    if !parents.is_empty() {
        notes.push(format!("Parents that are not in the file, left out: {}", listed(&parents)));
    }
}

fn waits_of<'a>(issues: &'a [Issue<'_>]) -> Waits<'a> {
    let on =
        |issue: &'a Issue<'_>| issue.blocked_by.iter().chain(&issue.parent).map(String::as_str).collect();
    issues.iter().map(|issue| (issue.id.as_str(), (issue.line, on(issue)))).collect()
}

/// Which epics an issue belongs to. Numbers are places in the list of issues.
pub(super) struct Forest {
    /// Epics that are phases, with the tasks that stand in them, in the order of the file.
    pub phases: BTreeMap<usize, Vec<usize>>,
    /// Tasks without an epic.
    pub loose: Vec<usize>,
    /// The epics above each task, nearest first.
    above: BTreeMap<usize, Vec<usize>>,
    /// All tasks below each epic, those of epics inside it too.
    below: BTreeMap<usize, Vec<usize>>,
}

impl Forest {
    fn grow(name: &str, issues: &[Issue<'_>]) -> Result<Self, PlanFileError> {
        let places = places(issues);
        let parents: Vec<Option<usize>> = issues.iter().map(|issue| parent(issue, &places)).collect();
        refuse_family_circles(name, issues, &parents)?;
        let mut is_phase = vec![false; issues.len()];
        parents.iter().flatten().for_each(|parent| is_phase[*parent] = issues[*parent].is_epic);
        let mut forest = Self {
            phases: (0..issues.len()).filter(|at| is_phase[*at]).map(|at| (at, vec![])).collect(),
            loose: vec![],
            above: BTreeMap::new(),
            below: BTreeMap::new(),
        };
        for task in (0..issues.len()).filter(|at| !is_phase[*at]) {
            let line: Vec<usize> =
                std::iter::successors(parents[task], |at| parents[*at]).take(LEVELS_MAX + 1).collect();
            if line.len() > LEVELS_MAX {
                let why = format!("it lies more than {LEVELS_MAX} levels deep below its parents");
                let hint = "Let its parents be fewer; nothing was imported";
                return Err(PlanFileError::at(name, issues[task].line, why, hint));
            }
            let epics: Vec<usize> = line.into_iter().filter(|at| is_phase[*at]).collect();
            match epics.first() {
                Some(epic) => forest.phases.entry(*epic).or_default().push(task),
                None => forest.loose.push(task),
            }
            for epic in &epics {
                forest.below.entry(*epic).or_default().push(task);
            }
            forest.above.insert(task, epics);
        }
        Ok(forest)
    }

    fn tasks(&self) -> impl Iterator<Item = usize> + '_ {
        self.phases.values().flatten().chain(&self.loose).copied()
    }

    /// What each task waits for. An epic that is a phase does no work itself: who waits for it waits for its
    /// tasks, and what it waits for its tasks wait for.
    fn depends<'a>(
        &self,
        name: &str,
        issues: &'a [Issue<'_>],
    ) -> Result<BTreeMap<&'a str, Vec<usize>>, PlanFileError> {
        let places = places(issues);
        let mut all = BTreeMap::new();
        let mut count = 0;
        for at in self.tasks() {
            let own = issues[at].blocked_by.iter();
            let above = self.above.get(&at).into_iter().flatten();
            let inherited = above.flat_map(|epic| &issues[*epic].blocked_by);
            let mut on = Vec::new();
            for wanted in own.chain(inherited).filter_map(|id| places.get(id.as_str())) {
                match self.phases.contains_key(wanted) {
                    true => on.extend(self.below.get(wanted).into_iter().flatten()),
                    false => on.push(*wanted),
                }
                if count + on.len() > DEPENDENCIES_MAX {
                    let why = format!(
                        "there are more than {DEPENDENCIES_MAX} dependencies, those on epics counted for each of their tasks"
                    );
                    let hint = "Let tasks depend on the last tasks of an epic instead of the epic; nothing was imported";
                    return Err(PlanFileError::at(name, issues[at].line, why, hint));
                }
            }
            let mut seen = BTreeSet::new();
            on.retain(|at| seen.insert(*at));
            count += on.len();
            all.insert(issues[at].id.as_str(), on);
        }
        Ok(all)
    }

    fn say(&self, issues: &[Issue<'_>], notes: &mut Vec<String>) {
        let held = |at: &&usize| matches!(issues[**at].state, State::Blocked | State::Deferred);
        let held: Vec<&str> = self.phases.keys().filter(held).map(|at| issues[*at].id.as_str()).collect();
        if !held.is_empty() {
            let words = "Epics that are blocked or deferred there; their tasks are taken over as they are";
            notes.push(format!("{words}: {}", listed(&held)));
        }
        let epics: BTreeSet<&str> = self.phases.keys().map(|epic| issues[*epic].id.as_str()).collect();
        let is_phase = |id: &str| epics.contains(id);
        let through: Vec<&str> = issues
            .iter()
            .filter(|issue| {
                issue.blocked_by.iter().any(|id| is_phase(id))
                    || (is_phase(&issue.id) && !issue.blocked_by.is_empty())
            })
            .map(|issue| issue.id.as_str())
            .collect();
        if !through.is_empty() {
            notes.push(format!(
                "Dependencies on or of an epic hold for each of its tasks: {}",
                listed(&through)
            ));
        }
    }
}

fn places<'a>(issues: &'a [Issue<'_>]) -> BTreeMap<&'a str, usize> {
    issues.iter().enumerate().map(|(at, issue)| (issue.id.as_str(), at)).collect()
}

fn refuse_family_circles(
    name: &str,
    issues: &[Issue<'_>],
    parents: &[Option<usize>],
) -> Result<(), PlanFileError> {
    let families: Waits<'_> = issues
        .iter()
        .zip(parents)
        .map(|(issue, parent)| {
            let parent = parent.iter().map(|at| issues[*at].id.as_str()).collect();
            (issue.id.as_str(), (issue.line, parent))
        })
        .collect();
    refuse_circles(name, &families).map_err(|error| {
        let why =
            error.why.replace("dependencies form", "parents form").replace("waits for", "is a child of");
        PlanFileError { why, ..error }
    })
}

/// The parent that is named, or the one in the id: `bd-a1.2` is a child of `bd-a1`.
fn parent(issue: &Issue<'_>, places: &BTreeMap<&str, usize>) -> Option<usize> {
    let named = issue.parent.as_deref().or_else(|| {
        let (before, number) = issue.id.rsplit_once('.')?;
        number.bytes().all(|b| b.is_ascii_digit()).then_some(before)
    })?;
    places.get(named).copied()
}

fn tell(issues: &[Issue<'_>], names: &Names, notes: &mut Vec<String>) {
    let under_way: Vec<&str> = issues
        .iter()
        .filter(|issue| issue.state == State::InProgress)
        .map(|issue| issue.id.as_str())
        .collect();
    if !under_way.is_empty() {
        notes.push(format!("In progress there, to be started here: {}", listed(&under_way)));
    }
    let changed = names.changed();
    if !changed.is_empty() {
        notes.push(format!("Ids that could not stay: {}", listed(&changed)));
    }
}
