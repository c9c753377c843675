//! Agents that plant something for git to run: nothing planted is run outside the sandbox.
//!
//! The payload writes a file beside the repository, where no agent may write. If it is ever there, something
//! outside the sandbox ran it.

use serde_json::json;

use crate::arena::Arena;
use crate::ground::{arena_with, task};

/// The payload itself, and a git directory full of invitations to run it.
const EVIL: &str = r#"
payload="$1"
evil="$PWD/evil"
mkdir -p "$evil" && cd "$evil" && git init --quiet --initial-branch=main . 2>/dev/null
invite() {
  printf '[core]\n\trepositoryformatversion = 0\n\tfsmonitor = "%s"\n\thooksPath = "%s/hooks"\n\tsshCommand = "%s"\n\teditor = "%s"\n\tpager = "%s"\n' \
    "$payload" "$evil" "$payload" "$payload" "$payload"
  printf '[filter "evil"]\n\tclean = "%s"\n\tsmudge = "%s"\n\tprocess = "%s"\n\trequired = true\n' "$payload" "$payload" "$payload"
  printf '[diff "evil"]\n\ttextconv = "%s"\n\tcommand = "%s"\n[merge "evil"]\n\tdriver = "%s"\n[gc]\n\tauto = 1\n' "$payload" "$payload" "$payload"
}
invite > "$evil/invitation"
mkdir -p "$evil/hooks"
for hook in pre-commit post-commit post-checkout post-index-change reference-transaction post-merge pre-push; do
  printf '#!/bin/sh\n"%s"\n' "$payload" > "$evil/hooks/$hook"; chmod +x "$evil/hooks/$hook"
done
cat "$evil/invitation" >> "$evil/.git/config"
"#;

/// An arena with the payload, and the path of the proof that it ran outside.
fn arena_of_evil() -> (Arena, std::path::PathBuf) {
    let arena = arena_with(json!({ "check": { "commands": ["true"] } }));
    let proof = arena.path("ran-outside");
    let payload = format!("#!/bin/sh\necho \"$0 $*\" >> '{}'\ncat\n", proof.display());
    arena.write("payload.sh", &payload);
    arena.write("evil.sh", EVIL);
    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    std::fs::set_permissions(arena.root.join("payload.sh"), mode).expect("executable");
    arena.git(&["add", "payload.sh", "evil.sh"]);
    arena.git(&["commit", "--quiet", "--message", "person: the payload"]);
    // The payload is able to prove itself: a trial that cannot fail proves nothing.
    let ran = std::process::Command::new(arena.root.join("payload.sh"))
        .stdin(std::process::Stdio::null())
        .status()
        .expect("the payload runs");
    assert!(ran.success() && proof.exists());
    std::fs::remove_file(&proof).expect("the proof of the proof");
    (arena, proof)
}

/// The agent commits good work, plants, leaves something uncommitted and says that it is done; another
/// task works after it. Whatever became of the first, nothing ran and trunk holds only what it should.
fn check(plant: &str) {
    let (arena, proof) = arena_of_evil();
    let script = format!(
        "write good.txt good\ncommit feat: good\nsh sh evil.sh \"$PWD/payload.sh\"\n{plant}\nwrite rest.txt rest\ncomplete"
    );
    arena.plan_in_phases(&[vec![
        task("1.1", &[], &script),
        task("1.2", &[], "write other.txt other\ncommit feat: other\ncomplete"),
    ]]);
    let (code, said) = arena.run(&["--agents", "2"]);
    assert!(!proof.exists(), "it ran: {}\n{said}", std::fs::read_to_string(&proof).unwrap_or_default());
    arena.assert_nothing_runs();
    assert_eq!(arena.commits("main", "feat: other"), 1, "{said}");
    arena.git(&["fsck", "--strict"]);
    // Either the work was taken with all that was left, or a person is asked; half of it is never on trunk.
    let done = arena.status_of("1.1") == "done";
    assert_eq!(code == 0, done, "{said}");
    let on_trunk = arena.git(&["ls-tree", "-r", "--name-only", "main"]);
    assert_eq!(on_trunk.lines().any(|name| name == "good.txt"), done, "{on_trunk}");
    if done {
        assert!(on_trunk.lines().any(|name| name == "rest.txt"), "what was left is taken too: {on_trunk}");
    } else {
        let saved = arena.git(&["log", "--all", "--format=%s"]);
        assert!(saved.contains("feat: good"), "nothing is lost: {saved}");
    }
    // And the person's own commands in the repository run nothing either.
    arena.git(&["status"]);
    arena.ok(&["status"]);
    assert!(
        !proof.exists(),
        "the person's own git runs it: {}",
        std::fs::read_to_string(&proof).unwrap_or_default()
    );
}

