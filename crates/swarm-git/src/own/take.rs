//! Takes commits out of an agent's own repository as from a stranger: copied, packed anew from what is reachable, checked
//! as `git fsck --strict` would, and only then given to the person's store. Until then nothing has touched that.

use std::ffi::OsStr;
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::time::Duration;

use swarm_protocol::ids::Oid;

use super::OwnRepository;
use super::beneath::Beneath;
use super::quarantine::{Copied, copy};
use crate::call::{Git, GitCall, GitError};
use crate::marker::{lock_within, make_own_folder};
use swarm_process::{Input, ProcessError};

/// What git only warns of and `git fsck --strict` would show a person for ever.
const STRICT: &str = "--strict=badFilemode=error,gitignoreSymlink=error,gitattributesSymlink=error,\
                      mailmapSymlink=error,gitmodulesSymlink=error,emptyName=error,nullSha1=error";

/// So few objects become files of their own; more of them come as a pack.
const LOOSE_MAX: u32 = 200;

/// No more of what git said goes into a sentence.
const SAID_MAX: usize = 300;

/// Another one of us who takes from the same repository.
const OTHERS_LIMIT: Duration = Duration::from_secs(120);

/// A git that works on what a stranger made gets no longer than this.
const STEP_LIMIT: Duration = Duration::from_secs(120);

/// Beside twice the largest file: tables of everything that is copied.
const MEMORY_MIN: u64 = 512 << 20;

/// Everything that an agent's own repository may hold. A worktree's files are bounded elsewhere.
const ALL_BYTES_MAX: u64 = 4 << 30;

/// A list of the files of one commit; a longer one of git's is not read either. Git takes about three times as much
/// memory while it makes it.
const LISTED_BYTES_MAX: u64 = 512 << 20;

/// Beside what a large file takes: whatever is not foreseen ends here, and not where the machine has no more.
const DATA_MAX: u64 = 4 << 30;

/// How much is taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Of one file.
    pub file_bytes: u64,
    /// Of everything that the agent's repository holds.
    pub all_bytes: u64,
    /// Of a list of the files of one commit, with what git says of each.
    pub listed_bytes: u64,
}

impl Limits {
    /// With files of that size.
    pub fn of_files(file_bytes: u64) -> Self {
        Self { file_bytes, all_bytes: ALL_BYTES_MAX, listed_bytes: LISTED_BYTES_MAX }
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Taken {
    /// The person's store holds the commits with everything in them.
    Yes,
    /// For people and for the agent: why not, and what to do.
    Refused { why: String },
}

/// Commits in quarantine.
pub(super) struct Stranger<'a> {
    pub(super) git: &'a Git,
    pub(super) place: PathBuf,
    /// The most that git may take of memory at one time.
    memory_max: u64,
}

impl OwnRepository {
    /// Brings `tips` into the person's store. `expected` are commits of the person's store that they
    /// stand on: where those cannot be read, that is the answer.
    pub async fn take(
        &self,
        git: &Git,
        tips: &[&Oid],
        expected: &[&Oid],
        limits: Limits,
    ) -> Result<Taken, GitError> {
        let all = git.swarm_dir().join("taking");
        make_own_folder(&all)?;
        let lock = all.join(format!("{}.held", self.task));
        let Some(_held) = lock_within(&lock, "", OTHERS_LIMIT).await? else {
            let busy = std::io::Error::other("another swarm command takes from it and does not end");
            return Err(GitError::io("take", &lock)(busy));
        };
        let memory_max = MEMORY_MIN + 2 * limits.file_bytes;
        let stranger = Stranger { git, place: all.join(self.task.as_str()), memory_max };
        // What one that was killed has left.
        stranger.clear();
        // What is reachable from the person's refs was in order before, and is not taken again.
        let listed = git.refs_under_all(&["refs/heads", "refs/remotes", "refs/tags"]).await?;
        let mut known: Vec<Oid> = expected.iter().map(|oid| (*oid).clone()).collect();
        known.extend(listed.into_iter().map(|(_, oid)| oid));
        known.sort();
        known.dedup();
        // One branch that names nothing, of whomever, must not stop everybody's work.
        let missing = git.missing_objects(&known).await?;
        known.retain(|oid| !missing.contains(oid));
        let taken = stranger.take(self, tips, &known, limits).await;
        stranger.clear();
        let _ = std::fs::remove_file(&lock);
        if matches!(taken, Ok(Taken::Refused { .. })) {
            git.read_whole(expected).await?;
        }
        taken
    }
}

impl Stranger<'_> {
    fn clear(&self) {
        let _ = std::fs::remove_dir_all(&self.place);
    }

