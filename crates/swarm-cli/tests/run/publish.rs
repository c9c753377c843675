//! Merging beside a person who is working in the checkout.

use crate::arena::Arena;

#[test]
fn a_merge_waits_for_a_changed_file_and_goes_on_when_the_person_is_done() {
    let arena = Arena::new("{}");
    arena.plan(&[("1.1", &[], "append README.md from the agent\ncommit docs: it\ncomplete".into())]);
    arena.write("README.md", "the person's own words\n");
    let mut run = arena.start(&[]);
    let line = run.until("waits for your checkout");
    assert!(line.contains("README.md"), "{line}");
    assert!(line.contains("git stash push -- README.md"), "{line}");
    arena.assert_ledger_names_no_place();
    assert_eq!(
        std::fs::read_to_string(arena.root.join("README.md")).expect("it"),
        "the person's own words\n"
    );
    assert_eq!(arena.commits("main", "docs: it"), 0);
    arena.git(&["checkout", "--", "README.md"]);
    let (code, said) = run.end();
    assert_eq!(code, 0, "{said}");
    assert_eq!(arena.commits("main", "docs: it"), 1);
    assert_eq!(arena.git(&["status", "--porcelain", "--untracked-files=no"]), "");
}

#[test]
fn a_branch_that_nobody_has_checked_out_never_waits() {
    let arena = Arena::new("{}");
    arena.git(&["branch", "integration"]);
    arena.plan(&[("1.1", &[], "append README.md from the agent\ncommit docs: it\ncomplete".into())]);
    arena.write("README.md", "the person's own words\n");
    let (code, said) = arena.start(&["--trunk", "integration"]).end();
    assert_eq!(code, 0, "{said}");
    assert_eq!((arena.commits("integration", "docs: it"), arena.commits("main", "docs: it")), (1, 0));
    assert_eq!(
        std::fs::read_to_string(arena.root.join("README.md")).expect("it"),
        "the person's own words\n"
    );
}

#[test]
fn work_that_conflicts_with_trunk_is_blocked_and_trunk_is_untouched() {
    let arena = Arena::new("{}");
    let go = arena.path("go");
    let script = format!(
        "write README.md theirs\ncommit docs: theirs\nprint ready\nwait-for {}\ncomplete",
        go.display()
    );
    arena.plan(&[("1.1", &[], script)]);
    let mut run = arena.start(&[]);
    run.until("is working");
    crate::arena::wait_for("the agent has committed", || arena.committed().contains("docs: theirs"));
    arena.write("README.md", "mine\n");
    arena.git(&["commit", "--quiet", "--all", "--message", "docs: mine"]);
    std::fs::write(&go, "").expect("the signal file");
    let (code, said) = run.end();
    assert_eq!(code, 1, "{said}");
    assert_eq!(arena.tasks()[0]["status"], "blocked");
    assert_eq!(arena.git(&["show", "main:README.md"]), "mine\n");
}

#[test]
fn work_that_is_red_on_the_merged_tree_never_reaches_trunk() {
    // Each alone is green; together they are not.
    let check =
        r#"{ "verify": { "commands": ["test ! -e a.txt || test ! -e b.txt"] }, "merge": { "rounds": 1 } }"#;
    let arena = Arena::new(check);
    arena.plan(&[
        ("1.1", &[], "write a.txt a\ncommit feat: a\ncomplete".into()),
        ("1.2", &[], "write b.txt b\ncommit feat: b\ncomplete".into()),
    ]);
    let (code, said) = arena.start(&["--agents", "2"]).end();
    assert_eq!(code, 1, "{said}");
    assert_eq!(arena.commits("main", "feat: a") + arena.commits("main", "feat: b"), 1);
}
