//! Files that came with the repository and would be executed, or would steer what is: nobody here wrote them, so a
//! person agrees to each content once before it counts. What git does not track was put there by the person.
//!
//! What was agreed to is remembered outside the repository, where no clone and no agent can write it.

use std::collections::{BTreeMap, BTreeSet};
use std::io::Read;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use swarm_git::{Git, GitError, path_of};

use crate::paths::Paths;

/// More of a file is not read: nobody would, before agreeing to it.
const FILE_MAX: u64 = 1024 * 1024;
const FILES_MAX: usize = 1000;
const DEPTH_MAX: u32 = 3;

/// A file that is executed, or steers what is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Steering {
    /// From the root of the repository.
    pub path: PathBuf,
    /// Git has it: a clone, a pull or a merge may have brought it.
    pub tracked: bool,
    /// Of its content and of whether it can be executed; none: it cannot be read, or is too large to be agreed to.
    pub digest: Option<String>,
    /// It was agreed to as it is.
    pub agreed: bool,
}

/// What a person has agreed to in one repository.
#[derive(Debug, Default, Serialize, Deserialize)]
struct Agreed {
    /// Where the repository lies, for whoever reads the file.
    root: PathBuf,
    files: BTreeMap<PathBuf, BTreeSet<String>>,
}

/// Where agreements are kept.
#[derive(Debug, Clone)]
pub struct Trust {
    file: Option<PathBuf>,
    root: PathBuf,
}

/// The person's own folder for state; none: nothing says where it is.
pub fn state_folder() -> Option<PathBuf> {
    let set = |name: &str| std::env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
    set("XDG_STATE_HOME").or_else(|| set("HOME").map(|home| home.join(".local/state")))
}

impl Trust {
    /// Below the person's own folder for state.
    pub fn of(paths: &Paths) -> Self {
        Self::below(state_folder().as_deref(), paths)
    }

    fn below(state: Option<&Path>, paths: &Paths) -> Self {
        let root = std::fs::canonicalize(&paths.root).unwrap_or_else(|_| paths.root.clone());
        let name = hex(&Sha256::digest(root.as_os_str().as_encoded_bytes()));
        let file = state.map(|state| state.join("swarm/trust").join(format!("{}.json", &name[..32])));
        Self { file, root }
    }

    /// Everything of that kind that is there, with whether it was agreed to.
    pub async fn look(&self, git: &Git, paths: &Paths) -> Result<Vec<Steering>, GitError> {
        let mut there = Vec::new();
        for name in ["config.json", "hooks", "prompts"] {
            // With a bound of its own: a crowd of files in one folder must not hide what is in another.
            let mut found = Vec::new();
            gather(&paths.root, &Path::new(".swarm").join(name), DEPTH_MAX, &mut found);
            there.append(&mut found);
        }
        if there.is_empty() {
            return Ok(vec![]);
        }
        let listed = git.call(["ls-files", "-z", "--cached", "--", ".swarm"]).long_list().ok().await?;
        let tracked: BTreeSet<PathBuf> =
            listed.split(|byte| *byte == 0).filter(|name| !name.is_empty()).map(path_of).collect();
        let agreed = self.read();
        let file = |path: PathBuf| {
            let digest = digest(&paths.root.join(&path));
            let known = agreed.files.get(&path);
            let agreed = digest.as_ref().is_some_and(|digest| known.is_some_and(|all| all.contains(digest)));
            // One that is a link, or lies behind one, may lead to what git has.
            let tracked = path.ancestors().any(|part| tracked.contains(part));
            Steering { tracked, path, digest, agreed }
        };
        Ok(there.into_iter().map(file).collect())
    }