    pub(super) fn call<I: IntoIterator<Item = A>, A: AsRef<OsStr>>(&self, objects: &str, args: I) -> GitCall {
        // Alternates are a list parted by colons.
        self.git
            .call(args)
            .env("GIT_OBJECT_DIRECTORY", self.place.join(objects))
            .env("GIT_ALTERNATE_OBJECT_DIRECTORIES", quoted(&self.git.common_dir.join("objects")))
            .env("GIT_NO_REPLACE_OBJECTS", "1")
            // Some commands read one before they begin: a damaged one of the person is nobody's fault here.
            .env("GIT_INDEX_FILE", self.place.join("no-index"))
            .env("GIT_NO_LAZY_FETCH", "1")
            // A few bytes of a pack can unfold to more than the machine has.
            .env("GIT_ALLOC_LIMIT", self.memory_max.to_string())
            // And a few trees can name more files than it could list.
            .data_max(DATA_MAX + self.memory_max)
            .timeout(STEP_LIMIT)
    }

    /// Reads what was copied, as it came.
    pub(super) fn unchecked<I: IntoIterator<Item = A>, A: AsRef<OsStr>>(&self, args: I) -> GitCall {
        self.call("objects", args)
    }

    /// Reads what has passed git's checks.
    pub(super) fn checked<I: IntoIterator<Item = A>, A: AsRef<OsStr>>(&self, args: I) -> GitCall {
        self.call("checked", args)
    }

    async fn take(
        &self,
        own: &OwnRepository,
        tips: &[&Oid],
        known: &[Oid],
        limits: Limits,
    ) -> Result<Taken, GitError> {
        let copied = match self.copied(own, limits).await? {
            Ok(copied) => copied,
            Err(why) => return Ok(Taken::Refused { why }),
        };
        for pack in &copied.packs {
            // Its index is made anew: one that the agent wrote is not read.
            if let Some(why) = refusal(self.unchecked(["index-pack"]).arg(pack)).await? {
                return Ok(Taken::Refused { why: format!("a pack cannot be read: {why}") });
            }
        }
        if let Some(why) = self.packed(tips, known, &copied).await? {
            return Ok(Taken::Refused { why });
        }
        let Some(pack) = self.only_pack() else { return Ok(Taken::Yes) };
        let _ = std::fs::remove_file(pack.with_extension("idx"));
        let check = self.checked(["index-pack", STRICT]).arg(&pack);
        if let Some(why) = refusal(check).await? {
            return Ok(Taken::Refused { why: format!("git's own checks refuse it: {why}") });
        }
        match self.harm_in(own, tips, known, limits).await {
            Ok(None) => {}
            Ok(Some(why)) => return Ok(Taken::Refused { why }),
            Err(GitError::Failed { said, how, .. }) if !was_killed(&how) => {
                return Ok(Taken::Refused { why: short(&said) });
            }
            // Asked again it would be the same.
            Err(GitError::Process(
                error @ (ProcessError::TimedOut { .. } | ProcessError::TooMuchOutput { .. }),
            )) => return Ok(Taken::Refused { why: error.to_string() }),
            Err(error) => return Err(error),
        }
        self.give(&pack).await?;
        Ok(Taken::Yes)
    }

    async fn copied(&self, own: &OwnRepository, limits: Limits) -> Result<Result<Copied, String>, GitError> {
        let (from, known, into) = (own.dir.clone(), self.git.common_dir.join("objects"), self.place.clone());
        let copy = move || copy(&Beneath::open(&from)?, &known, &into, limits);
        let copied = tokio::task::spawn_blocking(copy).await;
        match copied.unwrap_or_else(|error| Err(std::io::Error::other(error))) {
            Ok(copied) => Ok(Ok(copied)),
            Err(error) if no_room(&error) => Err(GitError::io("copy to", &self.place)(error)),
            Err(error) => Ok(Err(format!("its repository cannot be copied: {error}"))),
        }
    }

    /// Everything that the commits hold and the person's store does not, in one pack. Some: why it cannot be had.
    async fn packed(
        &self,
        tips: &[&Oid],
        known: &[Oid],
        copied: &Copied,
    ) -> Result<Option<String>, GitError> {
        let pack = self.unchecked(["pack-objects", "--quiet", "--revs", "--no-reuse-delta", "--threads=1"]);
        // A person may have packs cut into several: only one is checked and given.
        let pack = pack.global("-c").global("pack.packSizeLimit=0");
        let pack = pack.arg(self.place.join("checked/pack/pack")).stdin(Input::Bytes(revs(tips, known)));
        let Some(why) = refusal(pack).await? else { return Ok(None) };
        let named = match copied.too_large.is_empty() {
            true => None,
            false => self.too_large(tips, copied).await?,
        };
        Ok(Some(named.unwrap_or_else(|| format!("its commits cannot be read: {why}"))))
    }

