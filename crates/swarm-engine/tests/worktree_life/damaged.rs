//! One bit of a file of git is changed, or the file is cut or gone. Whatever it is, the worktree of a task is put right and
//! that is told, or the reason is told; no file of anybody and nothing that git still holds goes; and once the bytes are
//! back, so is the work.
//!
//! A few places of each file; `SWARM_TRIALS=full` takes a hundred.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

use swarm_git::Git;
use swarm_protocol::ids::Oid;
use swarm_work::worktree::{Flaw, Prepared, prepare};

use super::{Field, trunk};
use crate::git_scratch::{commit_all, git_in, task, write};

#[derive(Debug, Clone, Copy)]
enum Damage {
    Bit(usize),
    Cut(usize),
    Gone,
}

/// A repository with a task at work, and the same as it was before anything was damaged.
struct Ground {
    field: Field,
    worktree: PathBuf,
    tip: Oid,
    pristine: PathBuf,
}

impl Ground {
    /// `packed`: all objects in one pack, all refs in one file.
    async fn new(packed: bool) -> Self {
        let field = Field::new().await;
        let made = field.prepare("t1").await;
        write(&made.path, "own.txt", b"own\n");
        let tip = commit_all(&made.path, "work");
        write(&made.path, "half.txt", b"half\n");
        if packed {
            field.scratch.git(["repack", "-a", "-d", "--quiet"]);
            field.scratch.git(["pack-refs", "--all"]);
        }
        let pristine = field.scratch.dir.path().join("pristine");
        copy(&field.scratch.repo, &pristine);
        Self { worktree: made.path, tip, pristine, field }
    }

    fn git_dir(&self) -> PathBuf {
        self.field.scratch.at(".git")
    }

    fn object(&self, name: &str) -> PathBuf {
        let oid = git_in(&self.worktree, ["rev-parse", name]);
        self.git_dir().join("objects").join(&oid[..2]).join(&oid[2..])
    }

    /// As a coordinator does that has just started.
    async fn prepared(&self) -> Result<Prepared, String> {
        let repo = &self.field.scratch.repo;
        let git = Git::discover(repo).await.map_err(|error| error.to_string())?;
        let made = prepare(&git, &task("t1"), &self.field.scratch.worktrees(), &trunk()).await;
        made.map_err(|failure| failure.to_string())
    }

    async fn check(&self, file: &Path, damage: Damage) {
        let what = format!("{damage:?} of {}", file.display());
        let good = std::fs::read(file).expect("it is there");
        hit(file, damage);
        // What is damaged may be put aside, so that git can write it again.
        let mut objects = files_below(&self.git_dir().join("objects"));
        objects.remove(file);
        let of_the_person = self.of_the_person();
        let told = self.prepared().await;
        self.nothing_went(&objects, &what);
        assert_eq!(self.of_the_person(), of_the_person, "{what}");
        match told {
            Ok(made) => {
                let is_told = made.flaws.iter().any(Flaw::is_disorder);
                assert!(made.tip == self.tip || is_told, "{what}: {} without a word", made.tip);
            }
            Err(why) => {
                assert!(!why.trim().is_empty(), "{what}");
                let _ = std::fs::remove_file(file);
                std::fs::write(file, &good).expect("mended");
                let made = self.prepared().await.unwrap_or_else(|why| panic!("{what}, and mended: {why}"));
                self.nothing_went(&objects, &what);
                assert_eq!(git_in(&made.path, ["cat-file", "-t", self.tip.as_str()]), "commit", "{what}");
            }
        }
        std::fs::remove_dir_all(&self.field.scratch.repo).expect("removed");
        copy(&self.pristine, &self.field.scratch.repo);
    }

    /// What the person stands on, which is nobody else's to mend.
    fn of_the_person(&self) -> [Option<Vec<u8>>; 3] {
        ["HEAD", "index", "config"].map(|name| std::fs::read(self.git_dir().join(name)).ok())
    }

