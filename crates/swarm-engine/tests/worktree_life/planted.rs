//! S1: nothing that an agent can write makes our own git run it.

use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use super::{Field, is_clean};
use crate::git_scratch::{commit_all, git_in, task, try_git_in, write};
use swarm_git::tips;
use swarm_protocol::ids::{AgentId, Oid, RunId};
use swarm_work::build::{BuildOutcome, Work, build};
use swarm_work::merge_tree;
use swarm_work::publish::{Intent, Publication, publish};
use swarm_work::remove::Removal;
use swarm_work::rescue::{RESCUE_FILE_MAX_BYTES, Rest, commit_rest, save_wip};
use swarm_work::restore::{restore, saved};
use swarm_work::worktree::Prepared;
use swarm_work::worktree::overview::overview;
use swarm_work::worktree::pool::tend;

/// Settings that name a program.
const KEYS: [&str; 15] = [
    "core.fsmonitor",
    "core.sshCommand",
    "core.pager",
    "core.editor",
    "core.alternateRefsCommand",
    "core.askPass",
    "diff.external",
    "gpg.program",
    "credential.helper",
    "filter.trap.clean",
    "filter.trap.smudge",
    "filter.trap.process",
    "diff.trap.textconv",
    "merge.trap.driver",
    "sequence.editor",
];

const HOOKS: [&str; 8] = [
    "post-checkout",
    "reference-transaction",
    "post-index-change",
    "pre-commit",
    "post-commit",
    "post-merge",
    "pre-auto-gc",
    "fsmonitor-watchman",
];

struct Trap {
    script: PathBuf,
    trace: PathBuf,
    /// A repository in which everything that can name a program does.
    evil: PathBuf,
}

impl Trap {
    fn set(field: &Field) -> Self {
        let top = std::fs::canonicalize(field.scratch.dir.path()).unwrap();
        let (script, trace, evil) = (top.join("trap.sh"), top.join("it-ran"), top.join("evil"));
        std::fs::write(&script, format!("#!/bin/sh\necho \"$0 $*\" >> {}\ncat\n", trace.display())).unwrap();
        std::fs::set_permissions(&script, std::fs::Permissions::from_mode(0o755)).unwrap();
        std::fs::create_dir(&evil).unwrap();
        git_in(&evil, ["init", "--quiet", "--initial-branch=main"]);
        for hook in HOOKS {
            std::fs::create_dir_all(evil.join(".git/hooks")).unwrap();
            std::fs::copy(&script, evil.join(".git/hooks").join(hook)).unwrap();
        }
        write(&evil, ".git/config", Self::config(&script, &evil.join(".git/hooks")).as_bytes());
        Self { script, trace, evil }
    }

    fn config(script: &Path, hooks: &Path) -> String {
        let mut text = String::from("[core]\n\trepositoryformatversion = 0\n");
        text += &format!("\thooksPath = {}\n[commit]\n\tgpgsign = true\n", hooks.display());
        for key in KEYS {
            let (section, name) = key.rsplit_once('.').unwrap();
            let section = match section.split_once('.') {
                Some((first, second)) => format!("{first} \"{second}\""),
                None => section.to_owned(),
            };
            text += &format!("[{section}]\n\t{name} = {}\n", script.display());
        }
        text
    }

    /// Files that ask for the traps, wherever the configuration has them.
    fn attributes(&self, worktree: &Path) {
        write(worktree, ".gitattributes", b"* filter=trap diff=trap merge=trap\n");
        write(worktree, "dir/.gitattributes", b"* filter=trap diff=trap merge=trap\n");
    }

