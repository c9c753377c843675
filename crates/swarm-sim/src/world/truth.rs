//! What is really so: commits, branches, worktrees, trunk and the person's checkout. The oracle
//! judges the swarm by this and not by what the swarm believes.

use std::collections::{BTreeMap, BTreeSet};

use swarm_core::effect::StartsFrom;
use swarm_protocol::council::Voice;
use swarm_protocol::event::Proof;
use swarm_protocol::ids::{CommandId, Oid, RunId, TaskId};
use swarm_protocol::operation::Landed;
use swarm_protocol::time::Timestamp;

use super::reserving;

/// The branch that is checked out when the story begins, and the one that a person may go to.
pub const FIRST_BRANCH: &str = "main";
const OTHER_BRANCH: &str = "other";

/// A commit as it stands on trunk.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OnTrunk {
    pub oid: Oid,
    /// The commit of a task's branch it was built from; none for a person's own.
    pub source: Option<Oid>,
}

/// Merged commits in the object database that no branch names yet.
#[derive(Debug, Clone)]
pub struct Built {
    pub base: Oid,
    pub tip: Oid,
    pub commits: Vec<OnTrunk>,
}

#[derive(Debug, Clone)]
pub struct Worktree {
    pub base: Oid,
    pub tip: Oid,
    pub dirty: bool,
}

/// A branch of the person's repository that work may be merged into.
#[derive(Debug, Clone, Default)]
struct Branch {
    commits: Vec<OnTrunk>,
    has: BTreeSet<Oid>,
    sources: BTreeSet<Oid>,
    /// Where a person broke it, until one mends it.
    red_from: Option<Oid>,
}

#[derive(Debug)]
pub struct Truth {
    oids: u64,
    /// Nobody touches a protected file.
    pub harmless: bool,
    parents: BTreeMap<Oid, Oid>,
    pub worktrees: BTreeMap<TaskId, Worktree>,
    pub built: BTreeMap<Oid, Built>,
    /// The branch that the swarm merges into now, and its name.
    trunk: Branch,
    trunk_name: String,
    /// The others, by name.
    others: BTreeMap<String, Branch>,
    /// The branch of the person's checkout. Nothing of the swarm's follows from it.
    pub checked_out: String,
    /// All that ever were on a trunk, also those that a person reset away.
    ever_on_trunk: BTreeSet<Oid>,
    /// What each merged commit was built from.
    source_of: BTreeMap<Oid, Oid>,
    /// A person is in the middle of something in the checkout of trunk.
    pub checkout_busy: bool,
    /// Runs whose work cannot be saved until faults stop.
    pub unsaved: BTreeSet<RunId>,
    /// Tips whose checks were really green.
    pub green_tips: BTreeSet<Oid>,
    /// Merged commits whose verification was really green.
    pub green_results: BTreeSet<Oid>,
    /// Merged commits that a rule had a part in.
    pub by_rule: BTreeSet<Oid>,
    /// Tips with a trunk merged into them, by both.
    joined: BTreeMap<(Oid, Oid), Oid>,
    /// Tips whose review was really passed.
    pub reviewed_tips: BTreeSet<Oid>,
    /// What each member of the council said last about a tip.
    pub voices: BTreeMap<Oid, BTreeMap<String, Voice>>,
    /// Allowances that are used up, and until when.
    pub used_up: BTreeMap<String, Timestamp>,
    /// Messages that the prompts of a run contained.
    pub told: BTreeMap<RunId, BTreeSet<CommandId>>,
}

impl Truth {
    pub fn new() -> Self {
        let mut truth = Self {
            oids: 0,
            harmless: false,
            parents: BTreeMap::new(),
            worktrees: BTreeMap::new(),
            built: BTreeMap::new(),
            trunk: Branch::default(),
            trunk_name: FIRST_BRANCH.into(),
            others: BTreeMap::new(),
            checked_out: FIRST_BRANCH.into(),
            ever_on_trunk: BTreeSet::new(),
            source_of: BTreeMap::new(),
            checkout_busy: false,
            unsaved: BTreeSet::new(),
            green_tips: BTreeSet::new(),
            green_results: BTreeSet::new(),
            by_rule: BTreeSet::new(),
            joined: BTreeMap::new(),
            reviewed_tips: BTreeSet::new(),
            voices: BTreeMap::new(),
            used_up: BTreeMap::new(),
            told: BTreeMap::new(),
        };
        truth.person_commits();
        truth.others.insert(OTHER_BRANCH.into(), truth.trunk.clone());
        truth
    }

    /// The person checks out the other branch, or the first one again.
    pub fn person_checks_out(&mut self) {
        let other = if self.checked_out == FIRST_BRANCH { OTHER_BRANCH } else { FIRST_BRANCH };
        self.checked_out = other.into();
    }

