//! The machine: what the kernel offers, and whether there is room.

use std::path::Path;

use super::finding::{Finding, Found};

/// Below this a swarm of a few agents soon fills the disk.
const DISK_LOW_BYTES: u64 = 1 << 30;
/// Below this the ledger itself may have to stop.
const DISK_FULL_BYTES: u64 = 64 << 20;
/// Each watched checkout and each followed journal takes one.
const INOTIFY_INSTANCES_MIN: u64 = 32;

/// What holds whatever repository is looked at.
pub(super) fn look() -> Vec<Found> {
    vec![landlock(), containment(), inotify()]
}

fn landlock() -> Found {
    use landlock::{ABI, Access, AccessFs, CompatLevel, Compatible, Ruleset, RulesetAttr};
    // Asking for everything a version knows and insisting on it tells whether the kernel has that version.
    let works = |abi: ABI| {
        let ruleset = Ruleset::default().set_compatibility(CompatLevel::HardRequirement);
        ruleset.handle_access(AccessFs::from_all(abi)).and_then(|r| r.create()).is_ok()
    };
    match [(5, ABI::V5), (3, ABI::V3), (2, ABI::V2), (1, ABI::V1)].into_iter().find(|(_, abi)| works(*abi)) {
        Some((version, _)) if version >= 3 => {
            Finding::ok("landlock", format!("Landlock, version {version} or newer"))
        }
        Some((version, _)) => Finding::note(
            "landlock",
            format!("Landlock version {version}: an agent could still cut files short outside its worktree"),
        )
        .by_hand("use Linux 6.2 or newer"),
        None => {
            Finding::note("landlock", "this kernel has no Landlock: agents are not kept to their worktree")
                .by_hand("use Linux 5.13 or newer with Landlock enabled, or `\"sandbox\": \"program\"`")
        }
    }
}

/// Which net would hold the processes of a run.
fn containment() -> Found {
    let cgroup = ["/sys/fs/cgroup/cgroup.controllers", "/sys/fs/cgroup/unified/cgroup.procs"]
        .iter()
        .filter_map(|file| Path::new(file).parent())
        .find(|root| root.join("cgroup.procs").exists() && is_writable(root));
    let namespaces = std::fs::read_to_string("/proc/sys/user/max_pid_namespaces")
        .is_ok_and(|text| text.trim().parse::<u64>().is_ok_and(|max| max > 0));
    match (cgroup, namespaces) {
        (Some(_), _) => Finding::ok("containment", "control groups can be used"),
        (None, true) => {
            Finding::ok("containment", "no control group can be made here; pid namespaces are tried next")
        }
        (None, false) => Finding::note(
            "containment",
            "neither control groups nor pid namespaces: processes are found by their environment",
        ),
    }
}

fn is_writable(dir: &Path) -> bool {
    rustix::fs::access(dir, rustix::fs::Access::WRITE_OK).is_ok()
}

fn inotify() -> Found {
    let limit = |name: &str| -> Option<u64> {
        std::fs::read_to_string(format!("/proc/sys/fs/inotify/{name}")).ok()?.trim().parse().ok()
    };
    match (limit("max_user_instances"), limit("max_user_watches")) {
        (Some(instances), _) if instances < INOTIFY_INSTANCES_MIN => Finding::note(
            "inotify",
            format!("only {instances} programs may watch files at once: changes are seen later"),
        )
        .by_hand("sysctl fs.inotify.max_user_instances=512"),
        (Some(instances), Some(watches)) => {
            Finding::ok("inotify", format!("{instances} watchers, {watches} watches"))
        }
        _ => Finding::note("inotify", "this kernel does not say whether files can be watched"),
    }
}

pub(super) fn disk(place: &Path, what: &str) -> Found {
    let Ok(stat) = rustix::fs::statvfs(place) else {
        return Finding::note("disk", format!("cannot see how much room {what} has"));
    };
    let free = stat.f_bavail.saturating_mul(stat.f_frsize);
    let words = format!("{} free for {what}", bytes(free));
    match free {
        _ if stat.f_files > 0 && stat.f_favail == 0 => {
            Finding::problem("disk", format!("no file can be made any more for {what}"))
                .by_hand("delete files")
        }
        n if n < DISK_FULL_BYTES => Finding::problem("disk", words).by_hand("make room on the disk"),
        n if n < DISK_LOW_BYTES => Finding::note("disk", words).by_hand("make room on the disk"),
        _ => Finding::ok("disk", words),
    }
}

pub(super) fn bytes(n: u64) -> String {
    match n {
        0..1024 => format!("{n} B"),
        1024..1_048_576 => format!("{} KiB", n / 1024),
        1_048_576..1_073_741_824 => format!("{} MiB", n >> 20),
        _ => format!("{} GiB", n >> 30),
    }
}
