//! F6: a used-up allowance is waited for, asked about once in a while, and gone on with exactly once.

use serde_json::json;

use super::hurried;
use crate::arena::{Arena, send};

const USED_UP: &str =
    "print began\non-attempt 1: fail quota resets=2 all gone\nwrite a.txt a\ncommit feat: a\ncomplete";

/// The scripted agent's answer to a probe, from now on.
fn probes_answer(arena: &Arena, script: Option<&str>) {
    let file = arena.root.join(".swarm/script-probe");
    match script {
        Some(script) => std::fs::write(file, script).expect("a file"),
        None => std::fs::remove_file(file).expect("it was there"),
    }
}

#[test]
fn a_used_up_quota_is_shown_probed_and_resumed_once_over_a_restart() {
    let arena = hurried(json!({}));
    probes_answer(&arena, Some("fail quota resets=1 still gone"));
    arena.plan(&[
        ("1.1", &[], USED_UP.into()),
        ("1.2", &[], "write b.txt b\ncommit feat: b\ncomplete".into()),
    ]);
    let mut run = arena.start(&["--agents", "1"]);
    run.until("the quota of script is used up; resets at");
    let status = arena.ok(&["status"]);
    assert!(status.contains("The quota of script is used up; resets at"), "{status}");
    assert!(status.contains("swarm quota open script"), "{status}");
    assert!(arena.waits_for_a_person().contains("swarm quota open script"));
    assert_eq!(arena.json(&["quota"])[0]["group"], "script");
    // Nothing of the group is started while it is closed, and the probes go on over a restart.
    arena.until_recorded("quota_probe_failed", 1);
    send("KILL", run.coordinator());
    run.until("epoch 2");
    arena.until_recorded("quota_probe_failed", 2);
    assert_eq!(arena.recorded("task_claimed"), 1, "nothing else was promoted");
    probes_answer(&arena, None);
    run.until("the quota of script is back");
    let (code, said) = run.end();
    assert_eq!(code, 0, "{said}");
    assert_eq!(arena.recorded("quota_restored"), 1, "one resumption");
    let view = arena.shown("1.1");
    assert_eq!(
        (&view["attempts"], &view["restarts"], &view["retries"]),
        (&json!(1), &json!(1), &json!(0)),
        "no penalty: {view}"
    );
    assert_eq!(arena.json(&["attention"]), json!([]));
    assert_eq!(arena.json(&["quota"]), json!([]));
    arena.assert_tidy();
}

#[test]
fn a_held_quota_is_not_probed_and_a_person_opens_it() {
    let arena = hurried(json!({}));
    probes_answer(&arena, Some("fail quota resets=600 still gone"));
    let script = USED_UP.replace("resets=2", "resets=600");
    arena.plan(&[("1.1", &[], script)]);
    let mut run = arena.start(&[]);
    run.until("the quota of script is used up");
    arena.ok(&["quota", "hold", "script"]);
    assert!(arena.ok(&["quota", "list"]).contains("held by a person"));
    assert!(arena.waits_for_a_person().contains("held"), "{}", arena.waits_for_a_person());
    arena.refused(&["quota", "hold", "script"]);
    let said = arena.refused(&["quota", "open", "scrypt"]);
    assert!(said.contains("Did you mean script?"), "{said}");
    arena.ok(&["quota", "open", "script"]);
    let (code, said) = run.end();
    assert_eq!(code, 0, "{said}");
    assert_eq!(arena.recorded("quota_probe_started"), 0, "nobody asked");
    arena.refused(&["quota", "open", "script"]);
    arena.assert_tidy();
}

#[test]
fn the_fallback_of_a_profile_takes_over_while_its_quota_is_used_up() {
    let arena = hurried(json!({
        "agent": "first",
        "profiles": {
            "first": { "program": "script", "quotaGroup": "one", "fallback": ["second"] },
            "second": { "program": "script", "quotaGroup": "two" },
        },
    }));
    let script = USED_UP.replace("resets=2", "resets=600");
    arena.plan(&[("1.1", &[], script)]);
    let (code, said) = arena.run_as_configured(&[]);
    assert_eq!(code, 0, "{said}");
    assert!(said.contains("the quota of one is used up"), "{said}");
    let view = arena.shown("1.1");
    assert_eq!(
        (&view["attempts"], &view["restarts"], &view["retries"]),
        (&json!(1), &json!(1), &json!(0)),
        "{view}"
    );
    assert_eq!(arena.recorded("quota_probe_started"), 0);
    arena.assert_tidy();
}
