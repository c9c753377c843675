//! Room on the disk, looked at every few seconds beside the loop: the swarm pauses before it hurts, and goes on by
//! itself when there is room again. Two marks, so that it does neither with every file.

use std::path::{Path, PathBuf};
use std::time::Duration;

use swarm_core::input::Report;
use tokio::sync::{mpsc, watch};
use tokio::task::JoinHandle;
use tokio::time::Instant;

use super::executors::FromExecutor;
use super::world::World;

/// Between two looks. Two agents that write a hundred megabytes a second come 600 MB far in this time, which
/// is less than the default mark leaves.
const LOOK_EVERY: Duration = Duration::from_secs(3);
/// How long a pause stands that somebody met and no look explains (a quota, a file system that counts otherwise),
/// before work is tried again; doubled each time it is met again.
const TRY_FIRST: Duration = Duration::from_secs(1);
/// The longest such pause. A try costs a few records and one agent's start; five minutes of them are bearable for ever.
const TRY_MAX: Duration = Duration::from_secs(300);
const MIB: u64 = 1 << 20;

/// The look-out, for as long as the coordinator lives.
#[derive(Debug)]
pub struct Watching {
    /// Whether the swarm is paused for want of room: then it is also told that there is enough.
    paused: watch::Sender<bool>,
    looks: JoinHandle<()>,
}

/// What counts as little and as enough, and where.
#[derive(Debug, Clone)]
struct Marks {
    low: u64,
    enough: u64,
    /// The lock of whoever coordinates: while it is there, so is the folder of the swarm.
    owner: PathBuf,
    /// Each with the words for what lies there.
    places: Vec<(PathBuf, &'static str)>,
}

/// What a look found.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Room {
    Low(String),
    /// Between the marks: as it was.
    Neither,
    Enough,
}

impl Watching {
    pub fn start(world: &World, out: mpsc::Sender<FromExecutor>) -> Self {
        let (paused, told) = watch::channel(false);
        let disk = &world.config.disk;
        let marks = Marks {
            low: disk.low.saturating_mul(MIB),
            enough: disk.enough.max(disk.low).saturating_mul(MIB),
            owner: world.paths.owner.clone(),
            places: vec![
                (world.paths.root.clone(), "the repository lies"),
                (world.paths.worktrees.clone(), "the worktrees lie"),
            ],
        };
        Self { paused, looks: tokio::spawn(look_out(marks, told, out)) }
    }

    pub fn tell(&self, paused: bool) {
        self.paused.send_if_modified(|now| std::mem::replace(now, paused) != paused);
    }
}

impl Drop for Watching {
    fn drop(&mut self) {
        self.looks.abort();
    }
}

async fn look_out(marks: Marks, mut paused: watch::Receiver<bool>, out: mpsc::Sender<FromExecutor>) {
    let mut was_low = false;
    let mut unexplained = Unexplained::default();
    loop {
        let looked = marks.clone();
        // A network file system may let a look wait for ever; the loop does not wait with it.
        let look = tokio::task::spawn_blocking(move || (looked.look(), !looked.owner.exists()));
        let Ok((room, gone)) = look.await else { return };
        // A swarm that waits for a person would hear of it with the person's next word only.
        if gone && out.send(FromExecutor::Look).await.is_err() {
            return;
        }
        let report = match room {
            Room::Low(why) if !std::mem::replace(&mut was_low, true) => Some(Report::Disk { low: true, why }),
            Room::Enough => {
                let was = std::mem::replace(&mut was_low, false);
                let paused = *paused.borrow();
                (was || unexplained.is_over(paused, Instant::now()))
                    .then(|| Report::Disk { low: false, why: "there is room again".into() })
            }
            Room::Low(_) | Room::Neither => None,
        };
        if was_low {
            unexplained = Unexplained::default();
        }
        if let Some(report) = report
            && out.send(FromExecutor::News(report)).await.is_err()
        {
            return;
        }
        // A pause that somebody else found out about is looked into at once, and no oftener than the rest.
        tokio::select! {
            () = tokio::time::sleep(LOOK_EVERY) => {}
            changed = paused.changed() => if changed.is_err() { return } else {
                tokio::time::sleep(LOOK_EVERY.min(Duration::from_secs(1))).await;
            },
        }
    }
}

/// Pauses for want of room where every look finds room: nothing tells when it is back but another try.
#[derive(Debug, Default)]
struct Unexplained {
    /// Since when the present one stands.
    since: Option<Instant>,
    /// How long the last one stood, and when work was tried again.
    tried: Option<(Duration, Instant)>,
}

impl Unexplained {
    /// Whether it is time to try again. The wait begins anew when a try has gone well for long enough.
    fn is_over(&mut self, paused: bool, now: Instant) -> bool {
        if !paused {
            self.since = None;
            return false;
        }
        let since = *self.since.get_or_insert(now);
        let again = self.tried.filter(|(_, at)| since.duration_since(*at) <= TRY_MAX * 2);
        let wait = again.map_or(TRY_FIRST, |(before, _)| (before * 2).min(TRY_MAX));
        // The first look comes a moment after the pause, which is wait enough.
        let over = again.is_none() || now.duration_since(since) >= wait;
        if over {
            (self.since, self.tried) = (None, Some((wait, now)));
        }
        over
    }
}