    /// A coordinator merges into this branch from here on.
    pub fn works_on(&mut self, name: &str) {
        if name != self.trunk_name {
            let next = self.others.remove(name).unwrap_or_default();
            let last = std::mem::replace(&mut self.trunk, next);
            self.others.insert(std::mem::replace(&mut self.trunk_name, name.into()), last);
        }
    }

    pub fn trunk_name(&self) -> &str {
        &self.trunk_name
    }

    /// Whether the branch of this name has the commit.
    pub fn branch_has(&self, name: &str, oid: &Oid) -> bool {
        let branch = if name == self.trunk_name { Some(&self.trunk) } else { self.others.get(name) };
        branch.is_some_and(|branch| branch.has.contains(oid))
    }

    pub fn new_oid(&mut self) -> Oid {
        self.oids += 1;
        Oid::new(format!("{:040x}", self.oids)).expect("forty hex digits")
    }

    pub fn trunk_tip(&self) -> Oid {
        self.trunk.commits.last().expect("a repository has a first commit").oid.clone()
    }

    pub fn person_commits(&mut self) {
        let oid = self.new_oid();
        self.trunk.has.insert(oid.clone());
        self.trunk.commits.push(OnTrunk { oid, source: None });
    }

    /// A person commits something that breaks the verification of everything on top of it.
    pub fn person_breaks_trunk(&mut self) {
        self.person_commits();
        self.trunk.red_from = Some(self.trunk_tip());
    }

    pub fn trunk_is_red(&self) -> bool {
        self.trunk.red_from.is_some()
    }

    /// A person repairs trunk, by one more commit.
    pub fn person_mends_trunk(&mut self) {
        self.trunk.red_from = None;
        self.person_commits();
    }

    /// Whether the commit's tree holds what broke trunk. What was built before stays as it was; a
    /// commit of trunk from the break on is red until trunk was mended.
    pub fn stands_on_red(&self, commit: &Oid) -> bool {
        let Some(red) = &self.trunk.red_from else { return false };
        let base = match self.built.get(commit) {
            Some(built) if !self.trunk_has(commit) => &built.base,
            _ => commit,
        };
        let place = |oid: &Oid| self.trunk.commits.iter().position(|c| c.oid == *oid);
        place(base) >= place(red) && place(base).is_some()
    }

    /// The worktree of the task, made if it is not there: at trunk, or where the whole was left.
    pub fn worktree(&mut self, task: &TaskId, from: Option<&StartsFrom>) -> &mut Worktree {
        let trunk = self.trunk_tip();
        let left =
            from.and_then(|from| self.worktrees.get(&from.task).map(|w| (from.base.clone(), w.tip.clone())));
        let (base, tip) = left.unwrap_or((trunk.clone(), trunk));
        self.worktrees.entry(task.clone()).or_insert(Worktree { base, tip, dirty: false })
    }

    pub fn is_used_up(&self, group: &str, now: Timestamp) -> Option<Timestamp> {
        self.used_up.get(group).copied().filter(|until| *until > now)
    }

    /// The agent commits in the task's worktree. None if there is no worktree, which is a bug of ours.
    pub fn agent_commits(&mut self, task: &TaskId) -> Option<Oid> {
        let oid = self.new_oid();
        let worktree = self.worktrees.get_mut(task)?;
        self.parents.insert(oid.clone(), worktree.tip.clone());
        worktree.tip = oid.clone();
        Some(oid)
    }

    /// Trunk is merged into the task's branch, and rules decide what conflicts. Asked twice it is the same commit.
    pub fn join(&mut self, task: &TaskId, base: &Oid, tip: &Oid) -> Oid {
        let asked = (tip.clone(), self.trunk_tip());
        let found = self.joined.get(&asked).cloned();
        let oid = found.unwrap_or_else(|| self.new_oid());
        let made = Worktree { base: base.clone(), tip: oid.clone(), dirty: false };
        self.worktrees.entry(task.clone()).or_insert(made).tip = oid.clone();
        self.parents.insert(oid.clone(), tip.clone());
        self.joined.insert(asked, oid.clone());
        oid
    }

    /// The tip that trunk was merged into, where this is such a commit.
    pub fn joined_upon(&self, oid: &Oid) -> Option<&Oid> {
        self.joined.iter().find(|(_, joined)| *joined == oid).map(|((tip, _), _)| tip)
    }

    /// The commits of `base..tip`, oldest first.
    pub fn range(&self, base: &Oid, tip: &Oid) -> Vec<Oid> {
        let mut commits = Vec::new();
        let mut at = tip;
        while at != base {
            let Some(parent) = self.parents.get(at) else { break };
            commits.push(at.clone());
            at = parent;
        }
        commits.reverse();
        commits
    }