    /// What nobody has agreed to. What the person put there is the person's own: it stays so when git has it.
    pub async fn unknown(&self, git: &Git, paths: &Paths) -> Result<Vec<Steering>, GitError> {
        let (unknown, own): (Vec<_>, Vec<_>) = self
            .look(git, paths)
            .await?
            .into_iter()
            .filter(|file| !file.agreed)
            .partition(|file| file.tracked);
        if own.iter().any(|file| file.digest.is_some()) {
            // Where it cannot be remembered it is asked for later.
            if let Err(error) = self.agree(&own) {
                tracing::info!(%error, "what is the person's own is not remembered");
            }
        }
        Ok(unknown)
    }

    /// Remembers these as they were looked at.
    pub fn agree(&self, files: &[Steering]) -> std::io::Result<()> {
        let mut agreed = self.read();
        agreed.root.clone_from(&self.root);
        for file in files {
            let digests = agreed.files.entry(file.path.clone()).or_default();
            digests.extend(file.digest.clone());
        }
        self.write(&agreed)
    }

    /// Forgets everything that was agreed to here.
    pub fn forget(&self) -> std::io::Result<()> {
        match self.file.as_ref().map(std::fs::remove_file) {
            Some(Err(error)) if error.kind() != std::io::ErrorKind::NotFound => Err(error),
            _ => Ok(()),
        }
    }

    fn read(&self) -> Agreed {
        let text = self.file.as_ref().and_then(|file| std::fs::read(file).ok());
        text.and_then(|text| serde_json::from_slice(&text).ok()).unwrap_or_default()
    }

    fn write(&self, agreed: &Agreed) -> std::io::Result<()> {
        let nowhere = || std::io::Error::other("neither HOME nor XDG_STATE_HOME says where");
        let file = self.file.as_ref().ok_or_else(nowhere)?;
        let folder = file.parent().ok_or_else(nowhere)?;
        std::fs::DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
        let mut part = file.clone();
        part.set_extension(format!("{}.part", std::process::id()));
        let text = serde_json::to_vec_pretty(agreed)?;
        let mut options = std::fs::OpenOptions::new();
        let mut out = options.write(true).create(true).truncate(true).mode(0o600).open(&part)?;
        std::io::Write::write_all(&mut out, &text)?;
        out.sync_all()?;
        std::fs::rename(&part, file)
    }
}

/// Files below this one, or itself, named from the root. What is deeper is no hook and no prompt.
fn gather(root: &Path, path: &Path, depth: u32, found: &mut Vec<PathBuf>) {
    let full = root.join(path);
    let Ok(meta) = std::fs::metadata(&full).or_else(|_| std::fs::symlink_metadata(&full)) else { return };
    if !meta.is_dir() {
        found.push(path.to_owned());
        return;
    }
    if depth == 0 || found.len() > FILES_MAX {
        return;
    }
    let mut names: Vec<_> =
        std::fs::read_dir(&full).into_iter().flatten().flatten().map(|entry| entry.file_name()).collect();
    names.sort();
    names.iter().for_each(|name| gather(root, &path.join(name), depth - 1, found));
}

/// A link is read as what it leads to: that is what would be executed.
fn digest(path: &Path) -> Option<String> {
    let file = std::fs::OpenOptions::new().read(true).custom_flags(libc_nonblock()).open(path).ok()?;
    let meta = file.metadata().ok().filter(std::fs::Metadata::is_file)?;
    let mut bytes = Vec::new();
    file.take(FILE_MAX + 1).read_to_end(&mut bytes).ok()?;
    if bytes.len() as u64 > FILE_MAX {
        return None;
    }
    let runs = meta.permissions().mode() & 0o111 != 0;
    let mut hash = Sha256::new();
    hash.update([u8::from(runs)]);
    hash.update(&bytes);
    Some(hex(&hash.finalize()))
}

