//! What an agent made in a repository of its own and never handed in is there when its task is done and its worktree gone.

use serde_json::{Value, json};

use crate::ground::{arena_with, task};

#[test]
fn a_branch_and_a_stash_that_an_agent_left_behind_are_listed_as_rescued_and_come_back() {
    let arena = arena_with(json!({ "sandbox": "landlock" }));
    let script = "write a.txt a\ncommit feat: a\n\
                  sh git switch -qc side && echo side > side.txt && git add side.txt && git commit -qm 'side work' && git switch -q swarm/1.1\n\
                  sh echo draft > draft.txt && git stash push -qum 'a draft'\n\
                  complete";
    arena.plan_in_phases(&[vec![task("1.1", &[], script)]]);
    let (code, said) = arena.run(&[]);
    assert_eq!(code, 0, "{said}");
    arena.assert_proven("1.1", "main");
    assert!(
        !arena.root.join(".swarm/worktrees/.git-of/1.1").exists(),
        "the worktree went with all that is its own"
    );
    let tree = arena.git(&["ls-tree", "--name-only", "main"]);
    assert!(!tree.contains("side.txt") && !tree.contains("draft.txt"), "{tree}");
    arena.assert_tidy();

    let listed = arena.json(&["restore", "--list"]);
    let rescued: Vec<&Value> =
        listed.as_array().expect("a list").iter().filter(|one| one["what"] == "rescued").collect();
    let of = |subject: &str| {
        let found =
            rescued.iter().find(|one| one["subject"].as_str().is_some_and(|text| text.contains(subject)));
        found.and_then(|one| one["name"].as_str()).unwrap_or_else(|| panic!("{subject}: {listed}")).to_owned()
    };
    assert_eq!(arena.git(&["show", &format!("{}^3:draft.txt", of("a draft"))]), "draft\n");
    let back = arena.json(&["restore", &of("side work")]);
    let place = arena.root.join(back["path"].as_str().expect("a path"));
    assert_eq!(std::fs::read_to_string(place.join("side.txt")).expect("it is back"), "side\n");
}
