//! Files that git does not have but every checkout needs (`.env`): copied from the person's main checkout.
//!
//! Only what git ignores (anything else would be committed with the task's work), never over anything that is there already unless it is our own copy, never
//! through a link on either side: a link in the worktree may be an agent's commit that points out of it.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, Read, Write};
use std::os::fd::OwnedFd;
use std::os::unix::fs::MetadataExt;
use std::path::{Component, Path, PathBuf};

use rustix::fs::{AtFlags, Mode, OFlags};
use sha2::{Digest, Sha256};

use super::tree_walk::{Step, globs, walk};
use crate::remove::DISPOSABLE;
use swarm_git::{Git, GitError, path_of, read_marker, write_marker};
use swarm_process::Input;

/// What is copied, and how much at most.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CopyRule {
    /// From the root of the checkout: `.env`, `config/*.local.json`, `**/.env`.
    pub globs: Vec<String>,
    pub files_max: usize,
    pub bytes_max: u64,
}

impl CopyRule {
    pub fn new(globs: &[String]) -> Self {
        Self { globs: globs.to_vec(), files_max: 1000, bytes_max: 64 * 1024 * 1024 }
    }
}

#[derive(Debug, thiserror::Error)]
pub enum CopyError {
    #[error("more than {max} files match {globs}: name fewer in worktree.copy")]
    TooMany { max: usize, globs: String },
    #[error("the files that match {globs} have more than {max} bytes: name fewer in worktree.copy")]
    TooLarge { max: u64, globs: String },
    #[error("{} is not ignored by git, so its copy would be committed: add it to .gitignore or .git/info/exclude", path.display())]
    NotIgnored { path: PathBuf },
    #[error("{}: {why}", path.display())]
    File { path: PathBuf, why: String },
    #[error(transparent)]
    Git(#[from] GitError),
}

/// What was done; paths from the root.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Copied {
    pub copied: Vec<PathBuf>,
    /// There already, or a link that leads out of the checkout.
    pub left: Vec<PathBuf>,
}

/// What we have copied into a worktree: path → hash of the bytes.
type Record = BTreeMap<String, String>;

fn record_path(git: &Git, name: &str) -> PathBuf {
    git.swarm_dir().join("copied").join(format!("{name}.json"))
}

/// Copies what the rule names into the worktree. Asked again it brings our own unchanged copies up to date.
pub async fn copy_in(git: &Git, name: &str, worktree: &Path, rule: &CopyRule) -> Result<Copied, CopyError> {
    if rule.globs.is_empty() {
        return Ok(Copied::default());
    }
    let (from, to, asked) = (git.main_checkout.clone(), worktree.to_owned(), rule.clone());
    let found = blocking(move || candidates(&from, &asked)).await?;
    let names: Vec<&Path> = found.iter().map(PathBuf::as_path).collect();
    let index = git.common_dir.join("index");
    let tracked = git.indexed(&git.common_dir, &git.main_checkout, &index, &names).await?;
    let (mut untracked, mut left) = (Vec::new(), Vec::new());
    for path in found.iter().filter(|path| !tracked.contains_key(*path)) {
        if beyond_a_link(worktree, path) { &mut left } else { &mut untracked }.push(path.clone());
    }
    refuse_what_would_be_committed(git, worktree, &untracked).await?;
    let record_path = record_path(git, name);
    let known: Record = read_marker(&record_path).unwrap_or_default();
    let (from, bytes_max, shown) = (git.main_checkout.clone(), rule.bytes_max, rule.globs.join(" "));
    let (done, record) = blocking(move || {
        let done = Copied { copied: Vec::new(), left };
        let mut work = Copying { from, to, known, bytes_left: bytes_max, done };
        for path in untracked {
            if !work.one(&path)? {
                return Err(CopyError::TooLarge { max: bytes_max, globs: shown });
            }
        }
        Ok((work.done, work.known))
    })
    .await?;
    write_marker(&record_path, &record)?;
    Ok(done)
}

/// A part of the way is a link in the worktree, perhaps one that an agent has committed.
fn beyond_a_link(worktree: &Path, path: &Path) -> bool {
    let above = path.ancestors().skip(1).filter(|part| !part.as_os_str().is_empty());
    above
        .into_iter()
        .any(|part| std::fs::symlink_metadata(worktree.join(part)).is_ok_and(|meta| !meta.is_dir()))
}