/// A pipe in the place of a file must not hold us up.
fn libc_nonblock() -> i32 {
    i32::try_from(rustix::fs::OFlags::NONBLOCK.bits()).unwrap_or(0)
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sh(root: &Path, args: &[&str]) {
        let done = std::process::Command::new("git").current_dir(root).args(args).output().expect("git runs");
        assert!(done.status.success(), "{args:?}: {}", String::from_utf8_lossy(&done.stderr));
    }

    #[tokio::test]
    async fn what_came_with_the_repository_is_agreed_to_by_content_and_the_persons_own_needs_no_word() {
        let folder = tempfile::tempdir().expect("a folder");
        let (root, state) = (folder.path().join("repo"), folder.path().join("state"));
        std::fs::create_dir_all(root.join(".swarm/hooks")).expect("folders");
        sh(&root, &["init", "-q"]);
        let who = ["-c", "user.name=a", "-c", "user.email=a@localhost"];
        sh(&root, &[&who[..], &["commit", "-q", "--allow-empty", "-m", "start"]].concat());
        let git = Git::discover(&root).await.expect("a repository");
        let paths = Paths::new(&git.main_checkout, &git.common_dir);
        let trust = Trust::below(Some(&state), &paths);
        let names = |files: Vec<Steering>| -> Vec<String> {
            files.into_iter().map(|file| file.path.display().to_string()).collect()
        };
        std::fs::write(&paths.config, "{}").expect("written");
        assert_eq!(
            names(trust.unknown(&git, &paths).await.expect("looked")),
            [""; 0],
            "it is the person's own"
        );
        sh(&root, &["add", "-f", ".swarm/config.json"]);
        assert_eq!(names(trust.unknown(&git, &paths).await.expect("looked")), [""; 0], "and stays so");
        // As a merge or a pull leaves it.
        let hook = root.join(".swarm/hooks/pre-start.sh");
        std::fs::write(&hook, "#!/bin/sh\n").expect("written");
        sh(&root, &["add", "-f", ".swarm/hooks"]);
        std::fs::write(&paths.config, "{\"agent\": \"x\"}").expect("written");
        let unknown = trust.unknown(&git, &paths).await.expect("looked");
        assert_eq!(names(unknown.clone()), [".swarm/config.json", ".swarm/hooks/pre-start.sh"]);
        trust.agree(&unknown).expect("remembered");
        assert_eq!(names(trust.unknown(&git, &paths).await.expect("looked")), [""; 0]);
        let mut runs = std::fs::metadata(&hook).expect("there").permissions();
        runs.set_mode(0o755);
        std::fs::set_permissions(&hook, runs).expect("changed");
        assert_eq!(
            names(trust.unknown(&git, &paths).await.expect("looked")).len(),
            1,
            "now it can be executed"
        );
        trust.forget().expect("forgotten");
        assert_eq!(names(trust.unknown(&git, &paths).await.expect("looked")).len(), 2);
    }

    #[tokio::test]
    async fn a_crowd_of_files_in_one_folder_does_not_hide_what_is_in_another() {
        let folder = tempfile::tempdir().expect("a folder");
        let root = folder.path().join("repo");
        for name in ["hooks/crowd", "prompts"] {
            std::fs::create_dir_all(root.join(".swarm").join(name)).expect("folders");
        }
        sh(&root, &["init", "-q"]);
        let who = ["-c", "user.name=a", "-c", "user.email=a@localhost"];
        sh(&root, &[&who[..], &["commit", "-q", "--allow-empty", "-m", "start"]].concat());
        for n in 0..=FILES_MAX {
            std::fs::write(root.join(format!(".swarm/hooks/crowd/{n}")), "").expect("written");
        }
        std::fs::write(root.join(".swarm/prompts/work.md"), "Do as I say").expect("written");
        let git = Git::discover(&root).await.expect("a repository");
        let paths = Paths::new(&git.main_checkout, &git.common_dir);
        let trust = Trust::below(Some(&folder.path().join("state")), &paths);
        let there = trust.look(&git, &paths).await.expect("looked");
        assert!(there.iter().any(|file| file.path.ends_with("prompts/work.md")), "{} files", there.len());
    }
}
