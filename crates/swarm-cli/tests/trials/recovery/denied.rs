//! F9: what a profile may not do is handed to one with more rights, where there is one.

use serde_json::json;

use super::hurried;

const DENIED: &str = "on-attempt 1: denied write to /srv/data\non-attempt 1: no-signal\nwrite a.txt a\ncommit feat: a\ncomplete";

#[test]
fn a_denial_hands_the_task_to_the_broader_profile_at_once_and_without_penalty() {
    let arena = hurried(json!({
        "agent": "narrow",
        "profiles": {
            "narrow": { "program": "script", "broader": "wide" },
            "wide": { "program": "script" },
        },
    }));
    arena.plan(&[("1.1", &[], DENIED.into())]);
    let (code, said) = arena.run_as_configured(&[]);
    assert_eq!(code, 0, "{said}");
    assert!(said.contains("continues with profile wide"), "{said}");
    let view = arena.shown("1.1");
    assert_eq!((&view["attempts"], &view["retries"]), (&json!(2), &json!(0)), "{view}");
    assert_eq!(view["profile"], "wide", "{view}");
    arena.assert_tidy();
}

#[test]
fn without_a_broader_profile_a_person_is_asked_with_what_was_denied() {
    let arena = hurried(json!({}));
    arena.plan(&[("1.1", &[], DENIED.into())]);
    let (code, said) = arena.run(&[]);
    assert_eq!(code, 1, "{said}");
    let view = arena.shown("1.1");
    assert_eq!((&view["status"], &view["block"]), (&json!("blocked"), &json!("sandbox")), "{view}");
    assert!(arena.waits_for_a_person().contains("write to /srv/data"), "{}", arena.waits_for_a_person());
    arena.ok(&["task", "unblock", "1.1"]);
    let (code, said) = arena.run(&[]);
    assert_eq!(code, 0, "{said}");
    arena.assert_tidy();
}
