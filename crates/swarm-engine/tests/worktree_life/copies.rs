//! Files that git does not have, in every worktree.

use std::os::unix::fs::{PermissionsExt, symlink};

use super::Field;
use crate::git_scratch::{commit_all, write};
use swarm_work::remove::{KeptWhy, Removal};
use swarm_work::worktree::copy::{CopyError, CopyRule, copy_in};
use swarm_work::worktree::ports::port_base;

fn rule(globs: &[&str]) -> CopyRule {
    CopyRule::new(&globs.iter().map(|glob| (*glob).to_owned()).collect::<Vec<_>>())
}

#[tokio::test]
async fn an_env_file_is_in_every_worktree_with_its_mode_and_goes_with_it() {
    let mut field = Field::with_pool(1).await;
    field.copy = Some(rule(&[".env", "ignored/**"]));
    field.scratch.write(".env", "SECRET=1\n");
    field.scratch.write("ignored/deep/key.txt", "key\n");
    std::fs::set_permissions(field.scratch.at(".env"), std::fs::Permissions::from_mode(0o600)).unwrap();
    let made = field.prepare("t1").await;
    let env = made.path.join(".env");
    assert_eq!(std::fs::read(&env).unwrap(), b"SECRET=1\n");
    assert_eq!(std::fs::metadata(&env).unwrap().permissions().mode() & 0o777, 0o600);
    assert!(made.path.join("ignored/deep/key.txt").exists());
    // The person changes theirs: an unchanged copy follows, and is still no reason to stay.
    field.scratch.write(".env", "SECRET=2\n");
    field.prepare("t1").await;
    assert_eq!(std::fs::read(&env).unwrap(), b"SECRET=2\n");
    field.scratch.write(".env", "SECRET=3\n");
    assert_eq!(field.give_up("t1").await, Removal::Removed);
    // A copy that an agent has changed is never written over and never thrown away.
    let made = field.prepare("t2").await;
    write(&made.path, ".env", b"SECRET=mine\n");
    field.prepare("t2").await;
    assert_eq!(std::fs::read(made.path.join(".env")).unwrap(), b"SECRET=mine\n");
    let kept = field.give_up("t2").await;
    assert_eq!(kept, Removal::Kept { why: KeptWhy::IgnoredFile { path: ".env".into() } });
}

#[tokio::test]
async fn copies_never_leave_the_checkout_and_never_replace_what_git_has() {
    let field = Field::new().await;
    let outside = field.scratch.dir.path().join("outside");
    std::fs::create_dir(&outside).unwrap();
    std::fs::write(outside.join("secret"), "not yours").unwrap();
    symlink(outside.join("secret"), field.scratch.at("link.log")).unwrap();
    symlink(".git/config", field.scratch.at("config.log")).unwrap();
    field.scratch.write("local/settings.log", "x\n");
    field.scratch.write("a.txt", "changed by the person\n");
    // The agent's commit makes the folder a link that leads out.
    let made = field.prepare("t1").await;
    symlink(&outside, made.path.join("local")).unwrap();
    commit_all(&made.path, "a link");
    let done =
        copy_in(&field.git, "t1", &made.path, &rule(&["*.log", "local/*.log", "a.txt"])).await.unwrap();
    assert_eq!(done.copied, Vec::<std::path::PathBuf>::new());
    assert_eq!(std::fs::read_dir(&outside).unwrap().count(), 1, "nothing was written there");
    assert_eq!(std::fs::read(made.path.join("a.txt")).unwrap(), b"a one\na two\n");
    assert!(!made.path.join("link.log").exists() && !made.path.join("config.log").exists());
    for bad in [".git/config", ".swarm/run", "../outside/secret", "/etc/passwd"] {
        let refused = copy_in(&field.git, "t1", &made.path, &rule(&[bad])).await;
        assert!(matches!(refused, Err(CopyError::File { .. })), "{bad}: {refused:?}");
    }
}

#[tokio::test]
async fn a_copy_that_would_be_committed_is_refused_with_the_way_out() {
    let field = Field::new().await;
    field.scratch.write("secret.json", "{}\n");
    let made = field.prepare("t1").await;
    let told = copy_in(&field.git, "t1", &made.path, &rule(&["*.json"])).await.unwrap_err();
    assert!(told.to_string().contains("secret.json is not ignored"), "{told}");
    assert!(!made.path.join("secret.json").exists());
    write(&field.scratch.repo, ".git/info/exclude", b"secret.json\n");
    let done = copy_in(&field.git, "t1", &made.path, &rule(&["*.json"])).await.unwrap();
    assert_eq!(done.copied, [std::path::PathBuf::from("secret.json")]);
}

#[tokio::test]
async fn copies_have_a_bound_that_is_told() {
    let field = Field::new().await;
    let made = field.prepare("t1").await;
    for n in 0..5 {
        field.scratch.write(&format!("ignored/{n}.log"), "0123456789");
    }
    let few = CopyRule { files_max: 4, ..rule(&["ignored/*.log"]) };
    let told = copy_in(&field.git, "t1", &made.path, &few).await.unwrap_err();
    assert!(told.to_string().contains("more than 4 files"), "{told}");
    let small = CopyRule { bytes_max: 30, ..rule(&["ignored/*.log"]) };
    let told = copy_in(&field.git, "t1", &made.path, &small).await.unwrap_err();
    assert!(told.to_string().contains("more than 30 bytes"), "{told}");
}

#[tokio::test]
async fn each_worktree_has_ports_of_its_own_and_gives_them_back() {
    let field = Field::new().await;
    let base = async |name: &str| port_base(&field.git, name, 20_000).await.unwrap();
    assert_eq!((base("t1").await, base("t2").await, base("t1").await), (20_000, 20_020, 20_000));
    field.prepare("t1").await;
    assert_eq!(field.give_up("t1").await, Removal::Removed);
    assert_eq!((base("t3").await, base("t2").await), (20_000, 20_020));
}