    fn only_pack(&self) -> Option<PathBuf> {
        let entries = std::fs::read_dir(self.place.join("checked/pack")).into_iter().flatten().flatten();
        entries.map(|entry| entry.path()).find(|path| path.extension().is_some_and(|end| end == "pack"))
    }

    /// Everything is in order: into the person's store.
    async fn give(&self, pack: &Path) -> Result<(), GitError> {
        let read = |error| GitError::io("read", pack)(error);
        let mut file = File::open(pack).map_err(read)?;
        let mut head = [0; 12];
        file.read_exact(&mut head).map_err(|error| GitError::io("read", pack)(error))?;
        let objects = u32::from_be_bytes([head[8], head[9], head[10], head[11]]);
        if objects <= LOOSE_MAX {
            let file = File::open(pack).map_err(GitError::io("open", pack))?;
            return self.git.call(["unpack-objects", "-q"]).stdin(Input::File(file)).ok().await.map(drop);
        }
        let store = self.git.common_dir.join("objects/pack");
        std::fs::create_dir_all(&store).map_err(GitError::io("make the folder", &store))?;
        // The index last: a pack without one is not looked at.
        for end in ["rev", "pack", "idx"] {
            let from = pack.with_extension(end);
            if from.is_file() {
                let to = store.join(from.file_name().unwrap_or_default());
                std::fs::rename(&from, &to).map_err(GitError::io("write", &to))?;
            }
        }
        Ok(())
    }
}

/// These commits without what is known, as git reads it.
pub(super) fn revs(tips: &[&Oid], known: &[Oid]) -> Vec<u8> {
    let wanted = tips.iter().map(|oid| format!("{oid}\n"));
    wanted.chain(known.iter().map(|oid| format!("^{oid}\n"))).collect::<String>().into_bytes()
}

/// Somebody ended it: that says nothing about what it worked on.
fn was_killed(how: &str) -> bool {
    how.starts_with("signal")
}

/// Why git refuses; an error only where git itself could not be run, or not to its end.
async fn refusal(call: GitCall) -> Result<Option<String>, GitError> {
    match call.ok().await {
        Ok(_) => Ok(None),
        Err(GitError::Failed { said, how, .. }) if !was_killed(&how) => {
            Ok(Some(if said.trim().is_empty() { how } else { short(&said) }))
        }
        Err(GitError::Process(error)) => Ok(Some(error.to_string())),
        Err(error) => Err(error),
    }
}

/// With this `index-pack` ends whatever it has found; which object it was, and what with it, it says before.
const NAMES_NOTHING: &str = "fsck error in packed object";

/// The last line that says something.
fn short(said: &str) -> String {
    let mut lines = said.lines().rev().filter(|line| !line.trim().is_empty());
    let line = match lines.next() {
        Some(last) if last.contains(NAMES_NOTHING) => lines.next().unwrap_or(last),
        Some(last) => last,
        None => said,
    };
    line.chars().take(SAID_MAX).flat_map(char::escape_default).collect()
}

fn no_room(error: &std::io::Error) -> bool {
    use std::io::ErrorKind::{QuotaExceeded, ReadOnlyFilesystem, StorageFull};
    matches!(error.kind(), StorageFull | QuotaExceeded | ReadOnlyFilesystem)
}

/// As the list of alternates has it: in quotes where the path could be taken for more than one.
fn quoted(path: &Path) -> std::ffi::OsString {
    use std::os::unix::ffi::{OsStrExt, OsStringExt};
    let bytes = path.as_os_str().as_bytes();
    if !bytes.contains(&b':') && !bytes.starts_with(b"\"") {
        return path.as_os_str().to_owned();
    }
    let mut text = vec![b'"'];
    for byte in bytes {
        if matches!(byte, b'"' | b'\\') {
            text.push(b'\\');
        }
        text.push(*byte);
    }
    text.push(b'"');
    std::ffi::OsString::from_vec(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_git_has_found_is_said_and_not_only_that_it_has_found_something() {
        let found = "error: object 4b825dc642cb: hasDotgit: contains .git";
        let check = |said: &str, expected: &str| assert_eq!(short(said), expected, "{said:?}");
        check(&format!("{found}\nfatal: fsck error in packed object\n"), found);
        check("fatal: fsck error in packed object\n", "fatal: fsck error in packed object");
        check("warning: slow\nfatal: bad object\n\n", "fatal: bad object");
        check("", "");
    }
}
