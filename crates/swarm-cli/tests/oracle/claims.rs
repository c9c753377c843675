//! What the swarm says.

use std::collections::BTreeSet;

use serde_json::Value;

use super::super::Arena;
use super::wanted;

pub struct Claims {
    pub trunk: Option<String>,
    pub tasks: Vec<Claim>,
    pub phases: Vec<Phase>,
    pub attention: String,
    /// Paused, or nobody has given the word to start.
    pub waits_as_a_whole: bool,
}

/// One task, as it is shown.
pub struct Claim {
    pub id: String,
    pub status: String,
    /// How often its script was begun: attempts, and those that were gone on with.
    pub starts: u64,
    pub depends: Vec<String>,
    pub script: String,
    /// The commits that are its work.
    pub proof: Vec<String>,
    /// Where trunk was when they were all there.
    pub proven_at: Option<String>,
    pub says_nothing_changed: bool,
    pub shown: String,
}

pub struct Phase {
    pub id: String,
    pub complete: bool,
    pub all_closed: bool,
}

impl Claim {
    fn of(arena: &Arena, listed: &Value) -> Self {
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let number = |name: &str| listed[name].as_u64().unwrap_or_default();
        let id = text(&listed["id"]);
        let shown = arena.json(&["task", "show", &id]);
        let proof = &shown["proof"];
        let commits = proof["commits"].as_array().into_iter().flatten();
        let depends = listed["depends"].as_array().into_iter().flatten();
        Self {
            status: text(&listed["status"]),
            starts: number("attempts") + number("restarts"),
            depends: depends.map(text).collect(),
            script: wanted::script_in(shown["description"].as_str().unwrap_or_default()),
            proof: commits.filter_map(|commit| commit.as_str().map(str::to_owned)).collect(),
            says_nothing_changed: shown.to_string().contains("nothing changed"),
            proven_at: proof["commit"].as_str().map(str::to_owned),
            shown: format!("{}, {}", shown["stage"], shown["proof"]),
            id,
        }
    }

    pub fn is_done(&self) -> bool {
        self.status == "done"
    }

    pub fn is_open(&self) -> bool {
        !["done", "cancelled", "deferred"].contains(&self.status.as_str())
    }
}

impl Claims {
    pub fn of(arena: &Arena) -> Self {
        let status = arena.json(&["status"]);
        let listed = arena.tasks();
        let tasks: Vec<Claim> = listed.iter().map(|listed| Claim::of(arena, listed)).collect();
        let is_closed = |task: &Value| task["status"] == "done" || task["status"] == "cancelled";
        let phase = |phase: &Value| Phase {
            id: phase["id"].to_string(),
            complete: phase["complete"] == true,
            all_closed: listed.iter().filter(|task| task["phase"] == phase["id"]).all(is_closed),
        };
        let phases = status["phases"].as_array().into_iter().flatten().map(phase).collect();
        let paused = status["paused"].as_array().is_some_and(|reasons| !reasons.is_empty());
        Self {
            trunk: status["trunk"].as_str().map(str::to_owned),
            tasks,
            phases,
            attention: status["attention"].to_string(),
            waits_as_a_whole: paused || status["mode"] != "autopilot",
        }
    }

    /// A line for a person names it, or something that it waits for.
    pub fn is_named(&self, id: &str, seen: &mut BTreeSet<String>) -> bool {
        if !seen.insert(id.to_owned()) {
            return false;
        }
        let whole = |text: &str| {
            text.split(|c: char| !".-".contains(c) && !c.is_alphanumeric())
                .any(|word| word.trim_end_matches('.') == id)
        };
        let Some(claim) = self.tasks.iter().find(|claim| claim.id == id) else { return false };
        // What was put off on purpose needs no line.
        ["deferred", "cancelled"].contains(&claim.status.as_str())
            || whole(&self.attention)
            || claim.depends.iter().any(|other| self.is_open_or_put_off(other) && self.is_named(other, seen))
            // It waits for its parts.
            || self.parts_of(id).any(|part| self.is_open_or_put_off(part) && self.is_named(part, seen))
    }

    fn is_open_or_put_off(&self, id: &str) -> bool {
        self.tasks.iter().any(|claim| claim.id == id && !claim.is_done())
    }

    /// Its parts are named after it.
    pub fn is_split(&self, id: &str) -> bool {
        self.parts_of(id).next().is_some()
    }

    fn parts_of<'a>(&'a self, id: &'a str) -> impl Iterator<Item = &'a str> {
        let ids = self.tasks.iter().map(|claim| claim.id.as_str());
        ids.filter(move |part| part.strip_prefix(id).is_some_and(|rest| rest.starts_with('-')))
    }

    /// Whether a commit of this subject is of another task whose script changes this file.
    pub fn wrote_as_another(&self, id: &str, path: &str, subject: &str) -> bool {
        let others = self.tasks.iter().filter(|claim| claim.id != id);
        others.into_iter().any(|claim| {
            wanted::changes(&claim.script, path)
                && (subject.contains(&claim.id) || wanted::commits_as(&claim.script, subject))
        })
    }
}
