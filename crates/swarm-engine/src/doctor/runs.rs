//! What runs have left: files of runs that ended long ago, and processes that outlived their daemon.

use std::collections::BTreeSet;

use swarm_protocol::ids::RunId;

use super::cure::Cure;
use super::finding::Found;
use super::patient::Patient;
use swarm_process::containment::cgroup::leaves_of_swarm;
use swarm_process::processes_with_nonce;
use swarm_work::daemon::{DaemonSpec, RunFiles};
use swarm_work::supervisor::foreign;

pub(super) fn inspect(patient: &Patient) -> Vec<Found> {
    let mut found = stopped(patient);
    // A coordinator that lives looks after its runs itself.
    if patient.coordinator.is_some() || !(patient.knows_tasks || patient.state.seq == 0) {
        return found;
    }
    for run in runs_on_disk(patient) {
        let files = RunFiles::new(&patient.paths.swarm, &run);
        if let Some(owner) = foreign(&files, &patient.paths.root) {
            found.push(
                Found::note("coordinator", format!("{run} is left alone: {owner}")).about(run.as_str()),
            );
            continue;
        }
        let alive = processes(&files);
        let known = patient.state.runs.contains_key(&run);
        match (known, alive.is_empty(), has_daemon(&files)) {
            (false, false, _) => found.push(
                Found::problem(
                    "leftover-process",
                    format!("{run} has ended, but its process {} is still running", list(&alive)),
                )
                .about(run.as_str())
                .curable(Cure::EndRun(run)),
            ),
            (false, true, _) => found.push(
                Found::problem(
                    "leftover-run",
                    format!("files of {run} are left over; the ledger does not list it as running"),
                )
                .about(run.as_str())
                .curable(Cure::EndRun(run)),
            ),
            (true, false, false) => found.push(
                Found::problem(
                    "leftover-process",
                    format!("the daemon of {run} died, but its process {} is still running", list(&alive)),
                )
                .about(run.as_str())
                .curable(Cure::EndProcesses(run)),
            ),
            (true, _, true) => found.push(
                Found::note("coordinator", format!("{run} is still running without a coordinator"))
                    .about(run.as_str())
                    .by_hand("swarm run"),
            ),
            (true, true, false) => found.push(
                Found::note("coordinator", format!("{run} was interrupted; the next run resumes it"))
                    .about(run.as_str())
                    .by_hand("swarm run"),
            ),
        }
    }
    found.extend(groups(patient));
    for id in ["leftover-process", "leftover-run"] {
        if found.iter().all(|one| one.finding.id != id) {
            found.push(Found::ok(id, "none"));
        }
    }
    found
}

/// Daemons that a signal has stopped: their agents go on with nobody who would end them.
fn stopped(patient: &Patient) -> Vec<Found> {
    let files = runs_on_disk(patient).into_iter().map(|run| RunFiles::new(&patient.paths.swarm, &run));
    let ours = files.filter(|files| foreign(files, &patient.paths.root).is_none());
    let stopped = ours.filter_map(|files| Some((files.stopped_daemon()?, files.run)));
    stopped
        .map(|(pid, run)| {
            let what = format!(
                "process {pid}, which supervises {run}, is suspended (SIGSTOP or a debugger): its agent is not supervised"
            );
            Found::problem("coordinator", what).about(run.as_str()).by_hand(format!("kill -CONT {pid}"))
        })
        .collect()
}

/// Control groups of this swarm that no run on disk or in the ledger has.
fn groups(patient: &Patient) -> Vec<Found> {
    let mut known: BTreeSet<String> = patient.state.runs.values().map(|run| run.nonce.clone()).collect();
    known.extend(
        runs_on_disk(patient).iter().filter_map(|run| nonce_of(&RunFiles::new(&patient.paths.swarm, run))),
    );
    let nonces: BTreeSet<String> =
        leaves_of_swarm(&patient.paths.swarm).into_iter().map(|(_, nonce)| nonce).collect();
    let unknown = nonces.into_iter().filter(|nonce| !known.contains(nonce));
    unknown
        .map(|nonce| {
            Found::problem(
                "leftover-process",
                format!("the control group {nonce} of an ended run is left over"),
            )
            .about(nonce.clone())
            .curable(Cure::EndGroup(nonce))
        })
        .collect()
}

fn list(pids: &[u32]) -> String {
    let shown: Vec<String> = pids.iter().take(5).map(u32::to_string).collect();
    match pids.len().saturating_sub(5) {
        0 => shown.join(", "),
        more => format!("{} and {more} more", shown.join(", ")),
    }
}

pub(super) fn nonce_of(files: &RunFiles) -> Option<String> {
    let spec = DaemonSpec::read(&files.spec()).or_else(|_| DaemonSpec::read(&files.ended_spec()));
    spec.map(|spec| spec.nonce).ok().or_else(|| Some(files.read_record()?.nonce))
}

fn processes(files: &RunFiles) -> Vec<u32> {
    nonce_of(files).map(|nonce| processes_with_nonce(&nonce)).unwrap_or_default()
}

/// Alive = locked. Looked up in the kernel's list of locks, since trying the lock could turn a daemon away.
fn has_daemon(files: &RunFiles) -> bool {
    use std::os::unix::fs::MetadataExt;
    let Ok(meta) = std::fs::metadata(files.lock()) else { return false };
    let held = std::fs::read_to_string("/proc/locks").unwrap_or_default();
    let inode = format!(":{} ", meta.ino());
    held.lines().any(|line| line.contains("FLOCK") && line.contains(&inode))
}

pub(super) fn runs_on_disk(patient: &Patient) -> BTreeSet<RunId> {
    let entries = std::fs::read_dir(&patient.paths.daemons).into_iter().flatten().flatten();
    let names = entries.filter_map(|entry| entry.file_name().into_string().ok());
    names.filter_map(|name| RunId::new(name.split('.').next()?).ok()).collect()
}
