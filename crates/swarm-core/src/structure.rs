//! The structure of a plan: its graph, and the difference between two forms of a task.

use std::collections::{BTreeMap, BTreeSet};

use swarm_protocol::ids::TaskId;
use swarm_protocol::near;
use swarm_protocol::plan::{TaskPatch, TaskSpec};
use swarm_protocol::refusal::Refusal;

/// Every dependency exists in the graph, and none leads back to its start.
pub(crate) fn graph(edges: &BTreeMap<&TaskId, &[TaskId]>) -> Result<(), Refusal> {
    for (task, depends) in edges {
        if let Some(missing) = depends.iter().find(|d| !edges.contains_key(*d)) {
            return Err(Refusal::UnknownDependency {
                task: (*task).clone(),
                depends: missing.to_string(),
                near: nearest(missing.as_str(), edges.keys().copied()),
            });
        }
    }
    circle(edges).map_or(Ok(()), |path| Err(Refusal::Cycle { path }))
}

/// A circle of dependencies, if there is one. An explicit stack: a chain may be ten thousand long.
pub(crate) fn circle(edges: &BTreeMap<&TaskId, &[TaskId]>) -> Option<Vec<TaskId>> {
    let mut finished: BTreeSet<&TaskId> = BTreeSet::new();
    for start in edges.keys() {
        let mut path: Vec<(&TaskId, usize)> = vec![(start, 0)];
        let mut on_path: BTreeSet<&TaskId> = BTreeSet::from([*start]);
        while let Some((node, next)) = path.last_mut() {
            if finished.contains(*node) {
                on_path.remove(*node);
                path.pop();
                continue;
            }
            let depends = edges.get(*node).copied().unwrap_or_default();
            let Some(child) = depends.get(*next) else {
                finished.insert(node);
                on_path.remove(*node);
                path.pop();
                continue;
            };
            *next += 1;
            if on_path.contains(child) {
                let from = path.iter().position(|(n, _)| *n == child).unwrap_or(0);
                return Some(path[from..].iter().map(|(n, _)| (*n).clone()).collect());
            }
            if !finished.contains(child) {
                on_path.insert(child);
                path.push((child, 0));
            }
        }
    }
    None
}

/// The task that was probably meant.
pub(crate) fn nearest<'a>(text: &str, names: impl Iterator<Item = &'a TaskId>) -> Option<TaskId> {
    TaskId::new(near::nearest(text, names.map(TaskId::as_str))?).ok()
}

/// What turns one form of a task into the other.
pub(crate) fn patch_between(old: &TaskSpec, new: &TaskSpec) -> TaskPatch {
    fn changed<T: PartialEq + Clone>(old: &T, new: &T) -> Option<T> {
        (old != new).then(|| new.clone())
    }
    TaskPatch {
        title: changed(&old.title, &new.title),
        description: changed(&old.description, &new.description),
        depends: changed(&old.depends, &new.depends),
        acceptance: changed(&old.acceptance, &new.acceptance),
        files: changed(&old.files, &new.files),
        reserve: changed(&old.reserve, &new.reserve),
        share: changed(&old.share, &new.share),
        tags: changed(&old.tags, &new.tags),
        size: changed(&old.size, &new.size),
        priority: changed(&old.priority, &new.priority),
        profile: changed(&old.profile, &new.profile),
        isolation: changed(&old.isolation, &new.isolation),
        review: changed(&old.review, &new.review),
        allow_empty: changed(&old.allow_empty, &new.allow_empty),
        extra: changed(&old.extra, &new.extra),
    }
}

/// The task in its new form.
pub(crate) fn patch_spec(spec: &mut TaskSpec, patch: &TaskPatch) {
    let p = patch.clone();
    if let Some(v) = p.title {
        spec.title = v
    }
    if let Some(v) = p.description {
        spec.description = v
    }
    if let Some(v) = p.depends {
        spec.depends = v
    }
    if let Some(v) = p.acceptance {
        spec.acceptance = v
    }
    if let Some(v) = p.files {
        spec.files = v
    }
    if let Some(v) = p.reserve {
        spec.reserve = v
    }
    if let Some(v) = p.share {
        spec.share = v
    }
    if let Some(v) = p.tags {
        spec.tags = v
    }
    if let Some(v) = p.size {
        spec.size = v
    }
    if let Some(v) = p.priority {
        spec.priority = v
    }
    if let Some(v) = p.profile {
        spec.profile = v
    }
    if let Some(v) = p.isolation {
        spec.isolation = v
    }
    if let Some(v) = p.review {
        spec.review = v
    }
    if let Some(v) = p.allow_empty {
        spec.allow_empty = v
    }
    if let Some(v) = p.extra {
        spec.extra = v
    }
}
