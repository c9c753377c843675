//! W4, W9: publishing into every state a person's checkout can be in, with nobody killed.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;

use crate::git_scratch;
use crate::publish_situations;

use git_scratch::{Scratch, git_in, write};
use publish_situations::Situation::{self, *};
use publish_situations::Story;
use swarm_work::publish::{
    Aside, Intent, Publication, Saving, WaitReason, bring_back, in_the_way, publish, set_aside,
};

#[tokio::test]
async fn every_situation_is_published_or_waits_with_its_reason() {
    let all: [Situation; 16] = [
        Nowhere,
        Clean,
        DirtyElsewhere,
        DirtySame,
        DeletedSame,
        Staged,
        UntrackedClash,
        IgnoredClash,
        MidMerge,
        MidRebase,
        MidCherryPick,
        Bisect,
        LiveIndexLock,
        SecondWorktree,
        TwoCheckouts,
        SecondOneDirty,
    ];
    for situation in all {
        Story::begin(situation).publish_and_check(&format!("{situation:?}")).await;
    }
}

#[tokio::test]
async fn the_trunk_that_moved_is_reported_and_left() {
    let story = Story::begin(Clean);
    story.scratch.write("other.txt", "the person was faster\n");
    let now = story.scratch.commit_all("faster");
    let outcome = publish(&story.git().await, &story.intent).await.unwrap();
    assert_eq!(outcome, Publication::TrunkMoved { now: Some(now) });
    story.check_nothing_left("moved");
}

#[tokio::test]
async fn nothing_is_published_whose_objects_were_pruned_meanwhile() {
    for lost in ["", "^{tree}", ":a.txt"] {
        let story = Story::begin(Clean);
        let oid = story.scratch.git(["rev-parse", &format!("{}{lost}", story.intent.new)]);
        let (folder, file) = oid.split_at(2);
        std::fs::remove_file(story.scratch.at(".git/objects").join(folder).join(file)).unwrap();
        let refused = publish(&story.git().await, &story.intent).await.unwrap_err();
        assert!(refused.to_string().contains("are missing"), "{lost}: {refused}");
        assert_eq!(story.scratch.git(["rev-parse", "main"]), story.intent.old.to_string());
        assert_eq!(story.scratch.git(["status", "--porcelain"]), "");
    }
}

#[tokio::test]
async fn a_file_that_already_has_the_new_bytes_is_not_in_the_way() {
    let story = Story::begin(Clean);
    story.scratch.write("deep/er/new.txt", "new\n");
    story.scratch.write("a.txt", &"the swarm's line\n".repeat(5000));
    assert_eq!(publish(&story.git().await, &story.intent).await.unwrap(), Publication::Published);
    assert_eq!(story.scratch.git(["status", "--porcelain"]), "");
}

#[tokio::test]
async fn a_waiting_result_is_published_once_the_checkout_is_free() {
    let story = Story::begin(DirtySame);
    let git = story.git().await;
    assert!(matches!(publish(&git, &story.intent).await.unwrap(), Publication::Waits(_)));
    story.scratch.git(["stash", "push", "--quiet", "--", "a.txt"]);
    assert_eq!(publish(&git, &story.intent).await.unwrap(), Publication::Published);
    assert_eq!(story.scratch.git(["status", "--porcelain"]), "");
}

#[tokio::test]
async fn the_executable_bit_a_person_set_is_theirs() {
    let story = Story::begin(Clean);
    let _ = std::process::Command::new("chmod").arg("+x").arg(story.scratch.at("a.txt")).status();
    let outcome = publish(&story.git().await, &story.intent).await.unwrap();
    assert!(matches!(outcome, Publication::Waits(_)), "{outcome:?}");
    assert_eq!(story.scratch.git(["diff", "--name-only"]), "a.txt");
    story.check_nothing_left("mode");
}