/// A copy that git does not ignore in the worktree would end up in the task's commits, and so on the trunk.
async fn refuse_what_would_be_committed(
    git: &Git,
    worktree: &Path,
    paths: &[PathBuf],
) -> Result<(), CopyError> {
    if paths.is_empty() {
        return Ok(());
    }
    let mut input = Vec::new();
    for path in paths {
        input.extend_from_slice(path.as_os_str().as_encoded_bytes());
        input.push(0);
    }
    let call = git.call(["check-ignore", "-z", "--stdin", "--no-index"]).work_tree(worktree);
    let ignored = call.stdin(Input::Bytes(input)).long_list().if_yes().await?.unwrap_or_default();
    let ignored: Vec<PathBuf> = ignored.split(|b| *b == 0).map(path_of).collect();
    match paths.iter().find(|path| !ignored.contains(path)) {
        Some(path) => Err(CopyError::NotIgnored { path: path.clone() }),
        None => Ok(()),
    }
}

async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, CopyError> + Send + 'static,
) -> Result<T, CopyError> {
    match tokio::task::spawn_blocking(work).await {
        Ok(result) => result,
        Err(error) => Err(CopyError::File { path: PathBuf::new(), why: error.to_string() }),
    }
}

/// Whether this file of a worktree is a copy of ours that nobody has changed, or the very same as the person's.
pub(crate) fn is_our_copy(git: &Git, name: &str, worktree: &Path, path: &Path) -> bool {
    let Some(found) = hash_of(&worktree.join(path)) else { return false };
    let known: Record = read_marker(&record_path(git, name)).unwrap_or_default();
    let ours = path.to_str().and_then(|path| known.get(path)).is_some_and(|hash| *hash == found);
    ours || hash_of(&git.main_checkout.join(path)).is_some_and(|hash| hash == found)
}

pub(crate) fn forget_copies(git: &Git, name: &str) {
    let _ = std::fs::remove_file(record_path(git, name));
}

/// Hash of a file of a size that could have been copied.
fn hash_of(path: &Path) -> Option<String> {
    let file = open_plain(path).ok()?;
    let mut bytes = Vec::new();
    file.take(CopyRule::new(&[]).bytes_max).read_to_end(&mut bytes).ok()?;
    Some(hex(&bytes))
}

fn hex(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}

fn open_plain(path: &Path) -> io::Result<File> {
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let file = File::from(rustix::fs::open(path, flags, Mode::empty())?);
    if file.metadata()?.is_file() { Ok(file) } else { Err(io::Error::other("not a plain file")) }
}

/// Files of the main checkout that the globs name; folders mean everything in them.
fn candidates(root: &Path, rule: &CopyRule) -> Result<Vec<PathBuf>, CopyError> {
    let mut found = Vec::new();
    let mut patterns = Vec::new();
    for glob in &rule.globs {
        let plain = Path::new(glob.trim_start_matches("./").trim_end_matches('/'));
        let inside = plain.components().all(|part| matches!(part, Component::Normal(_)));
        let reserved = plain.starts_with(".git") || plain.starts_with(".swarm");
        if !inside || reserved || plain.as_os_str().is_empty() {
            let why = "worktree.copy names files inside of the checkout, not of .git or .swarm".to_owned();
            return Err(CopyError::File { path: glob.into(), why });
        }
        if glob.contains(['*', '?', '[', '{']) {
            patterns.push(glob.clone());
        } else {
            match std::fs::symlink_metadata(root.join(plain)) {
                Ok(meta) if meta.is_dir() => patterns.push(format!("{}/**", plain.display())),
                Ok(_) => found.push(plain.to_owned()),
                Err(_) => {}
            }
        }
    }
    let too_many = || CopyError::TooMany { max: rule.files_max, globs: rule.globs.join(" ") };
    if !patterns.is_empty() {
        let wanted = globs(&patterns);
        let whole = walk(root, |path, meta| {
            if meta.is_dir() {
                let cache =
                    path.file_name().is_some_and(|name| DISPOSABLE.iter().any(|known| name == *known));
                return if cache { Step::Past } else { Step::Into };
            }
            if wanted.is_match(path) {
                found.push(path.to_owned());
            }
            if found.len() > rule.files_max { Step::End } else { Step::Into }
        });
        if !whole {
            return Err(too_many());
        }
    }
    found.sort();
    found.dedup();
    if found.len() > rule.files_max { Err(too_many()) } else { Ok(found) }
}