    fn plant(&self, how: Plant, made: &Prepared) {
        let (record, path) = (&made.record, &made.path);
        let evil_git = self.evil.join(".git");
        match how {
            Plant::Pointer => write(path, ".git", format!("gitdir: {}\n", evil_git.display()).as_bytes()),
            Plant::Repository => {
                std::fs::remove_file(path.join(".git")).unwrap();
                let copied =
                    std::process::Command::new("cp").arg("-a").arg(&evil_git).arg(path.join(".git")).status();
                assert!(copied.unwrap().success());
            }
            Plant::CommonDir => write(record, "commondir", format!("{}\n", evil_git.display()).as_bytes()),
            Plant::Config => {
                let config = Self::config(&self.script, &evil_git.join("hooks"));
                for name in ["config.worktree", "config", "info/config"] {
                    write(record, name, config.as_bytes());
                }
                write(record, "info/attributes", b"* filter=trap\n");
                write(path, ".gitconfig", config.as_bytes());
            }
            Plant::Nested => {
                let copied = std::process::Command::new("cp")
                    .arg("-a")
                    .arg(&self.evil)
                    .arg(path.join("nested"))
                    .status();
                assert!(copied.unwrap().success());
                write(path, "nested/file.txt", b"x\n");
            }
            Plant::Head => write(record, "HEAD", b"ref: refs/heads/main\n"),
            Plant::Elsewhere => {
                write(record, "gitdir", format!("{}\n", self.evil.join(".git").display()).as_bytes())
            }
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Plant {
    Pointer,
    Repository,
    CommonDir,
    Config,
    Nested,
    Head,
    Elsewhere,
}

async fn check(how: Plant) {
    let field = Field::with_pool(1).await;
    // So that git reads `config.worktree` at all.
    field.scratch.git(["config", "extensions.worktreeConfig", "true"]);
    let trap = Trap::set(&field);
    let (git, name) = (&field.git, task("t1"));
    let made = field.prepare("t1").await;
    write(&made.path, "x.txt", b"x\n");
    commit_all(&made.path, "work");
    let tip = field.scratch.oid("swarm/t1");
    trap.attributes(&made.path);
    trap.plant(how, &made);
    // The trap works: a git that believes the files springs it.
    let sprung = try_git_in(&made.path, ["add", "-A"]);
    if matches!(how, Plant::Pointer | Plant::Repository | Plant::CommonDir | Plant::Config) {
        assert!(trap.trace.exists(), "{how:?} is no trap: {sprung:?}");
    }
    let _ = std::fs::remove_file(&trap.trace);
    let quiet = |step: &str| {
        let ran = std::fs::read_to_string(&trap.trace).unwrap_or_default();
        assert!(ran.is_empty(), "{how:?}, {step}: {ran}");
    };
    let _ = tips::look(git, &made.record, &name).await;
    overview(git, &field.scratch.worktrees(), &field.scratch.at(".swarm/worktrees/merge")).await.unwrap();
    quiet("looking");
    save_wip(git, &made.path, &name, &RunId::nth(1), &tip).await.unwrap().expect("there is work");
    quiet("saving");
    let Rest::Committed(tip) =
        commit_rest(git, &made.path, &name, &tip, "rest\n", RESCUE_FILE_MAX_BYTES).await.unwrap()
    else {
        panic!()
    };
    quiet("committing the rest");
    merged(&field, &made, &tip, &trap).await;
    quiet("merging");
    // In the middle of it the next attempt begins, and is in order again.
    let again = field.prepare("t1").await;
    quiet("attaching");
    if how != Plant::Nested {
        is_clean(&again.path, "swarm/t1");
        quiet("a person's or agent's git afterwards");
    }
    let removal = field.give_up("t1").await;
    quiet("giving up");
    assert_eq!(matches!(removal, Removal::Kept { .. }), how == Plant::Nested, "{removal:?}");
    tend(git, field.pool.as_ref().unwrap()).await.unwrap();
    let next = field.prepare("t2").await;
    quiet("recycling");
    assert_eq!(next.recycled, how != Plant::Nested);
    let all = saved(git, &field.scratch.worktrees(), "main").await.unwrap();
    for one in &all {
        restore(git, one, &field.scratch.at(".swarm/restored")).await.unwrap();
    }
    quiet("restoring");
}

async fn merged(field: &Field, made: &Prepared, tip: &Oid, trap: &Trap) {
    let git = &field.git;
    let trunk = field.scratch.oid("main");
    let work = Work {
        task: task("t1"),
        agent: Some(AgentId::new("ed-001").unwrap()),
        base: made.base.clone(),
        tip: tip.clone(),
        trunk: trunk.clone(),
        at_secs: 1_700_000_000,
        reviewed: false,
        regenerate: vec![],
    };
    let BuildOutcome::Built(built) = build(git, &work).await.unwrap() else { panic!("nothing was built") };
    let place = field.scratch.at(".swarm/worktrees/merge");
    merge_tree::show(git, &place, &built.result).await.unwrap();
    // A verification plants, too.
    let record = field.scratch.at(".git/worktrees/swarm-merge");
    write(&record, "commondir", format!("{}\n", trap.evil.join(".git").display()).as_bytes());
    write(&place, ".git", format!("gitdir: {}\n", trap.evil.join(".git").display()).as_bytes());
    merge_tree::show(git, &place, &trunk).await.unwrap();
    merge_tree::show(git, &place, &built.result).await.unwrap();
    assert_eq!(git_in(&place, ["rev-parse", "HEAD"]), built.result.as_str());
    let _ = std::fs::remove_file(&trap.trace);
    let intent = Intent { trunk: "main".into(), old: trunk, new: built.result };
    assert_eq!(publish(git, &intent).await.unwrap(), Publication::Published);
    assert_eq!(field.scratch.read("x.txt"), "x\n", "the person's checkout came along");
}

#[tokio::test]
async fn a_pointer_to_another_repository_is_not_followed() {
    check(Plant::Pointer).await;
}

#[tokio::test]
async fn a_repository_in_place_of_the_pointer_is_not_opened() {
    let field = Field::new().await;
    let trap = Trap::set(&field);
    let made = field.prepare("t1").await;
    trap.attributes(&made.path);
    trap.plant(Plant::Repository, &made);
    let _ = std::fs::remove_file(&trap.trace);
    save_wip(&field.git, &made.path, &task("t1"), &RunId::nth(1), &made.tip).await.unwrap().unwrap();
    assert!(matches!(field.give_up("t1").await, Removal::Kept { .. }));
    let again = field.prepare("t1").await;
    assert!(!trap.trace.exists());
    assert_eq!(git_in(&again.path, ["rev-parse", "--abbrev-ref", "HEAD"]), "swarm/t1");
}

#[tokio::test]
async fn another_commondir_is_not_believed() {
    check(Plant::CommonDir).await;
}

#[tokio::test]
async fn configuration_of_the_worktree_alone_is_not_read() {
    check(Plant::Config).await;
}

#[tokio::test]
async fn a_nested_repository_is_not_entered() {
    check(Plant::Nested).await;
}

#[tokio::test]
async fn a_worktree_that_pretends_to_show_the_trunk_is_not_published_into() {
    check(Plant::Head).await;
}

#[tokio::test]
async fn a_record_that_says_it_belongs_elsewhere_is_known_by_its_name() {
    check(Plant::Elsewhere).await;
}