#[tokio::test]
async fn a_sparse_checkout_follows_without_growing() {
    let story = Story::begin(Clean);
    story.scratch.git(["sparse-checkout", "set", "dir"]);
    assert_eq!(publish(&story.git().await, &story.intent).await.unwrap(), Publication::Published);
    assert!(!story.scratch.at("deep").exists());
    assert_eq!(story.scratch.git(["status", "--porcelain"]), "");
}

#[tokio::test]
async fn a_person_in_another_folder_of_the_same_name_is_not_touched() {
    // The swarm's result puts a file where the person has an ignored folder with something in it.
    let story = Story::begin(Clean);
    write(&story.scratch.repo, ".git/info/exclude", b"link/\n");
    write(&story.scratch.repo, "link/precious", b"mine\n");
    let outcome = publish(&story.git().await, &story.intent).await.unwrap();
    assert!(matches!(outcome, Publication::Waits(_)), "{outcome:?}");
    assert_eq!(story.scratch.read("link/precious"), "mine\n");
    assert_eq!(git_in(&story.scratch.repo, ["status", "--porcelain"]), "");
}

/// Who renames a branch often leaves its old name as a symbolic ref to the new one; git moves the branch by either.
#[tokio::test]
async fn a_trunk_that_is_another_name_of_the_branch_checked_out_takes_the_checkout_along() {
    for situation in [Clean, DirtySame, MidRebase] {
        let story = Story::begin(situation);
        story.scratch.git(["symbolic-ref", "refs/heads/alias", "refs/heads/main"]);
        let intent = Intent { trunk: "alias".into(), ..story.intent.clone() };
        let outcome = publish(&story.git().await, &intent).await.unwrap();
        assert_eq!(story.scratch.git(["symbolic-ref", "refs/heads/alias"]), "refs/heads/main");
        story.check_nothing_left(&format!("{situation:?}"));
        if situation == Clean {
            assert_eq!(outcome, Publication::Published);
            assert_eq!(story.scratch.oid("main"), intent.new);
            assert_eq!(story.scratch.git(["status", "--porcelain"]), "");
            continue;
        }
        assert!(matches!(outcome, Publication::Waits(_)), "{situation:?}: {outcome:?}");
        assert_eq!(story.scratch.oid("main"), intent.old);
    }
}

#[tokio::test]
async fn a_coordinator_that_lost_its_lock_moves_no_ref_and_no_file() {
    for situation in [Nowhere, Clean] {
        let story = Story::begin(situation);
        let git = story.git().await;
        let run = story.scratch.at(".swarm/run");
        let vfs: std::sync::Arc<dyn swarm_ledger::Vfs> = std::sync::Arc::new(swarm_ledger::RealFs);
        let me = swarm_ledger::OwnerInfo::of_this_process("coordinator");
        let acquired = swarm_ledger::acquire_for_write(&vfs, &run, &me, std::time::Duration::ZERO);
        let Ok(swarm_ledger::Acquired::Writer(locks)) = acquired else { panic!("nobody has it") };
        let claim = locks.claim().expect("it can be looked at");
        git.act_only_while(swarm_engine::store::LedgerClaim(claim));
        std::fs::remove_file(run.join("owner.lock")).expect("somebody takes it for dead");
        let refused = publish(&git, &story.intent).await;
        assert!(matches!(refused, Err(swarm_git::GitError::NotOwner(_))), "{refused:?}");
        assert_eq!(story.scratch.oid("main"), story.intent.old, "{situation:?}");
        story.check_nothing_left(&format!("{situation:?}, not the owner"));
    }
}