impl Marks {
    fn look(&self) -> Room {
        let mut room = Room::Enough;
        for (place, lies) in &self.places {
            if is_read_only(place) {
                return Room::Low(format!("the file system where {lies} is read-only"));
            }
            // One that is not there yet lies where the other one does.
            let Some(free) = free_bytes(place) else { continue };
            match files(place) {
                Some((free, total)) if free < few(total) => {
                    return Room::Low(format!(
                        "only {free} more files can be created where {lies}, however many bytes are free: delete files there"
                    ));
                }
                Some((free, total)) if free < few(total).saturating_mul(2) => room = Room::Neither,
                _ => {}
            }
            if free < self.low {
                let (free, low) = (free / MIB, self.low / MIB);
                return Room::Low(format!(
                    "{free} MiB are free where {lies}; {low} MiB are needed (disk.low)"
                ));
            }
            if free < self.enough {
                room = Room::Neither;
            }
        }
        room
    }
}

/// Whether the file system there takes nothing, whatever room it has: the kernel does that to one that is damaged.
pub fn is_read_only(place: &Path) -> bool {
    let stat = rustix::fs::statvfs(place);
    if stat.is_ok_and(|stat| stat.f_flag.contains(rustix::fs::StatVfsMountFlags::RDONLY)) {
        return true;
    }
    let Ok(meta) = std::fs::metadata(place) else { return false };
    let device = std::os::unix::fs::MetadataExt::dev(&meta);
    let (major, minor) = ((device >> 8) & 0xfff, (device & 0xff) | ((device >> 12) & 0xfff00));
    let mounts = std::fs::read_to_string("/proc/self/mountinfo").unwrap_or_default();
    is_given_up(&mounts, &format!("{major}:{minor}"))
}

/// Newer kernels leave a damaged file system mounted as it was, and say among its options that nobody may write.
fn is_given_up(mounts: &str, device: &str) -> bool {
    let of_device = |line: &&str| line.split(' ').nth(2) == Some(device);
    let options = mounts.lines().filter(of_device).filter_map(|line| line.rsplit(' ').next());
    options.flat_map(|options| options.split(',')).any(|option| matches!(option, "emergency_ro" | "shutdown"))
}

/// A checkout and what is built in it may be so many files.
const FILES_FEW: u64 = 10_000;

/// So few files that nothing new is to begin; of a small file system not all that it has.
pub fn few(total: u64) -> u64 {
    FILES_FEW.min(total / 20)
}

/// How many more files can be made there, and how many there can be at all; none where there is no such limit.
pub fn files(place: &Path) -> Option<(u64, u64)> {
    let stat = rustix::fs::statvfs(place).ok().filter(|stat| stat.f_files > 0)?;
    Some((stat.f_favail, stat.f_files))
}

/// What is free there for us.
pub fn free_bytes(place: &Path) -> Option<u64> {
    let stat = rustix::fs::statvfs(place).ok()?;
    Some(stat.f_bavail.saturating_mul(stat.f_frsize))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_system_that_the_kernel_has_given_up_is_known_by_its_options() {
        let mounts = "25 1 8:1 / / rw,relatime - ext4 /dev/sda1 rw\n\
                      226 124 7:1 / /disk rw,relatime - ext4 /dev/loop1 rw,abort,emergency_ro\n";
        assert!(is_given_up(mounts, "7:1") && !is_given_up(mounts, "8:1") && !is_given_up(mounts, "7:11"));
    }

    #[test]
    fn a_small_file_system_is_not_low_of_files_from_the_start() {
        assert_eq!((few(100_000_000), few(20_000), few(0)), (FILES_FEW, 1_000, 0));
    }

    #[test]
    fn a_pause_that_no_look_explains_is_tried_again_later_each_time_and_never_given_up() {
        let (mut unexplained, mut now) = (Unexplained::default(), Instant::now());
        let second = Duration::from_secs(1);
        // Whoever works on meets the quota at once.
        let mut stood = |unexplained: &mut Unexplained| {
            let began = now;
            while !unexplained.is_over(true, now) {
                now += second;
            }
            let stood = now - began;
            now += second;
            stood.as_secs()
        };
        let pauses: Vec<u64> = (0..12).map(|_| stood(&mut unexplained)).collect();
        assert_eq!(pauses, [0, 2, 4, 8, 16, 32, 64, 128, 256, 300, 300, 300]);
        // It went well for long enough: the next one is a new matter.
        now += TRY_MAX * 3;
        assert!(!unexplained.is_over(false, now));
        assert!(unexplained.is_over(true, now));
    }

    #[test]
    fn between_the_marks_things_stay_as_they_were() {
        let here = std::env::temp_dir();
        let free = free_bytes(&here).expect("a file system");
        let look = |low: u64, enough: u64| {
            Marks { low, enough, owner: here.clone(), places: vec![(here.clone(), "it lies")] }.look()
        };
        // Others write to this disk too, so the marks are far off.
        assert_eq!(look(free / 8, free / 4), Room::Enough);
        assert_eq!(look(free / 8, free * 4), Room::Neither);
        let Room::Low(why) = look(free * 4, free * 8) else { panic!("not low") };
        assert!(why.contains("are free where it lies") && why.contains("disk.low"), "{why}");
    }
}
