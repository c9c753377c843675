//! Whether what the swarm says is true, asked of git and of the files alone.
//!
//! The swarm is asked for its claims and for nothing else: which tasks are done, on which branch, and what waits for a
//! person. What it should have done is known by content: a script says what its agent writes (`wanted.rs`), and an agent or
//! a person may leave marks (`marks.rs`). Where the content is now is what git and the folders say (`found.rs`).
//!
//! It is asked at rest, after the swarm has gone on to its end: right after an operation every stage and every ref may be as
//! it should, and the next run may still call something done that is not there.

pub mod claims;
pub mod found;
pub mod marks;
pub mod rest;
pub mod wanted;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::Ordering;
use std::time::Duration;

use super::{Arena, holds_within};
use claims::{Claim, Claims};
use found::{Trunk, found_marks};
use marks::made_by_agents;
use rest::{go_on, go_on_within};

/// What the one who plays knows, and the oracle cannot.
#[derive(Debug, Clone)]
pub struct Known {
    /// Where work belongs.
    pub trunk: String,
    /// Marks of people: in commits, files, stashes.
    pub of_people: BTreeSet<String>,
    /// Marks that a person threw away with his own hands.
    pub thrown_away: BTreeSet<String>,
    /// Branches of people, and where they left them.
    pub branches: BTreeMap<String, String>,
    /// Tasks that a person merged as they were, before their agents were ready.
    pub merged_early: BTreeSet<String>,
}

impl Default for Known {
    fn default() -> Self {
        Self {
            trunk: "main".into(),
            of_people: BTreeSet::new(),
            thrown_away: BTreeSet::new(),
            branches: BTreeMap::new(),
            merged_early: BTreeSet::new(),
        }
    }
}

/// Whatever has not come to rest by then (an agent that never ends, a program that is not there) is judged as it stands.
const REST_WITHIN: Duration = Duration::from_secs(20);

/// For processes that are on their way out.
const ENDS_WITHIN: Duration = Duration::from_secs(20);

impl Arena {
    /// Lets the swarm go on to rest, and asks whether what it says then is true.
    #[track_caller]
    pub fn assert_true_at_rest(&self) {
        self.assert_true_at_rest_but(&Known::default());
    }

    #[track_caller]
    pub fn assert_true_at_rest_but(&self, known: &Known) {
        let rested = go_on(self);
        assert!(rested.wrong.is_empty(), "{}\n{}", rested.wrong.join("\n"), rested.said);
        let lies = judge_at_rest(self, known);
        assert!(lies.is_empty(), "{}\n--- the swarm had said:\n{}", lies.join("\n"), rested.said);
    }

    /// The same about things as they stand.
    #[track_caller]
    pub fn assert_true(&self) {
        self.assert_true_on("main");
    }

    #[track_caller]
    pub fn assert_true_on(&self, trunk: &str) {
        let lies = judge(self, &Known { trunk: trunk.into(), ..Known::default() });
        assert!(lies.is_empty(), "{}", lies.join("\n"));
    }
}

/// For a trial that has not asked by itself, after the swarm has gone on to rest. Where the swarm does not answer, or there
/// is no plan, that was its point.
pub fn judge_at_the_end(arena: &Arena) {
    let answers = |args: &[&str]| arena.swarm(args).status.success();
    if !arena.root.join(".swarm/plan-ledger.jsonl").exists() || !answers(&["status", "--json"]) {
        return;
    }
    let claims = Claims::of(arena);
    let scripts: Vec<&str> = claims.tasks.iter().map(|claim| claim.script.as_str()).collect();
    let known = Known { trunk: claims.trunk.clone().unwrap_or_else(|| "main".into()), ..Known::default() };
    rest::let_go(arena, &scripts);
    rest::give_up_soon(arena);
    let rested = go_on_within(arena, REST_WITHIN, 2);
    assert!(!rested.misused, "nothing has gone on: {}", rested.said);
    let lies = judge(arena, &known);
    assert!(lies.is_empty(), "{}\n--- the swarm had said:\n{}", lies.join("\n"), rested.said);
}

