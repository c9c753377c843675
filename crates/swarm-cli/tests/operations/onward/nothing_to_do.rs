//! Tasks whose agents change nothing.

use serde_json::json;

use super::writes;
use crate::ground::{arena_with, task};

/// A task with this script after one that did something; what the person is shown of it.
fn check(script: &str) {
    let arena = arena_with(json!({}));
    arena.plan_in_phases(&[vec![task("1.1", &[], &writes("one")), task("1.2", &["1.1"], script)]]);
    arena.run(&[]);
    let (view, attention) = (arena.shown("1.2"), arena.attention());
    let proof = view["proof"]["commit"].as_str().unwrap_or_default().to_owned();
    let of_the_other = arena.shown("1.1")["proof"]["commit"].as_str().expect("a commit").to_owned();
    assert_ne!(proof, of_the_other, "what somebody else did proves nothing: {view}");
    assert_ne!(view["status"], "done", "{view}");
    assert!(attention.contains("1.2") && attention.contains("without any change"), "{attention}: {view}");
    arena.assert_true_at_rest();
}

#[test]
fn an_agent_that_changes_nothing_is_asked_about() {
    check("print all is well already\ncomplete");
}

#[test]
fn an_agent_that_makes_an_empty_commit_is_asked_about() {
    check("sh git commit --quiet --allow-empty --message 'chore: looked at it'\ncomplete");
}
