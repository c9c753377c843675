//! What people look for in the configuration and what is no key of it: it has another name, is decided elsewhere, or is fixed.

const ELSEWHERE: [(&str, &str); 24] = [
    ("rescue.maxFile", "it is worktree.maxFile"),
    ("sandbox.hide", "it is hide"),
    ("profile", "it is agent"),
    ("maxRetries", "it is recovery.maxRetries"),
    ("autoResetOrphaned", "it is recovery.autoResetOrphaned"),
    ("injectAuditLog", "it is recovery.injectAuditLog"),
    ("max-task-duration", "it is maxTaskDuration"),
    ("agents", "`swarm run --agents N` is recorded with the plan"),
    ("maxConcurrentTasks", "`swarm run --agents N` is recorded with the plan"),
    (
        "max_concurrent_tasks",
        "it is part of the plan: `execution_profile` in the plan file, or `swarm run --agents N`",
    ),
    ("parallelization_enabled", "it is part of the plan: `execution_profile` in the plan file"),
    ("council_parallel", "it is part of the plan: `execution_profile` in the plan file"),
    ("locked", "it is part of the plan: `execution_profile` in the plan file"),
    ("execution_profile", "it is part of the plan file; `swarm plan profile` shows it"),
    ("trunk", "`swarm run --trunk NAME` chooses it, and it is recorded with the plan"),
    ("budget.money", "it is budget.task.dollars or budget.session.dollars"),
    ("worktree.setupFailures", "it is fixed: three equal failures pause the swarm"),
    (
        "recovery.restarts",
        "it is fixed: a coordinator that crashes five times in ten minutes is not restarted",
    ),
    ("daemon.reconnects", "it is fixed: after five failures in a row the supervisor is told"),
    ("recovery.splitDepth", "it is fixed: a task is split into parts, and these once more"),
    ("hooks.timeout", "each hook has its own: hooks.NAME.timeout, 30s where it says nothing"),
    ("ledger.snapshotSeconds", "it is fixed: state/snapshot.json is written at most every five seconds"),
    ("web.port", "`swarm web --port N` chooses it"),
    ("port", "`swarm web --port N` chooses it"),
];

/// Why there is no such key, where that is known.
pub(super) fn why(key: &str) -> Option<&'static str> {
    ELSEWHERE.iter().find(|(known, _)| *known == key).map(|(_, why)| *why)
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};
    use swarm_protocol::config::Config;

    use super::super::keys::Keys;
    use super::*;

    /// Every key and number that the specification and its documents name, and what it is where nobody says otherwise.
    #[test]
    fn every_key_and_number_of_the_specification_is_there_with_its_default() {
        let keys = Keys::new();
        let defaults = serde_json::to_value(Config::default()).expect("JSON");
        let secs = |secs: u64| serde_json::to_value(swarm_protocol::config::Span::secs(secs)).expect("JSON");
        let wanted: Vec<(&str, Value)> = vec![
            ("mode", json!("semi-auto")),
            ("isolation", json!("worktree")),
            ("maxTaskDuration", secs(1800)),
            ("maxIterations", json!(50)),
            ("stall", secs(120)),
            ("stop.drain", secs(5)),
            ("checkpoints.periodic", json!(5)),
            ("checkpoints.beforeAutopilot", json!(true)),
            ("checkpoints.beforeMerge", json!(true)),
            ("checkpoints.tags", json!(true)),
            ("checkpoints.keep", json!(50)),
            ("checkpoints.maxAge", secs(30 * 86_400)),
            ("recovery.autoResetOrphaned", json!(true)),
            ("recovery.injectAuditLog", json!(true)),
            ("recovery.maxRetries", json!(3)),
            ("recovery.onDamage", json!("quarantine")),
            ("recovery.maxCrashes", json!(5)),
            ("recovery.crashWindow", secs(1800)),
            ("recovery.stable", secs(300)),
            ("recovery.backoffMax", secs(300)),
            ("quota.probeEvery", secs(300)),
            ("daemon.alone", secs(600)),
            ("daemon.reconnectMax", secs(30)),
            ("ledger.snapshotEvery", json!(50)),
            ("reservations.ttl", secs(3600)),
            ("reservations.overlap", json!("wait")),
            ("review.rounds", json!(3)),
            ("merge.races", json!(3)),
            ("merge.protected", json!([])),
            ("merge.strategy", json!("commits")),
            ("worktree.setupTimeout", secs(900)),
            ("worktree.setupWhen", json!([])),
            ("worktree.copy", json!([])),
            ("worktree.dir", json!(".swarm/worktrees")),
            ("worktree.maxFile", json!(100)),
            ("worktree.trash", secs(7 * 86_400)),
            ("budget.session.tokens", json!(50_000_000)),
        ];
        for (key, default) in wanted {
            assert!(keys.knows(key), "{key}");
            let found = key.split('.').try_fold(&defaults, |value, part| value.get(part));
            if key != "budget.session.tokens" {
                assert_eq!(found, Some(&default), "{key}");
            }
        }
        // Without a default of their own.
        for key in [
            "worktree.setup",
            "review.policy",
            "review.profile",
            "review.commands",
            "network",
            "sandbox",
            "hide",
        ] {
            assert!(keys.knows(key), "{key}");
        }
        for name in [
            "pre-start",
            "post-complete",
            "pre-merge",
            "post-merge",
            "on-conflict",
            "on-learning",
            "on-pause",
            "on-error",
            "pre-task-start",
            "post-task-complete",
        ] {
            assert!(keys.knows(&format!("hooks.{name}")), "{name}");
        }
    }

    #[test]
    fn what_is_decided_elsewhere_is_refused_with_the_place() {
        let keys = Keys::new();
        for (key, reason) in ELSEWHERE {
            assert!(!keys.knows(key), "{key} is a key");
            let (why, hint) = keys.unknown(key);
            assert!(why.contains(key) && why.contains(reason) && !hint.is_empty(), "{why}");
            if let Some(there) = reason.strip_prefix("it is ").filter(|rest| !rest.contains([' ', ':'])) {
                assert!(keys.knows(there), "{key}: {there} is no key");
            }
        }
    }
}