struct Copying {
    from: PathBuf,
    to: PathBuf,
    known: Record,
    bytes_left: u64,
    done: Copied,
}

impl Copying {
    /// False when the bound on bytes is reached.
    fn one(&mut self, path: &Path) -> Result<bool, CopyError> {
        let failed = |error: io::Error| CopyError::File { path: path.to_owned(), why: error.to_string() };
        let Some(source) = self.source(path).map_err(failed)? else {
            self.done.left.push(path.to_owned());
            return Ok(true);
        };
        let meta = source.metadata().map_err(failed)?;
        let mut bytes = Vec::new();
        source.take(self.bytes_left + 1).read_to_end(&mut bytes).map_err(failed)?;
        let Some(left) = self.bytes_left.checked_sub(bytes.len() as u64) else { return Ok(false) };
        self.bytes_left = left;
        let Some(name) = path.to_str() else {
            self.done.left.push(path.to_owned());
            return Ok(true);
        };
        let (ours, hash) = (self.known.get(name), hex(&bytes));
        let put = Put { bytes: &bytes, mode: meta.mode() & 0o777, replaces: ours.map(String::as_str) };
        match put.at(&self.to, path) {
            Ok(true) => {
                self.known.insert(name.to_owned(), hash);
                self.done.copied.push(path.to_owned());
            }
            Ok(false) => self.done.left.push(path.to_owned()),
            Err(error) => return Err(failed(error)),
        }
        Ok(true)
    }

    /// A plain file, or the one that a link inside of the checkout leads to; nothing for anything else.
    fn source(&self, path: &Path) -> io::Result<Option<File>> {
        let root = std::fs::canonicalize(&self.from)?;
        let Ok(real) = std::fs::canonicalize(self.from.join(path)) else { return Ok(None) };
        let Ok(inside) = real.strip_prefix(&root) else { return Ok(None) };
        if inside.starts_with(".git") || inside.starts_with(".swarm") {
            return Ok(None);
        }
        Ok(open_plain(&real).ok())
    }
}

struct Put<'a> {
    bytes: &'a [u8],
    mode: u32,
    /// Hash of our earlier copy: a file with it may be replaced.
    replaces: Option<&'a str>,
}

impl Put<'_> {
    /// Writes the file below `top`. False when something is in the way.
    fn at(&self, top: &Path, path: &Path) -> io::Result<bool> {
        let Some(folder) = folder_of(top, path)? else { return Ok(false) };
        let Some(name) = path.file_name() else { return Ok(false) };
        if rustix::fs::statat(&folder, name, AtFlags::SYMLINK_NOFOLLOW).is_ok() {
            let found = hash_of(&top.join(path));
            if found.as_deref() == Some(&hex(self.bytes)) {
                return Ok(true);
            }
            if found.is_none() || found.as_deref() != self.replaces {
                return Ok(false);
            }
        }
        // Beside it first, so that it is never half there.
        let beside = format!(".swarm-copy-{}", ulid::Ulid::generate());
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let fresh = rustix::fs::openat(&folder, &beside, flags, Mode::from_raw_mode(0o600))?;
        let mut fresh = File::from(fresh);
        fresh.write_all(self.bytes)?;
        rustix::fs::fchmod(&fresh, Mode::from_raw_mode(self.mode))?;
        rustix::fs::renameat(&folder, &beside, &folder, name)?;
        Ok(true)
    }
}

/// Opens the folder that `path` lies in, making what is missing; nothing when a part of the way is no folder.
fn folder_of(top: &Path, path: &Path) -> io::Result<Option<OwnedFd>> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let mut folder = rustix::fs::open(top, flags, Mode::empty())?;
    for part in path.parent().into_iter().flat_map(Path::components) {
        match rustix::fs::mkdirat(&folder, part.as_os_str(), Mode::from_raw_mode(0o755)) {
            Ok(()) | Err(rustix::io::Errno::EXIST) => {}
            Err(error) => return Err(error.into()),
        }
        folder = match rustix::fs::openat(&folder, part.as_os_str(), flags, Mode::empty()) {
            Ok(next) => next,
            Err(rustix::io::Errno::LOOP | rustix::io::Errno::NOTDIR) => return Ok(None),
            Err(error) => return Err(error.into()),
        };
    }
    Ok(Some(folder))
}