    /// The commits of the range that trunk does not have yet.
    pub fn missing_on_trunk(&self, base: &Oid, tip: &Oid) -> Vec<Oid> {
        self.range(base, tip).into_iter().filter(|oid| !self.trunk.sources.contains(oid)).collect()
    }

    /// Builds the task's commits onto the present trunk; none when trunk has them all.
    pub fn build(&mut self, base: &Oid, tip: &Oid) -> Option<(Oid, Vec<Oid>)> {
        let missing = self.missing_on_trunk(base, tip);
        let commits: Vec<OnTrunk> =
            missing.into_iter().map(|source| OnTrunk { oid: self.new_oid(), source: Some(source) }).collect();
        let result = commits.last()?.oid.clone();
        let sources = commits.iter().filter_map(|c| Some((c.oid.clone(), c.source.clone()?)));
        self.source_of.extend(sources);
        let oids = commits.iter().map(|c| c.oid.clone()).collect();
        self.built.insert(result.clone(), Built { base: self.trunk_tip(), tip: tip.clone(), commits });
        Some((result, oids))
    }

    /// Protected files that this would change. One commit in so many touches one.
    pub fn protected_in(&self, result: &Oid) -> Vec<String> {
        let commits = self.built.get(result).map(|built| built.commits.as_slice()).unwrap_or_default();
        let number = |oid: &Oid| u64::from_str_radix(&oid.as_str()[24..], 16).unwrap_or(0);
        let touched = commits.iter().filter_map(|c| c.source.as_ref()).any(|oid| number(oid) % 13 == 0);
        if touched && !self.harmless { vec![".swarm/config.json".into()] } else { vec![] }
    }

    /// The files that this would change, by their number.
    pub fn changed_in(&self, result: &Oid) -> BTreeSet<usize> {
        let commits = self.built.get(result).map(|built| built.commits.as_slice()).unwrap_or_default();
        commits.iter().filter_map(|c| c.source.as_ref()).map(reserving::changed_by).collect()
    }

    /// Where work that was on trunk lies: the commits of the branch that it was built from.
    pub fn landed(&self, proof: &Proof) -> Option<Landed> {
        let sources = proof.commits.iter().filter_map(|oid| self.source_of.get(oid)).chain(&proof.found);
        let (mut first, mut last) = (None, None);
        for source in sources {
            first = first.or(Some(source));
            last = Some(source);
        }
        let base = self.parents.get(first?)?.clone();
        Some(Landed { base, tip: last?.clone(), tree: last?.clone(), stands: vec![] })
    }

    pub fn trunk_had(&self, oid: &Oid) -> bool {
        self.ever_on_trunk.contains(oid)
    }

    /// Whether what this commit of a branch brought is on trunk.
    pub fn has_source(&self, oid: &Oid) -> bool {
        self.trunk.sources.contains(oid)
    }

    /// A person resets trunk: its last commits go.
    pub fn person_resets_trunk(&mut self, commits: usize) {
        for _ in 0..commits {
            if self.trunk.commits.len() < 2 {
                return;
            }
            let Some(gone) = self.trunk.commits.pop() else { return };
            self.trunk.has.remove(&gone.oid);
            if let Some(source) = &gone.source {
                self.trunk.sources.remove(source);
            }
            if self.trunk.red_from.as_ref() == Some(&gone.oid) {
                self.trunk.red_from = None;
            }
        }
    }

    pub fn trunk_has(&self, oid: &Oid) -> bool {
        self.trunk.has.contains(oid)
    }

    /// Moves trunk from `base` to `result`, as git's compare-and-swap does. The error is a broken rule.
    pub fn publish(&mut self, base: &Oid, result: &Oid) -> Result<bool, String> {
        if self.trunk_tip() != *base {
            return Ok(false);
        }
        let built =
            self.built.get(result).ok_or_else(|| format!("published {result}, which nobody built"))?.clone();
        if built.base != *base {
            return Err(format!("published {result} onto {base}, but it was built onto {}", built.base));
        }
        for commit in built.commits {
            if let Some(source) = &commit.source
                && !self.trunk.sources.insert(source.clone())
            {
                return Err(format!("the commit {source} is on trunk twice"));
            }
            self.trunk.has.insert(commit.oid.clone());
            self.ever_on_trunk.insert(commit.oid.clone());
            self.trunk.commits.push(commit);
        }
        Ok(true)
    }

    pub fn state_hash_bytes(&self) -> [u8; 8] {
        (self.oids ^ ((self.trunk.commits.len() as u64) << 32)).to_le_bytes()
    }
}
