//! The machine: what the kernel offers, and whether there is room.

use std::path::Path;

use super::finding::Found;
use crate::coordinator::{few, files};
use swarm_process::containment::{Namespaces, available, own_view};
use swarm_process::launcher::Launcher;
use swarm_process::{plays_the_launcher, sandbox};

/// Below this a swarm of a few agents soon fills the disk.
const DISK_LOW_BYTES: u64 = 1 << 30;
/// Below this the ledger itself may have to stop.
const DISK_FULL_BYTES: u64 = 64 << 20;
/// Each watched checkout and each followed journal takes one.
const INOTIFY_INSTANCES_MIN: u64 = 32;

/// What holds whatever repository is looked at.
pub(super) async fn inspect() -> Vec<Found> {
    // Another program than ours would take the words of a trial for its own.
    let (view, nets) = if plays_the_launcher() {
        (view().await, nets().await)
    } else {
        let untried = |id| Found::note(id, "not tried: this program cannot be its own launcher");
        (untried("view"), untried("containment"))
    };
    vec![walls(), view, nets, inotify()]
}

fn walls() -> Found {
    match sandbox::doctor() {
        Ok(status) if status.fully && status.missing.is_empty() => {
            Found::ok("landlock", format!("Landlock, version {}", status.abi))
        }
        Ok(status) if status.abi > 0 => {
            let missing = status.missing.join("; ");
            Found::note("landlock", format!("Landlock, version {}: {missing}", status.abi))
                .by_hand("use a newer Linux")
        }
        Ok(status) => Found::note(
            "landlock",
            format!("agents are not confined to their worktree: {}", status.missing.join("; ")),
        )
        .by_hand("use Linux 5.13 or newer with Landlock, or `\"sandbox\": \"program\"`"),
        Err(why) => Found::note("landlock", format!("agents are not confined to their worktree: {why}")),
    }
}

/// Whether walled programs see files of their own: without it the person's sockets and terminals can be reached.
async fn view() -> Found {
    match own_view(&Launcher::myself()).await {
        Ok(Namespaces { user }) => {
            let how = if user { "in a user namespace" } else { "as root" };
            Found::ok("view", format!("namespaces for files, processes and memory ({how})"))
        }
        Err(why) => Found::note(
            "view",
            format!("agents can reach your sockets and terminals, and change the modes of your files: {why}"),
        )
        .by_hand("allow unprivileged user namespaces, or see docs/guides/security.md"),
    }
}

/// Which net would hold the processes of a run.
async fn nets() -> Found {
    let nets = available(&Launcher::myself()).await;
    let works: Vec<&str> = nets.iter().filter(|(_, net)| net.is_ok()).map(|(word, _)| *word).collect();
    let fails = nets.iter().filter_map(|(word, net)| Some(format!("no {word}: {}", net.as_ref().err()?)));
    let fails: Vec<String> = fails.collect();
    match works.first() {
        Some(&"group") | None => {
            Found::note("containment", format!("only process groups; {}", fails.join("; ")))
        }
        Some(best) => Found::ok("containment", format!("{best} (of {})", works.join(", "))),
    }
}

fn inotify() -> Found {
    let limit = |name: &str| -> Option<u64> {
        std::fs::read_to_string(format!("/proc/sys/fs/inotify/{name}")).ok()?.trim().parse().ok()
    };
    match (limit("max_user_instances"), limit("max_user_watches")) {
        (Some(instances), _) if instances < INOTIFY_INSTANCES_MIN => Found::note(
            "inotify",
            format!("only {instances} programs may watch files at once: changes are noticed later"),
        )
        .by_hand("sysctl fs.inotify.max_user_instances=512"),
        (Some(instances), Some(watches)) => {
            Found::ok("inotify", format!("{instances} watchers, {watches} watches"))
        }
        _ => Found::note("inotify", "this kernel does not say whether files can be watched"),
    }
}

/// `low_mib`: below this nothing new is started (`disk.low`); who has set it lower needs less.
pub(super) fn disk(place: &Path, what: &str, low_mib: u64) -> Found {
    let Ok(stat) = rustix::fs::statvfs(place) else {
        return Found::note("disk", format!("cannot see how much room {what} has"));
    };
    let free = stat.f_bavail.saturating_mul(stat.f_frsize);
    let words = format!("{} free for {what}", bytes(free));
    match free {
        _ if crate::coordinator::is_read_only(place) => Found::problem(
            "disk",
            format!("the file system of {what} is read-only: nothing can be recorded or done"),
        )
        .by_hand("remount it writable (`dmesg` may say what happened)"),
        _ if stat.f_files > 0 && stat.f_favail == 0 => {
            Found::problem("disk", format!("no more files can be created for {what}")).by_hand("delete files")
        }
        _ if files(place).is_some_and(|(free, total)| free < few(total)) => Found::problem(
            "disk",
            format!("only {} more files can be created for {what}: the swarm pauses", stat.f_favail),
        )
        .by_hand("delete files: `df -i` says where"),
        n => of_room(n, low_mib, words),
    }
}

fn of_room(free: u64, low_mib: u64, words: String) -> Found {
    match free {
        n if n < DISK_FULL_BYTES.min(low_mib.saturating_mul(1 << 20)) => {
            Found::problem("disk", words).by_hand("free some disk space")
        }
        n if n < DISK_LOW_BYTES => Found::note("disk", words).by_hand("free some disk space"),
        _ => Found::ok("disk", words),
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

#[cfg(test)]
mod tests {
    use swarm_protocol::doctor::Health;

    use super::*;

    #[test]
    fn so_little_room_as_a_person_has_agreed_to_is_no_problem() {
        let health = |free_mib: u64, low_mib| of_room(free_mib << 20, low_mib, String::new()).finding.state;
        assert_eq!(
            [health(44, 1024), health(44, 50), health(44, 1)],
            [Health::Problem, Health::Problem, Health::Note]
        );
        assert_eq!([health(500, 1024), health(2048, 1)], [Health::Note, Health::Ok]);
    }
}
