//! The plan that issues make: a phase for each epic with children, and one for the rest.

use std::collections::BTreeMap;

use super::forest::Forest;
use super::issue::{Issue, State};
use super::members::{OF_A_PHASE, OF_A_TASK};
use super::names::Names;
use super::{Source, keep_old_id, listed};
use crate::plan::{Extra, PhaseFile, PlanFile, TaskFile, TaskSpec};

pub(super) fn plan(
    forest: Forest,
    issues: Vec<Issue<'_>>,
    names: &Names,
    depends: &BTreeMap<String, Vec<String>>,
    from: Source,
) -> PlanFile {
    let mut epics = forest.phases.keys();
    let goal = match (epics.next(), epics.next(), forest.loose.is_empty()) {
        (Some(epic), None, true) => issues[*epic].title.clone(),
        _ => format!("Issues from {from}"),
    };
    let mut issues: Vec<Option<Issue<'_>>> = issues.into_iter().map(Some).collect();
    let mut phases = Vec::new();
    let tasks_of = |places: &[usize], issues: &mut Vec<Option<Issue<'_>>>| -> Vec<TaskFile> {
        let taken = places.iter().filter_map(|at| issues[*at].take());
        taken.map(|issue| task(issue, names, depends, from)).collect()
    };
    for (epic, places) in &forest.phases {
        let tasks = tasks_of(places, &mut issues);
        let id = phases.len() as u32 + 1;
        phases.extend(issues[*epic].take().map(|epic| phase(id, epic, tasks, from)));
    }
    if !forest.loose.is_empty() {
        let name = if phases.is_empty() { "" } else { "Without an epic" };
        let tasks = tasks_of(&forest.loose, &mut issues);
        phases.push(PhaseFile { id: phases.len() as u32 + 1, name: name.into(), tasks, extra: Extra::new() });
    }
    PlanFile { goal, phases, execution_profile: None, extra: Extra::new() }
}

fn phase(id: u32, epic: Issue<'_>, tasks: Vec<TaskFile>, from: Source) -> PhaseFile {
    let name = format!("{} ({})", epic.title, epic.id);
    let mut extra = epic.rest.rest(from.word(), OF_A_PHASE);
    let texts = [("description", epic.description), ("acceptance_criteria", epic.acceptance.join("\n"))];
    extra.extend(
        texts.into_iter().filter(|(_, text)| !text.is_empty()).map(|(key, text)| (key.into(), text.into())),
    );
    if !epic.labels.is_empty() {
        extra.insert("labels".into(), epic.labels.into());
    }
    extra.extend(epic.priority.map(|priority| ("priority".into(), priority.into())));
    extra.entry("status".into()).or_insert_with(|| epic.state.word().into());
    extra.insert("imported_id".into(), epic.id.into());
    PhaseFile { id, name, tasks, extra }
}

fn task(issue: Issue<'_>, names: &Names, depends: &BTreeMap<String, Vec<String>>, from: Source) -> TaskFile {
    let id = names.get(&issue.id).cloned().expect("every issue was named");
    let on = depends.get(&issue.id).map(Vec::as_slice).unwrap_or_default();
    let mut extra = issue.rest.rest(from.word(), OF_A_TASK);
    if issue.state == State::Blocked {
        let why = if on.is_empty() {
            format!("blocked in {from}")
        } else {
            format!("blocked in {from}, where it waits for {}", listed(on))
        };
        extra.entry("blocked_reason".into()).or_insert_with(|| why.into());
    }
    let mut spec = TaskSpec::new(id.clone(), issue.title);
    (spec.description, spec.acceptance, spec.tags) = (issue.description, issue.acceptance, issue.labels);
    (spec.priority, spec.extra) = (issue.priority, extra);
    spec.depends = on.iter().filter_map(|old| names.get(old).cloned()).collect();
    let mut file = TaskFile { status: issue.state.status(), ..TaskFile::from(spec) };
    keep_old_id(&mut file, id, &issue.id, from);
    file
}
