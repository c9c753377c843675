//! One control group (version 2) per run, named by its nonce, so that it is found again by anybody
//! whatever became of the daemon that made it.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use rustix::process::Signal;
use sha2::{Digest, Sha256};
use tokio::time::Instant;

use crate::identity::Pidfd;
use crate::limits::Limits;

/// Folders looked at in a search. A machine with more control groups than this is not one that we know.
const FOLDERS_MAX: usize = 20_000;

/// After the kernel was told to kill them: they are gone at once, unless it holds one back.
const KILL_WITHIN: Duration = Duration::from_secs(2);
const LOOK_EVERY: Duration = Duration::from_millis(2);

/// The group of one run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Leaf {
    dir: PathBuf,
}

/// `swarm-TAG-NONCE`: the tag tells the swarms of one machine apart.
pub fn leaf_name(swarm_dir: &Path, nonce: &str) -> String {
    format!("{}{nonce}", prefix(swarm_dir))
}

fn prefix(swarm_dir: &Path) -> String {
    let digest = Sha256::digest(swarm_dir.as_os_str().as_encoded_bytes());
    let tag: String = digest.iter().take(4).map(|byte| format!("{byte:02x}")).collect();
    format!("swarm-{tag}-")
}

/// The nonce in the name of a leaf; none for groups that are not ours.
pub fn nonce_in(name: &str) -> Option<&str> {
    let (tag, nonce) = name.strip_prefix("swarm-")?.split_once('-')?;
    let is_tag = tag.len() == 8 && tag.bytes().all(|byte| byte.is_ascii_hexdigit());
    (is_tag && !nonce.is_empty()).then_some(nonce)
}

/// Where leaves may be made, best first: below our own group (a delegated part of the tree), then at the top.
pub fn parents() -> Vec<PathBuf> {
    let mounts = fs::read_to_string("/proc/self/mountinfo").unwrap_or_default();
    let groups = fs::read_to_string("/proc/self/cgroup").unwrap_or_default();
    let own = groups.lines().find_map(|line| line.strip_prefix("0::")).unwrap_or("/").to_owned();
    let mut found = Vec::new();
    for (root, point) in mounts.lines().filter_map(cgroup2_mount) {
        if let Ok(below) = Path::new(&own).strip_prefix(&root) {
            found.push(point.join(below));
        }
        found.push(point);
    }
    found.dedup();
    found
}

/// Root and place of the mount that a line of mountinfo tells of, if it is one of version 2.
fn cgroup2_mount(line: &str) -> Option<(PathBuf, PathBuf)> {
    let (before, after) = line.split_once(" - ")?;
    let mut fields = before.split(' ').skip(3);
    let (root, point) = (fields.next()?, fields.next()?);
    // Such a path with a blank in it would be escaped; nobody mounts it there.
    after.starts_with("cgroup2 ").then(|| (root.into(), point.into()))
}

impl Leaf {
    /// Makes the group, or takes the one that is left of a program before.
    pub fn create(parent: &Path, name: &str) -> io::Result<Self> {
        let dir = parent.join(name);
        match fs::create_dir(&dir) {
            Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(error),
            _ => {}
        }
        let leaf = Self { dir };
        if !leaf.dir.join("cgroup.kill").exists() {
            leaf.remove_now();
            return Err(io::Error::other("the kernel has no cgroup.kill (it came with Linux 5.14)"));
        }
        Ok(leaf)
    }

    /// Whoever writes `0` into this file is in the group.
    pub fn procs_file(&self) -> PathBuf {
        self.dir.join("cgroup.procs")
    }

    /// Tells the kernel as much of it as this part of the tree has files for; the rest is looked at from outside.
    pub(crate) fn limit(&self, limits: &Limits) {
        let files = [
            ("memory.max", limits.memory_bytes),
            ("pids.max", limits.processes),
            ("cpu.weight", limits.cpu_weight.map(u64::from)),
        ];
        for (name, value) in files {
            let (file, Some(value)) = (self.dir.join(name), value) else { continue };
            if file.exists() {
                crate::complain("set a limit of a run", fs::write(&file, value.to_string()));
            }
        }
    }

