//! Looking, mending, looking again.

use std::collections::BTreeMap;
use std::path::Path;

use swarm_protocol::doctor::{DoctorView, Finding, Health};

use super::cure::Cure;
use super::finding::{CHECKS, Found};
use super::patient::Patient;
use super::{
    branches, done, git_locks, integrity, kept_refs, machine, memory, place, programs, remains, repository,
    runs, worktrees,
};
use crate::store::{Opened, Store};
use swarm_git::{Git, GitError};

/// What a person can do about a repository that git cannot read.
pub const HEAD_SAYS: &str = "in it HEAD has to say `ref: refs/heads/` and the name of a branch, each file below refs/heads the name \
     of a commit, and `git config --list` has to work; `swarm status` and `swarm stop` work meanwhile";

/// Looks at everything around `repo`, and puts right what it can when `fix` is set.
pub async fn examine(repo: &Path, environment: &BTreeMap<String, String>, fix: bool) -> DoctorView {
    let git = match Git::discover(repo).await {
        Ok(git) => git,
        Err(error) => {
            let mut found = machine::inspect().await;
            let repository = Found::problem("repository", error.to_string());
            found.push(match error {
                GitError::Damaged { .. } => repository.by_hand(HEAD_SAYS),
                _ => repository,
            });
            return report(found, vec![]);
        }
    };
    let (patient, found) = inspect(git.clone(), environment).await;
    if !fix {
        return report(found, vec![]);
    }
    let before: Vec<Finding> =
        found.iter().filter(|one| one.cure.is_some()).map(|one| one.finding.clone()).collect();
    let failed = mend(&patient, &found).await;
    drop(patient);
    let (_, mut found) = inspect(git, environment).await;
    for one in &mut found {
        let same = |(finding, _): &&(Finding, String)| is_same(finding, &one.finding);
        if let Some((_, why)) = failed.iter().find(same) {
            one.finding.fix = Some(why.clone());
        }
    }
    let still = |finding: &Finding| {
        found.iter().any(|one| one.finding.state != Health::Ok && is_same(&one.finding, finding))
    };
    let fixed: Vec<Finding> = before
        .into_iter()
        .filter(|finding| !still(finding))
        .map(|finding| Finding { fixed: true, fix: None, ..finding })
        .collect();
    // One that is in order because it was just mended is told once.
    found.retain(|one| {
        one.finding.state != Health::Ok || fixed.iter().all(|fixed| fixed.id != one.finding.id)
    });
    report(found, fixed)
}

fn is_same(one: &Finding, other: &Finding) -> bool {
    one.id == other.id && one.subject == other.subject
}

fn report(found: Vec<Found>, fixed: Vec<Finding>) -> DoctorView {
    let fixed_count = fixed.len();
    let mut findings: Vec<Finding> = found.into_iter().map(|one| one.finding).chain(fixed).collect();
    let place = |id: &str| CHECKS.iter().position(|check| check.id == id);
    findings.sort_by(|a, b| place(&a.id).cmp(&place(&b.id)).then_with(|| a.subject.cmp(&b.subject)));
    let problems = findings.iter().filter(|one| one.state == Health::Problem && !one.fixed).count();
    DoctorView { findings, problems, fixed: fixed_count }
}

async fn inspect(git: Git, environment: &BTreeMap<String, String>) -> (Patient, Vec<Found>) {
    let mut found = machine::inspect().await;
    let (patient, configuration) = Patient::of(git, environment).await;
    found.extend(configuration);
    found.extend(place::inspect(&patient));
    found.extend(programs::inspect(&patient).await);
    found.extend(repository::inspect(&patient).await);
    found.extend(git_locks::inspect(&patient));
    if patient.has_swarm() {
        found.extend(memory::inspect(&patient));
        found.extend(worktrees::inspect(&patient).await);
        found.extend(integrity::inspect(&patient).await);
        found.extend(branches::inspect(&patient).await);
        found.extend(kept_refs::inspect(&patient).await);
        found.extend(done::inspect(&patient).await);
        found.extend(runs::inspect(&patient));
        found.extend(remains::inspect(&patient));
    }
    (patient, found)
}

/// Carries the cures out. Gives what could not be cured, with the reason.
async fn mend(patient: &Patient, found: &[Found]) -> Vec<(Finding, String)> {
    let cures: Vec<(&Finding, &Cure)> =
        found.iter().filter_map(|one| Some((&one.finding, one.cure.as_ref()?))).collect();
    let mut failed = Vec::new();
    let (beside, quiet): (Vec<_>, Vec<_>) =
        cures.into_iter().partition(|(_, cure)| cure.is_safe_beside_a_coordinator());
    for (finding, cure) in beside {
        if let Err(why) = cure.carry_out(patient, None).await {
            failed.push((finding.clone(), why));
        }
    }
    if quiet.is_empty() {
        return failed;
    }
    // Both locks are ours from here on: nobody coordinates, and nobody begins to.
    let mut store = match take(patient) {
        Ok(store) => store,
        Err(why) => {
            failed.extend(quiet.into_iter().map(|(finding, _)| (finding.clone(), why.clone())));
            return failed;
        }
    };
    for (finding, cure) in quiet {
        if let Err(why) = cure.carry_out(patient, Some(&mut store)).await {
            failed.push((finding.clone(), why));
        }
    }
    if let Err(error) = store.finish() {
        let ledger = Found::problem("ledger", "").finding;
        failed.push((ledger, error.to_string()));
    }
    failed
}

fn take(patient: &Patient) -> Result<Store, String> {
    match Store::open_writer(&patient.paths, patient.options.clone().thorough()) {
        Ok(Opened::Writer(store)) => Ok(store),
        Ok(Opened::Busy(owner)) => {
            let who = owner.map_or_else(|| "somebody".to_owned(), |owner| owner.to_string());
            Err(format!("not while {who} has the ledger: `swarm stop` first"))
        }
        Err(error) => Err(error.to_string()),
    }
}