/// The same of a swarm that has gone on to rest: what is open then waits for somebody who is told.
pub fn judge_at_rest(arena: &Arena, known: &Known) -> Vec<String> {
    let mut lies = judge(arena, known);
    arena.judged.store(true, Ordering::Relaxed);
    nothing_is_stuck_silently(&Claims::of(arena), &mut lies);
    let gone = holds_within(ENDS_WITHIN, || arena.processes().is_empty());
    if !gone {
        lies.push(format!("processes are left: {:?}", arena.processes()));
    }
    lies
}

/// Everything that is not as it is said to be; nothing: all is well.
pub fn judge(arena: &Arena, known: &Known) -> Vec<String> {
    let mut lies = Vec::new();
    let claims = Claims::of(arena);
    // With nothing open it is at rest.
    if claims.tasks.iter().all(|claim| !claim.is_open()) {
        arena.judged.store(true, Ordering::Relaxed);
    }
    if let Some(trunk) = claims.trunk.as_deref().filter(|trunk| *trunk != known.trunk) {
        lies.push(format!("trunk is {}, and the swarm says {trunk}", known.trunk));
    }
    let trunk = Trunk::of(arena, &known.trunk);
    for claim in claims.tasks.iter().filter(|claim| claim.is_done()) {
        done_is_true(claim, &claims, &trunk, known, &mut lies);
    }
    nothing_is_lost(arena, known, &mut lies);
    for phase in claims.phases.iter().filter(|phase| phase.complete && !phase.all_closed) {
        lies.push(format!("phase {} is called complete, and has open tasks", phase.id));
    }
    for (branch, left_at) in &known.branches {
        let now = arena.git(&["rev-parse", branch]);
        if now.trim() != left_at {
            lies.push(format!("{branch} is a person's, who left it at {left_at}; it is at {}", now.trim()));
        }
    }
    let fsck = found::fsck(arena);
    if !fsck.is_empty() {
        lies.push(format!("git fsck: {fsck}"));
    }
    lies
}

/// What its agent wrote is on trunk, or somebody changed it later; what is shown as its proof is there.
fn done_is_true(claim: &Claim, all: &Claims, trunk: &Trunk, known: &Known, lies: &mut Vec<String>) {
    let id = &claim.id;
    for commit in claim.proof.iter().chain(&claim.proven_at).filter(|commit| !trunk.has_commit(commit)) {
        lies.push(format!("{id} is done, and its proof {commit} is not on {}", trunk.name));
    }
    // The parts have their own scripts.
    if known.merged_early.contains(id) || all.is_split(id) {
        return;
    }
    for (path, line) in &wanted::at_the_end(&claim.script, claim.starts) {
        let others = |subject: &str| all.wrote_as_another(id, path, subject);
        if let Err(why) = trunk.has_or_had(path, line, others) {
            lies.push(format!("{id} is done, and {path} with {line:?}: {why}"));
        }
    }
}

/// Whatever an agent or a person ever wrote can still be found.
fn nothing_is_lost(arena: &Arena, known: &Known, lies: &mut Vec<String>) {
    let found = found_marks(arena);
    for mark in made_by_agents(arena).difference(&known.thrown_away) {
        if !found.contains(mark) {
            lies.push(format!("lost: {mark}, which an agent made"));
        }
    }
    for mark in known.of_people.difference(&known.thrown_away) {
        if !found.contains(mark) {
            lies.push(format!("lost: {mark}, which a person made"));
        }
    }
}

/// What is not at its end waits for a person, who is told, or for something that does.
fn nothing_is_stuck_silently(claims: &Claims, lies: &mut Vec<String>) {
    if claims.waits_as_a_whole {
        return;
    }
    for claim in claims.tasks.iter().filter(|claim| claim.is_open()) {
        if !claims.is_named(&claim.id, &mut BTreeSet::new()) {
            let (id, status) = (&claim.id, &claim.status);
            lies.push(format!("{id} is {status}, and nothing waits for a person: {}", claims.attention));
        }
    }
}