#[test]
fn a_git_file_that_is_replaced_by_another_repository_runs_nothing() {
    check("sh rm -f .git && printf 'gitdir: %s/evil/.git\\n' \"$PWD\" > .git");
}

#[test]
fn a_git_file_that_is_replaced_by_a_folder_runs_nothing() {
    check("sh rm -f .git && cp -r evil/.git .git");
}

#[test]
fn a_commondir_that_is_replaced_runs_nothing() {
    check("sh d=$(git rev-parse --git-dir); echo $d; printf '%s/evil/.git\\n' \"$PWD\" > $d/commondir");
}

#[test]
fn a_gitdir_and_a_head_that_are_replaced_run_nothing() {
    check(
        "sh d=$(git rev-parse --git-dir); printf '%s/evil/.git\\n' \"$PWD\" > $d/gitdir; printf 'ref: refs/heads/main\\n' > $d/HEAD",
    );
}

#[test]
fn settings_planted_in_every_reachable_place_run_nothing() {
    check(
        "sh d=$(git rev-parse --git-dir); c=$(git rev-parse --git-common-dir); \
         for f in $d/config $d/config.worktree $c/config $c/config.worktree $HOME/.gitconfig $HOME/.config/git/config; do cat evil/invitation >> $f; done 2>/dev/null; \
         git config extensions.worktreeConfig true; git config --worktree core.fsmonitor $PWD/payload.sh; \
         cp evil/hooks/* $c/hooks/; mkdir -p $d/hooks; cp evil/hooks/* $d/hooks/; \
         mkdir -p $d/info $c/info; echo '* filter=evil diff=evil merge=evil' | tee -a $d/info/attributes >> $c/info/attributes\n\
         sh echo '* filter=evil diff=evil merge=evil' > .gitattributes\n\
         sh rm -rf evil/.git",
    );
}

#[test]
fn objects_borrowed_from_elsewhere_bring_nothing_in() {
    check(
        "sh c=$(git rev-parse --git-common-dir); mkdir -p $c/objects/info; echo $PWD/evil/.git/objects > $c/objects/info/alternates",
    );
}

/// A person's filter that finds its code where it runs. What stands in a worktree is the agent's; the person's own checkout has
/// nothing that the person has not approved.
#[test]
fn a_filter_of_the_person_runs_what_an_agent_wrote_behind_walls_alone() {
    let arena = arena_with(json!({ "merge": { "protected": ["**"] } }));
    let proof = arena.path("ran-outside");
    let filter = format!("echo \"$PWD\" >> '{}'\ncat\n", proof.display());
    arena.commit(".gitattributes", "*.x filter=look\n");
    arena.commit("a-look.sh", "cat\n");
    arena.commit("one.x", "one\n");
    for kind in ["clean", "smudge"] {
        arena.git(&["config", &format!("filter.look.{kind}"), "sh a-look.sh"]);
    }
    let script = format!(
        "write new.x new\ncommit feat: new\nsh cp {} a-look.sh\nwrite one.x two\nwrite rest.x rest\ncomplete",
        arena.script_beside("look.sh", &filter),
    );
    arena.plan_in_phases(&[vec![task("1.1", &[], &script)]]);
    let mut run = arena.start(&[]);
    run.until("swarm review approve 1.1");
    arena.ok(&["worktree", "list"]);
    arena.ok(&["status"]);
    let ran = || std::fs::read_to_string(&proof).unwrap_or_default();
    assert_eq!(ran(), "", "before anybody has approved it");
    arena.ok(&["review", "approve", "1.1"]);
    let (code, said) = run.end();
    assert_eq!(code, 0, "{said}");
    let taken = arena.git(&["ls-tree", "-r", "--name-only", "main"]);
    assert!(taken.lines().any(|name| name == "rest.x"), "{taken}");
    arena.ok(&["task", "rollback", "1.1", "--yes"]);
    let root = arena.root.display().to_string();
    assert!(ran().lines().all(|place| place == root), "{}", ran());
    arena.assert_nothing_runs();
}