    /// The limit that the kernel itself has enforced, for people.
    pub(crate) fn enforced(&self) -> Option<&'static str> {
        let happened = |file: &str, word: &str| {
            let events = fs::read_to_string(self.dir.join(file)).unwrap_or_default();
            let count = events.lines().find_map(|line| line.strip_prefix(word)?.trim().parse::<u64>().ok());
            count.is_some_and(|count| count > 0)
        };
        if happened("memory.events", "oom_kill ") {
            return Some(
                "the kernel ended one of its processes: together they took all that limits.memory allows",
            );
        }
        happened("pids.events", "max ")
            .then_some("the kernel refused it another process: it had all that limits.processes allows")
    }

    /// Everybody in it.
    pub(crate) fn members(&self) -> Vec<u32> {
        let lists = folders(&self.dir).filter_map(|dir| fs::read_to_string(dir.join("cgroup.procs")).ok());
        lists.flat_map(|list| list.lines().filter_map(|pid| pid.parse().ok()).collect::<Vec<_>>()).collect()
    }

    /// Processor time that all its processes have used, those that have ended too.
    pub fn cpu_used(&self) -> Option<Duration> {
        let stat = fs::read_to_string(self.dir.join("cpu.stat")).ok()?;
        let micros = stat.lines().find_map(|line| line.strip_prefix("usage_usec "))?;
        Some(Duration::from_micros(micros.trim().parse().ok()?))
    }

    /// A request to everybody in it, force after `grace`; comes back when it is empty, or says who stays.
    pub async fn end(&self, grace: Duration) -> Vec<u32> {
        if !grace.is_zero() {
            let until = Instant::now() + grace;
            for held in self.hold_all() {
                held.signal(Signal::TERM);
            }
            self.wait_empty(until).await;
        }
        // Also when it is empty: between two looks somebody may have started another.
        let _ = fs::write(self.dir.join("cgroup.kill"), "1");
        self.wait_empty(Instant::now() + KILL_WITHIN).await
    }

    async fn wait_empty(&self, until: Instant) -> Vec<u32> {
        loop {
            let held = self.hold_all();
            if held.is_empty() && !self.is_populated() {
                return Vec::new();
            }
            if Instant::now() >= until {
                return held.into_iter().map(|held| held.pid).collect();
            }
            for one in &held {
                one.wait_gone(until.saturating_duration_since(Instant::now())).await;
            }
            if held.is_empty() {
                // Somebody who is already leaving: there is no hold on him any more.
                tokio::time::sleep(LOOK_EVERY).await;
            }
        }
    }

    fn is_populated(&self) -> bool {
        fs::read_to_string(self.dir.join("cgroup.events")).is_ok_and(|events| events.contains("populated 1"))
    }

    fn hold_all(&self) -> Vec<Pidfd> {
        // The hold first, then the check that it still is one of them.
        self.members().into_iter().filter_map(Pidfd::open).filter(|held| self.holds(held.pid)).collect()
    }

    fn holds(&self, pid: u32) -> bool {
        let name = self.dir.file_name().unwrap_or_default().to_string_lossy().into_owned();
        groups_of(pid).any(|group| group == name)
    }

    /// Takes the empty group away. Asked twice it finds nothing left to do.
    pub async fn remove(&self) {
        let until = Instant::now() + KILL_WITHIN;
        while !self.remove_now() && Instant::now() < until {
            tokio::time::sleep(LOOK_EVERY).await;
        }
    }

    /// False while the kernel still counts somebody in it.
    pub(crate) fn remove_now(&self) -> bool {
        let mut all: Vec<PathBuf> = folders(&self.dir).collect();
        // Those made inside come after the ones that they lie in.
        all.reverse();
        let gone = |dir: &PathBuf| match fs::remove_dir(dir) {
            Err(error) => error.kind() == io::ErrorKind::NotFound,
            Ok(()) => true,
        };
        // Each is tried, also after one that stays.
        all.iter().filter(|dir| !gone(dir)).count() == 0
    }
}