/// It may have been moved, with an index in git's record of it: so its person prunes it.
#[tokio::test]
async fn a_linked_checkout_of_trunk_whose_folder_is_gone_is_named_with_the_command_that_helps() {
    let story = Story::begin(SecondWorktree);
    let (git, folder) = (story.git().await, story.checkouts[0].clone());
    std::fs::remove_dir_all(&folder).unwrap();
    let record = story.scratch.at(".git/worktrees/second");
    for locked in [true, false] {
        match locked {
            true => std::fs::write(record.join("locked"), "on a stick\n").unwrap(),
            false => std::fs::remove_file(record.join("locked")).unwrap(),
        }
        let expected = WaitReason::FolderGone { folder: folder.clone(), locked };
        let outcome = publish(&git, &story.intent).await.unwrap();
        let Publication::Waits(waits) = &outcome else { panic!("{outcome:?}") };
        assert_eq!(waits.reason, expected);
        assert_eq!(waits.reason.sentence(), format!("its folder {} is gone", folder.display()));
        assert!(waits.command().ends_with("git worktree prune"), "{}", waits.command());
        assert_eq!(waits.command().starts_with("git worktree unlock "), locked);
        assert_eq!(in_the_way(&git, &story.intent).await.unwrap()[0].reasons, [expected]);
        let saving = Saving { ref_name: "refs/swarm/aside/1", at_secs: 0 };
        let aside = set_aside(&git, &story.intent, &saving).await.unwrap();
        assert!(matches!(&aside, Aside::Cannot(same) if same == waits), "{aside:?}");
    }
    assert_eq!(story.scratch.oid("main"), story.intent.old);
    story.scratch.git(["worktree", "prune"]);
    assert_eq!(publish(&git, &story.intent).await.unwrap(), Publication::Published);
}

#[tokio::test]
async fn what_was_put_aside_comes_back_also_under_a_name_that_is_no_text() {
    let scratch = Scratch::new();
    let odd = OsStr::from_bytes(b"caf\xe9.txt");
    write(&scratch.repo, odd, b"one\n");
    let old = scratch.commit_all("an odd name");
    write(&scratch.repo, odd, b"two\n");
    let new = scratch.commit_all("changed");
    scratch.git(["reset", "--quiet", "--hard", old.as_str()]);
    write(&scratch.repo, odd, b"mine\n");
    let git = scratch.open().await;
    let intent = Intent { trunk: "main".into(), old, new };
    let saving = Saving { ref_name: "refs/swarm/aside/1", at_secs: 0 };
    let aside = set_aside(&git, &intent, &saving).await.expect("git works");
    assert!(matches!(&aside, Aside::Clear { saved } if saved.len() == 1), "{aside:?}");
    assert_eq!(std::fs::read(scratch.repo.join(odd)).expect("it is there"), b"one\n");
    let brought = bring_back(&git, "main", saving.ref_name).await.expect("git works");
    assert_eq!(brought.back, [PathBuf::from(odd)]);
    assert_eq!(std::fs::read(scratch.repo.join(odd)).expect("it is there"), b"mine\n");
}

/// Git itself would take the folder of a known one away, with everything that only it has. Of others it would name the
/// files within `.git`, one by one.
#[tokio::test]
async fn a_repository_in_the_checkout_does_not_give_way_to_a_file_or_a_link() {
    for (known, by_link) in [(true, false), (true, true), (false, false), (false, true)] {
        let scratch = Scratch::new();
        let (lib, away) = (scratch.at("lib"), scratch.at("../lib"));
        std::fs::create_dir(&lib).unwrap();
        git_in(&lib, ["init", "--quiet", "--initial-branch", "main"]);
        let person = ["-c", "user.name=p", "-c", "user.email=p@example.org"];
        let commit = ["commit", "--quiet", "--allow-empty", "--message", "only here"];
        git_in(&lib, person.iter().chain(&commit));
        if known {
            scratch.commit_all("a repository as it is");
        }
        let old = scratch.oid("main");
        std::fs::rename(&lib, &away).unwrap();
        match by_link {
            true => std::os::unix::fs::symlink("elsewhere", &lib).unwrap(),
            false => write(&scratch.repo, "lib", b"a file\n"),
        }
        let new = scratch.commit_all("something in its place");
        scratch.git(["reset", "--quiet", "--hard", old.as_str()]);
        if known {
            std::fs::remove_dir(&lib).unwrap();
        }
        std::fs::rename(&away, &lib).unwrap();
        write(&lib, "precious.txt", b"nobody else has this\n");
        let intent = Intent { trunk: "main".into(), old, new };
        stays_until_it_is_moved(&scratch, &intent).await;
    }
}

