//! Arrows between the modules of a crate: a circle of two concerns is refused, and those that stay are named with
//! their reason.

use std::collections::{BTreeMap, BTreeSet};

use super::{Findings, Sources};
use crate::source::{self, Keep};

/// Circles that stay: the crate, its modules, and why they are one thing in several files.
const KNOWN: &[(&str, &[&str], &str)] = &[
    (
        "swarm-agents",
        &["acp", "claude", "codex", "gemini", "invocation", "opencode", "plain"],
        "the table of adapters names each adapter, and each adapter fills in its row",
    ),
    ("swarm-cli", &["error", "output"], "an error is printed, and printing can fail"),
    (
        "swarm-cli",
        &["cli", "commands", "complete"],
        "the tree of commands is what its commands complete and print",
    ),
    (
        "swarm-git",
        &[
            "barrier",
            "call",
            "commits",
            "filters",
            "guard",
            "marker",
            "private_index",
            "ref_files",
            "refs",
            "traced",
        ],
        "the handle of a repository carries its guard, its barrier and the walls around its filters, which call git through it",
    ),
    ("swarm-ledger", &["appender", "copy", "quarantine"], "a ledger and its copy repair each other"),
    (
        "swarm-ledger",
        &["missing", "recover", "recovered", "repair", "scan"],
        "one recovery, cut by what it looks at",
    ),
    (
        "swarm-process",
        &["bound", "containment", "launcher", "run"],
        "a child is started through the launcher, which is a child itself",
    ),
    ("swarm-protocol", &["event", "record"], "a record is an event on a line"),
    ("swarm-server", &["api_state", "fault"], "a fault says what of the state stands in the way"),
    (
        "swarm-work",
        &[
            "approval",
            "build",
            "hand_in",
            "merge_tree",
            "operation",
            "prove",
            "publish",
            "regenerate",
            "remove",
            "rescue",
            "resolve",
            "shared_tree",
            "worktree",
        ],
        "what is removed is rescued first, what an agent left is handed in before its worktree is used again, and an operation removes, brings back and settles conflicts as a merge does; a merge is built of what was approved and saves what was changed since",
    ),
];

type Arrows = BTreeMap<String, BTreeSet<String>>;

pub fn check(sources: &Sources) -> Findings {
    let mut findings = Findings::default();
    let mut crates: BTreeMap<&str, Arrows> = BTreeMap::new();
    for (path, text) in sources.iter().filter(|(path, _)| !source::is_test_file(path)) {
        let Some((name, modules)) = place(path) else { continue };
        let code = source::blanked(source::shipped(text), Keep::CodeOnly);
        let arrows = crates.entry(name).or_default();
        arrows.entry(modules[0].to_owned()).or_default().extend(named(&code, &modules));
    }
    for (name, arrows) in &crates {
        for circle in circles(arrows) {
            let words: Vec<&str> = circle.iter().map(String::as_str).collect();
            if !KNOWN.iter().any(|(of, modules, _)| of == name && *modules == words.as_slice()) {
                findings.fail(format!(
                    "{name}: {} need each other; give what both need a place of its own, or name the circle with \
                     its reason in xtask/src/check/circles.rs",
                    words.join(", ")
                ));
            }
        }
    }
    for (name, modules, _) in KNOWN {
        let there = crates.get(name).map(circles).unwrap_or_default();
        if !there.iter().any(|circle| circle.iter().map(String::as_str).eq(modules.iter().copied())) {
            findings.fail(format!(
                "{name}: {} are no circle any more; take them off the list",
                modules.join(", ")
            ));
        }
    }
    findings
}

/// The circles that stay, one line each.
pub fn known() -> impl Iterator<Item = String> {
    KNOWN.iter().map(|(name, modules, why)| format!("{name}: {}: {why}", modules.join(", ")))
}