/// Names of all groups that the process is in, in whatever tree.
pub(crate) fn groups_of(pid: u32) -> impl Iterator<Item = String> {
    let text = fs::read_to_string(format!("/proc/{pid}/cgroup")).unwrap_or_default();
    let unified = text.lines().find_map(|line| line.strip_prefix("0::").map(str::to_owned));
    let path = unified.unwrap_or_default();
    path.split('/').map(str::to_owned).collect::<Vec<_>>().into_iter()
}

/// The leaf of this run, wherever it is; normally there is one or none.
pub fn leaves_of(nonce: &str) -> Vec<Leaf> {
    all_leaves().filter(|(_, name)| nonce_in(name) == Some(nonce)).map(|(leaf, _)| leaf).collect()
}

/// Leaves of this swarm with their nonces.
pub fn leaves_of_swarm(swarm_dir: &Path) -> Vec<(Leaf, String)> {
    let prefix = prefix(swarm_dir);
    all_leaves().filter_map(|(leaf, name)| Some((leaf, name.strip_prefix(&prefix)?.to_owned()))).collect()
}

fn all_leaves() -> impl Iterator<Item = (Leaf, String)> {
    let mut tops = parents();
    tops.sort();
    // A place below another one is found from that.
    let mut searched: Vec<PathBuf> = Vec::new();
    for top in tops {
        if !searched.iter().any(|above| top.starts_with(above)) {
            searched.push(top);
        }
    }
    searched.into_iter().flat_map(|top| folders(&top).collect::<Vec<_>>()).filter_map(|dir| {
        let name = dir.file_name()?.to_str()?.to_owned();
        nonce_in(&name)?;
        Some((Leaf { dir }, name))
    })
}

/// The folder and everything below it, from the top down.
fn folders(top: &Path) -> impl Iterator<Item = PathBuf> {
    let mut found = vec![top.to_owned()];
    let mut next = 0;
    while next < found.len() && found.len() < FOLDERS_MAX {
        let entries = fs::read_dir(&found[next]).into_iter().flatten().flatten();
        let below = entries.filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()));
        found.extend(below.map(|entry| entry.path()).collect::<Vec<_>>());
        next += 1;
    }
    found.into_iter()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_leaf_tells_its_nonce_and_other_groups_tell_none() {
        let name = leaf_name(Path::new("/elsewhere/u/repo/.swarm"), "01K9-x");
        assert_eq!(nonce_in(&name), Some("01K9-x"));
        for other in ["swarm.slice", "swarm-x-1", "swarm-12345678-", "user-1000.slice", "swarm-1234567g-n"] {
            assert_eq!(nonce_in(other), None, "{other}");
        }
        assert_ne!(name, leaf_name(Path::new("/elsewhere/u/other/.swarm"), "01K9-x"));
    }

    #[test]
    fn what_the_kernel_has_enforced_is_told_and_what_it_has_not_is_not() {
        let dir = tempfile::tempdir().expect("a folder");
        let leaf = Leaf { dir: dir.path().to_owned() };
        assert_eq!(leaf.enforced(), None);
        fs::write(dir.path().join("memory.events"), "low 0\nmax 9\noom 1\noom_kill 0\n").expect("written");
        fs::write(dir.path().join("pids.events"), "max 0\n").expect("written");
        assert_eq!(leaf.enforced(), None);
        fs::write(dir.path().join("pids.events"), "max 3\n").expect("written");
        assert!(leaf.enforced().is_some_and(|text| text.contains("limits.processes")));
        fs::write(dir.path().join("memory.events"), "oom 1\noom_kill 1\n").expect("written");
        assert!(leaf.enforced().is_some_and(|text| text.contains("limits.memory")));
    }

    #[test]
    fn mounts_of_version_two_are_found_also_beside_those_of_version_one() {
        let line = "41 31 0:38 / /sys/fs/cgroup/unified rw,relatime shared:9 - cgroup2 cgroup2 rw";
        assert_eq!(cgroup2_mount(line), Some(("/".into(), "/sys/fs/cgroup/unified".into())));
        assert_eq!(cgroup2_mount("36 31 0:33 / /sys/fs/cgroup/pids rw - cgroup cgroup rw,pids"), None);
        assert_eq!(cgroup2_mount("torn"), None);
    }
}