    fn nothing_went(&self, objects: &BTreeMap<PathBuf, Vec<u8>>, what: &str) {
        for (file, text) in [("own.txt", "own\n"), ("half.txt", "half\n")] {
            let found = std::fs::read_to_string(self.worktree.join(file)).ok();
            assert_eq!(found.as_deref(), Some(text), "{what}: {file}");
        }
        for (path, bytes) in objects {
            let same = std::fs::read(path).is_ok_and(|found| found == *bytes);
            assert!(same, "{what}: {} is gone or another", path.display());
        }
    }
}

fn hit(file: &Path, damage: Damage) {
    let mut bytes = std::fs::read(file).expect("it is there");
    // Objects cannot be written to, but they can be replaced.
    std::fs::remove_file(file).expect("removed");
    match damage {
        Damage::Bit(at) => bytes[at] ^= 1 << (at % 8),
        Damage::Cut(at) => bytes.truncate(at),
        Damage::Gone => return,
    }
    std::fs::write(file, bytes).expect("written");
}

fn copy(from: &Path, to: &Path) {
    let copied = Command::new("cp").arg("-a").arg(from).arg(to).status();
    assert!(copied.is_ok_and(|status| status.success()), "{} is copied", from.display());
}

fn files_below(dir: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut found = BTreeMap::new();
    let mut open = vec![dir.to_owned()];
    while let Some(dir) = open.pop() {
        for entry in std::fs::read_dir(&dir).into_iter().flatten().flatten() {
            let path = entry.path();
            if path.is_dir() {
                open.push(path);
            } else {
                let bytes = std::fs::read(&path).expect("it can be read");
                found.insert(path, bytes);
            }
        }
    }
    found
}

/// What is tried on the file that is the `nth` in its list: in a short run one kind of damage for each.
fn damages(nth: usize, len: usize) -> Vec<Damage> {
    let at = |part: usize, parts: usize| (2 * part + 1) * len / (2 * parts);
    if std::env::var("SWARM_TRIALS").is_ok_and(|value| value == "full") {
        let bits = (0..100).map(|part| Damage::Bit(at(part, 100)));
        let cuts = (0..10).map(|part| Damage::Cut(at(part, 10)));
        return bits.chain(cuts).chain([Damage::Cut(0), Damage::Gone]).collect();
    }
    let short = [Damage::Bit(at(0, 3)), Damage::Cut(at(1, 3)), Damage::Bit(at(2, 3)), Damage::Gone];
    vec![short[nth % short.len()]]
}

async fn sweep(ground: &Ground, files: &[PathBuf]) {
    for (nth, file) in files.iter().enumerate() {
        let len = std::fs::metadata(file).unwrap_or_else(|error| panic!("{}: {error}", file.display())).len();
        for damage in damages(nth, usize::try_from(len).expect("a small file")) {
            ground.check(file, damage).await;
        }
    }
}

#[tokio::test]
async fn a_damaged_ref_head_or_index_is_put_right_or_told_and_nothing_goes() {
    let ground = Ground::new(false).await;
    let names = [
        "refs/heads/swarm/t1",
        "refs/heads/main",
        "worktrees/t1/HEAD",
        "worktrees/t1/index",
        "HEAD",
        "index",
    ];
    sweep(&ground, &names.map(|name| ground.git_dir().join(name))).await;
}

#[tokio::test]
async fn a_damaged_object_is_put_right_or_told_and_nothing_goes() {
    let ground = Ground::new(false).await;
    let names = ["HEAD", "HEAD^{tree}", "HEAD:own.txt", "main", "main^{tree}", "main:a.txt"];
    sweep(&ground, &names.map(|name| ground.object(name))).await;
}

#[tokio::test]
async fn a_damaged_pack_its_index_or_the_file_of_all_refs_is_put_right_or_told_and_nothing_goes() {
    let ground = Ground::new(true).await;
    let of_pack = |ending: &str| {
        let mut found = files_below(&ground.git_dir().join("objects/pack")).into_keys();
        found.find(|path| path.extension().is_some_and(|e| e == ending)).expect("one pack")
    };
    let files = [of_pack("pack"), of_pack("idx"), ground.git_dir().join("packed-refs"), of_pack("pack")];
    sweep(&ground, &files).await;
}