/// The crate of a file, and the path of its module; none for the root of a crate.
fn place(path: &str) -> Option<(&str, Vec<&str>)> {
    let rest = path.strip_prefix("crates/")?;
    let (name, file) = rest.split_once("/src/")?;
    let modules: Vec<&str> = file.strip_suffix(".rs")?.split('/').collect();
    (!["lib", "main"].contains(&modules[0])).then_some((name, modules))
}

/// Modules at the root of the crate that this code names.
fn named(code: &str, modules: &[&str]) -> BTreeSet<String> {
    let to_root = "super::".repeat(modules.len());
    let mut found = BTreeSet::new();
    for prefix in ["crate::", to_root.as_str()] {
        for (at, _) in code.match_indices(prefix) {
            let before = code[..at].chars().next_back();
            if before.is_some_and(|c| c.is_alphanumeric() || c == '_' || c == ':') {
                continue;
            }
            found.extend(first_names(&code[at + prefix.len()..]));
        }
    }
    found.remove(modules[0]);
    found
}

/// `state::State` names `state`; `{state::State, step}` names both.
fn first_names(rest: &str) -> Vec<String> {
    let word =
        |text: &str| text.trim().chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect::<String>();
    let Some(list) = rest.strip_prefix('{') else { return vec![word(rest)] };
    let (mut depth, mut names, mut from) = (0_usize, Vec::new(), 0);
    for (at, c) in list.char_indices() {
        match c {
            '{' => depth += 1,
            '}' if depth == 0 => {
                names.push(word(&list[from..at]));
                break;
            }
            '}' => depth -= 1,
            ',' if depth == 0 => {
                names.push(word(&list[from..at]));
                from = at + 1;
            }
            _ => {}
        }
    }
    names
}

/// Groups of modules that all reach each other.
fn circles(arrows: &Arrows) -> Vec<BTreeSet<String>> {
    let reach: BTreeMap<&String, BTreeSet<&String>> =
        arrows.keys().map(|from| (from, reached(arrows, from))).collect();
    let mut groups: Vec<BTreeSet<String>> = Vec::new();
    for (from, to) in &reach {
        let group: BTreeSet<String> =
            to.iter().filter(|other| reach[**other].contains(*from)).map(|other| (*other).clone()).collect();
        if group.len() > 1 && !groups.contains(&group) {
            groups.push(group);
        }
    }
    groups
}

fn reached<'a>(arrows: &'a Arrows, from: &'a String) -> BTreeSet<&'a String> {
    let (mut seen, mut next) = (BTreeSet::new(), vec![from]);
    while let Some(module) = next.pop() {
        for (other, _) in
            arrows.get(module).into_iter().flatten().filter_map(|name| arrows.get_key_value(name))
        {
            if seen.insert(other) {
                next.push(other);
            }
        }
    }
    seen
}

#[cfg(test)]
mod tests {
    use super::{Arrows, circles, first_names, named};

    #[test]
    fn a_module_is_named_by_its_first_word() {
        assert_eq!(first_names("state::State;"), ["state"]);
        assert_eq!(first_names("{state::{A, B}, step};"), ["state", "step"]);
        let code = "use crate::state::State; use super::super::show; use super::near;";
        let found: Vec<String> = named(code, &["react", "task"]).into_iter().collect();
        assert_eq!(found, ["show", "state"]);
    }

    #[test]
    fn a_circle_is_found_whatever_its_length_and_a_chain_is_none() {
        let arrows = |all: &[(&str, &[&str])]| -> Arrows {
            all.iter().map(|(from, to)| ((*from).into(), to.iter().map(|n| (*n).into()).collect())).collect()
        };
        assert!(circles(&arrows(&[("a", &["b"]), ("b", &["c"]), ("c", &[])])).is_empty());
        let found = circles(&arrows(&[("a", &["b"]), ("b", &["c"]), ("c", &["a"]), ("d", &["a"])]));
        assert_eq!(found.len(), 1);
        assert_eq!(found[0].iter().collect::<Vec<_>>(), ["a", "b", "c"]);
    }
}
