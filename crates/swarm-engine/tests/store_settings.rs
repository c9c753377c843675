//! The configuration: where each value comes from, and what is refused with its line.

use std::collections::BTreeMap;

use swarm_engine::settings::{Flag, Settings, SettingsError, Source, env_name, load};
use swarm_protocol::config::{Config, SessionKind};

fn load_text(text: &str, environment: &[(&str, &str)], flags: &[Flag]) -> Result<Settings, SettingsError> {
    let dir = tempfile::tempdir().expect("a folder");
    let file = dir.path().join("config.json");
    std::fs::write(&file, text).expect("written");
    let environment: BTreeMap<String, String> =
        environment.iter().map(|(k, v)| ((*k).into(), (*v).into())).collect();
    load(&file, &environment, flags).map_err(|error| {
        let place = error.place.replace(&file.display().to_string(), "config.json");
        SettingsError { place, ..error }
    })
}

/// A refused file: its line, why, and the hint.
fn check(text: &str, expected: &str) {
    let error = load_text(text, &[], &[]).expect_err(text);
    assert_eq!(format!("{} {} | {}", error.place, error.why, error.hint), expected);
}

#[test]
fn without_a_file_everything_has_its_default() {
    let settings =
        load(std::path::Path::new("/nowhere/config.json"), &BTreeMap::new(), &[]).expect("defaults");
    assert_eq!(settings.config, Config::default());
    assert!(settings.sources.values().all(|source| *source == Source::Default));
    assert!(settings.sources.contains_key("recovery.maxRetries"));
}

#[test]
fn a_flag_wins_over_the_environment_over_the_file_over_the_default() {
    let text = "{ // ours\n  recovery: { maxRetries: 5, backoffMax: '10m' },\n  \"maxIterations\": 7, /* few\n */\n  agent: 'a', check: { commands: ['make', ['cargo', 'test']] },\n}";
    let environment = [
        ("SWARM_MAX_ITERATIONS", "8"),
        ("SWARM_AGENT", "b"),
        ("SWARM_VERIFY_COMMANDS", "make check"),
        ("SWARM_OTHER", "x"),
    ];
    let flag = Flag { name: "--agent".into(), key: "agent".into(), value: "c".into() };
    let Settings { config, sources } = load_text(text, &environment, &[flag]).expect("good");
    assert_eq!((config.recovery.max_retries, config.recovery.backoff_max.secs), (5, 600));
    assert_eq!((config.max_iterations, config.agent.as_str(), config.merge.rounds), (8, "c", 3));
    assert_eq!(config.check.commands.len(), 2);
    assert_eq!(config.verify_commands().commands[0].shown(), "make check");
    let said = |key: &str| sources[key].to_string();
    assert_eq!(said("recovery.maxRetries"), "config.json line 2");
    assert_eq!(said("check.commands"), "config.json line 5");
    assert_eq!(said("maxIterations"), "environment SWARM_MAX_ITERATIONS");
    assert_eq!(said("agent"), "flag --agent");
    assert_eq!(said("merge.rounds"), "default");
    assert_eq!(env_name("recovery.maxRetries"), "SWARM_RECOVERY_MAX_RETRIES");
}

#[test]
fn an_unknown_key_is_refused_with_its_line_and_the_key_that_was_meant() {
    check(
        "{\n  // x: 1\n  recovery: {\n    maxRetrys: 3 } }",
        "config.json:4 there is no key recovery.maxRetrys | Did you mean recovery.maxRetries?",
    );
    check(
        "{ maxRetries: 3 }",
        "config.json:1 there is no key maxRetries: it is recovery.maxRetries | `swarm help config` lists every key",
    );
    check(
        "{\n\n'colour': 'red' }",
        "config.json:3 there is no key colour | `swarm help config` lists every key",
    );
}