async fn stays_until_it_is_moved(scratch: &Scratch, intent: &Intent) {
    let git = scratch.open().await;
    let expected = WaitReason::Repository { paths: vec!["lib".into()] };
    let outcome = publish(&git, intent).await.unwrap();
    let Publication::Waits(waits) = &outcome else { panic!("{outcome:?}") };
    assert_eq!(waits.reason, expected);
    assert!(waits.command().ends_with("/lib.mine"), "{}", waits.command());
    let found = in_the_way(&git, intent).await.unwrap().remove(0);
    assert_eq!(found.reasons, [expected]);
    assert!(!found.can_be_set_aside());
    let saving = Saving { ref_name: "refs/swarm/aside/1", at_secs: 0 };
    let aside = set_aside(&git, intent, &saving).await.unwrap();
    assert!(matches!(&aside, Aside::Cannot(same) if same == waits), "{aside:?}");
    assert_eq!(scratch.oid("main"), intent.old);
    assert_eq!(git_in(&scratch.at("lib"), ["log", "--format=%s"]), "only here");
    assert_eq!(scratch.read("lib/precious.txt"), "nobody else has this\n");

    // The command that is named helps, and nothing is lost.
    let moved = std::process::Command::new("sh").args(["-c", &waits.command()]).status().unwrap();
    assert!(moved.success());
    assert_eq!(publish(&git, intent).await.unwrap(), Publication::Published);
    assert_eq!(git_in(&scratch.at("lib.mine"), ["log", "--format=%s"]), "only here");
    assert_eq!(scratch.read("lib.mine/precious.txt"), "nobody else has this\n");
}

/// One level deeper it is named as a whole, not file by file, and nothing of it is put aside.
#[tokio::test]
async fn a_repository_within_a_folder_whose_place_a_file_takes_is_named_as_a_whole() {
    for deeper in ["vendor/lib", "vendor/of/lib"] {
        let scratch = Scratch::new();
        let old = scratch.oid("main");
        write(&scratch.repo, "vendor", b"a file\n");
        let new = scratch.commit_all("a file");
        scratch.git(["reset", "--quiet", "--hard", old.as_str()]);
        let lib = scratch.at(deeper);
        std::fs::create_dir_all(&lib).unwrap();
        git_in(&lib, ["init", "--quiet", "--initial-branch", "main"]);
        write(&lib, "precious.txt", b"nobody else has this\n");
        let (git, intent) = (scratch.open().await, Intent { trunk: "main".into(), old, new });
        let outcome = publish(&git, &intent).await.unwrap();
        let Publication::Waits(waits) = &outcome else { panic!("{outcome:?}") };
        assert_eq!(waits.reason, WaitReason::Repository { paths: vec![deeper.into()] });
        assert_eq!(waits.reason.sentence(), format!("{deeper} is a repository of its own in the way"));
        let saving = Saving { ref_name: "refs/swarm/aside/1", at_secs: 0 };
        let aside = set_aside(&git, &intent, &saving).await.unwrap();
        assert!(matches!(&aside, Aside::Cannot(same) if same == waits), "{aside:?}");
        let moved = std::process::Command::new("sh").args(["-c", &waits.command()]).status().unwrap();
        assert!(moved.success(), "{}", waits.command());
        assert_eq!(publish(&git, &intent).await.unwrap(), Publication::Published);
        let kept = format!("{}.mine/precious.txt", deeper.replace('/', "-"));
        assert_eq!(scratch.read(&kept), "nobody else has this\n");
    }
}