#[test]
fn a_value_that_cannot_be_is_refused_with_its_line() {
    let show = |key: &str| format!("`swarm help config` explains {key} and every other key");
    check(
        "{\n maxTaskDuration: 'soon' }",
        &format!(
            "config.json:2 maxTaskDuration: \"soon\" is not a duration like \"30s\", \"30m\" or \"2h\" | {}",
            show("maxTaskDuration")
        ),
    );
    check(
        "{ maxTaskDuration: 0 }",
        &format!(
            "config.json:1 maxTaskDuration: it must be longer than nothing | {}",
            show("maxTaskDuration")
        ),
    );
    check(
        "{ maxIterations: 0 }",
        &format!(
            "config.json:1 maxIterations: 0 is too small, at least 1 is wanted | {}",
            show("maxIterations")
        ),
    );
    check(
        "{ recovery: { maxRetries: 101 } }",
        &format!(
            "config.json:1 recovery.maxRetries: 101 is too large, at most 100 is allowed | {}",
            show("recovery.maxRetries")
        ),
    );
    check(
        "{ worktree: { maxFile: 'big' } }",
        &format!(
            "config.json:1 worktree.maxFile: a whole number is wanted, and this is string \"big\" | {}",
            show("worktree.maxFile")
        ),
    );
    check(
        "{ worktree: { dir: '../x' } }",
        &format!(
            "config.json:1 worktree.dir: \"../x\" is not a folder below the repository's root | {}",
            show("worktree.dir")
        ),
    );
    check(
        "{ recovery: {\n onDamage: 'ignore' } }",
        &format!(
            "config.json:2 recovery.onDamage: there is no `ignore`: write `quarantine` or `ask` | {}",
            show("recovery.onDamage")
        ),
    );
    check(
        "{ agent: 'a',\nagent: 'b' }",
        "config.json:2 agent is set twice, first at line 1 | Keep one of them",
    );
    check(
        "{ budget: { task: { tokens: 1 } },\n'budget.task.tokens': 2 }",
        "config.json:2 budget.task.tokens is set twice, first at line 1 | Keep one of them",
    );
}

#[test]
fn a_value_that_can_only_fail_or_means_the_opposite_is_refused() {
    let show = |key: &str| format!("`swarm help config` explains {key} and every other key");
    for key in ["review.timeout", "plan.timeout", "worktree.setupTimeout"] {
        check(
            &format!("{{ '{key}': '0m' }}"),
            &format!("config.json:1 {key}: it must be longer than nothing | {}", show(key)),
        );
    }
    check(
        "{ budget: { session: { dollars: -5 } } }",
        &format!(
            "config.json:1 budget.session.dollars: it is below nothing; 0 is no bound | {}",
            show("budget.session.dollars")
        ),
    );
}

#[test]
fn what_has_no_value_by_default_has_a_variable_with_its_type() {
    let Settings { config, sources } = load_text("", &[("SWARM_NETWORK", "false")], &[]).expect("good");
    assert_eq!(
        (config.network, sources["network"].to_string()),
        (Some(false), "environment SWARM_NETWORK".into())
    );
}

#[test]
fn what_a_hook_or_an_attempt_is_told_sets_no_key() {
    let told = [
        ("SWARM_HOOK", "post-complete"),
        ("SWARM_AGENT", "ed-001"),
        ("SWARM_RUN", "run-1"),
        ("SWARM_SESSION", "s-17"),
    ];
    let Settings { config, sources } =
        load_text("{ agent: 'a', session: 'fresh' }", &told, &[]).expect("good");
    assert_eq!((config.agent.as_str(), config.session), ("a", SessionKind::Fresh));
    assert_eq!(sources["agent"].to_string(), "config.json line 1");
    assert_eq!(sources["session"].to_string(), "config.json line 1");
    let Settings { config, .. } = load_text("{ agent: 'a' }", &told[1..2], &[]).expect("good");
    assert_eq!(config.agent, "ed-001");
}

#[test]
fn nothing_of_a_file_is_passed_over_behind_what_only_looks_like_a_comment_or_a_key() {
    for end in ["\n", "\r", "\u{2028}", "\u{2029}"] {
        let text = format!("{{ // ours{end} agent: 'a' }}");
        assert_eq!(load_text(&text, &[], &[]).expect("good").config.agent, "a", "{end:?}");
        let deep = format!("{{ // ours{end} agent: {} }}", "[".repeat(100_000));
        let error = load_text(&deep, &[], &[]).expect_err("deep");
        assert_eq!(error.why, "it is nested more than 32 levels deep", "{end:?}");
    }
    let text = "{ /*/ isn't */ agent: 'a' /* isn't */ }";
    assert_eq!(load_text(text, &[], &[]).expect("good").config.agent, "a");
    check(
        "{ profiles: {\n 'a\\x62': { model: 'm' } } }",
        "config.json:2 profiles.a\\x62 is written with an escape | Write each of its letters as it is",
    );
}

#[test]
fn what_is_no_configuration_at_all_is_refused() {
    assert_eq!(load_text("[]", &[], &[]).expect_err("a list").why, "it is not an object");
    let deep = format!("{{ agent: {} }}", "[".repeat(100_000));
    assert_eq!(load_text(&deep, &[], &[]).expect_err("deep").why, "it is nested more than 32 levels deep");
    let error =
        load_text("{\n  agent: 'a'\n  maxIterations: 3\n}", &[], &[]).expect_err("a comma is missing");
    assert_eq!(error.place, "config.json:3");
    let huge = " ".repeat((1 << 20) + 1);
    assert!(load_text(&huge, &[], &[]).expect_err("huge").why.contains("at most 1048576"));
    assert_eq!(
        load_text("", &[("SWARM_MAX_ITERATIONS", "many")], &[]).expect_err("bad").place,
        "environment SWARM_MAX_ITERATIONS"
    );
}

/// Compares a printed page with what the code says, or writes it when asked to.
fn printed(name: &str, schema: &schemars::Schema) {
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/reference").join(name);
    let schema = sorted(serde_json::to_value(schema).expect("plain data"));
    let text = format!("{}\n", serde_json::to_string_pretty(&schema).expect("plain data"));
    if std::env::var_os("SWARM_GEN").is_some() {
        return std::fs::write(&path, text).expect("written");
    }
    let there = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(there == text, "docs/reference/{name} is not what the code says: run `cargo xtask gen`");
}

/// Members in the order of the alphabet, whatever order the JSON library was built to keep.
fn sorted(value: serde_json::Value) -> serde_json::Value {
    use serde_json::Value;
    match value {
        Value::Object(members) => {
            let members: BTreeMap<String, Value> = members.into_iter().collect();
            Value::Object(members.into_iter().map(|(name, value)| (name, sorted(value))).collect())
        }
        Value::Array(items) => Value::Array(items.into_iter().map(sorted).collect()),
        leaf => leaf,
    }
}

#[test]
fn printed_config_schema() {
    printed("config.schema.json", &schemars::schema_for!(Config));
}

#[test]
fn printed_plan_schema() {
    printed("plan.schema.json", &schemars::schema_for!(swarm_protocol::plan::PlanFile));
}

#[test]
fn profiles_have_names_of_the_user_and_members_of_ours() {
    let text = "{ agent: 'careful',\n profiles: {\n  careful: { program: 'claude', model: 'opus', writable: ['~/.cache/x'],\n   network: false } } }";
    let Settings { config, sources } = load_text(text, &[], &[]).expect("good");
    let profile = &config.profiles["careful"];
    assert_eq!((profile.program.as_str(), profile.model.as_deref()), ("claude", Some("opus")));
    assert_eq!((profile.network, profile.writable.len()), (Some(false), 1));
    assert_eq!(sources["profiles.careful.model"].to_string(), "config.json line 3");
    assert_eq!(sources["profiles.careful.network"].to_string(), "config.json line 4");
}

#[test]
fn a_profile_that_cannot_be_is_refused_with_its_line() {
    check(
        "{ profiles: {\n a: { modell: 'x' } } }",
        "config.json:2 there is no key profiles.a.modell | Did you mean profiles.a.model?",
    );
    let show = |key: &str| format!("`swarm help config` explains {key} and every other key");
    let why = "there is no agent program \"emacs\": use claude, codex, gemini, opencode, acp, exec, script";
    let key = "profiles.a.program";
    check(
        "{ profiles: {\n a: {\n program: 'emacs' } } }",
        &format!("config.json:3 {key}: {why} | {}", show(key)),
    );
    check(
        "{\n stall: '5m' }",
        &format!("config.json:2 stall: it must be between 1s and 299s | {}", show("stall")),
    );
}

#[test]
fn a_hook_is_a_path_or_more_about_it_and_anything_else_is_refused_with_its_line() {
    let text = "{ hooks: { 'post-merge': 'x.sh',\n 'pre-task-start': { command: 'a b.sh', timeout: '2m', blocking: true } } }";
    let Settings { config, sources } = load_text(text, &[], &[]).expect("good");
    assert_eq!(
        (config.hooks["post-merge"].command(), config.hooks["post-merge"].blocking()),
        ("x.sh", false)
    );
    let hook = &config.hooks["pre-task-start"];
    assert_eq!((hook.command(), hook.timeout().secs, hook.blocking()), ("a b.sh", 120, true));
    assert_eq!(sources["hooks.pre-task-start"].to_string(), "config.json line 2");
    let rules = config.policy().hooks;
    assert_eq!(rules.iter().map(|rule| rule.name.as_str()).collect::<Vec<_>>(), ["post-merge", "pre-start"]);
    check(
        "{ hooks: {\n 'post-merg': 'x' } }",
        "config.json:2 there is no key hooks.post-merg | Did you mean hooks.post-merge?",
    );
}
