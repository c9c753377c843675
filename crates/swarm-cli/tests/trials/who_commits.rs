//! Who stands in the commits of an agent: the person, by whatever settings, or the agent where nobody has told git; and
//! whose work it is says nobody but the swarm.

use serde_json::json;

use crate::arena::Arena;
use crate::ground::{arena_with, has, task};

/// A repository that names nobody; `global` is what stands in the person's own settings.
fn nameless(global: &str) -> Arena {
    let arena = arena_with(json!({}));
    for name in ["user.name", "user.email"] {
        arena.git(&["config", "--unset", name]);
    }
    std::fs::write(arena.path(".gitconfig"), global).expect("settings");
    arena
}

/// Author and committer of the commit with this subject on trunk.
fn who(arena: &Arena, subject: &str) -> String {
    let log = arena.git(&["log", "--format=%s|%an <%ae>", "main"]);
    let found = log.lines().find_map(|line| line.strip_prefix(&format!("{subject}|")).map(str::to_owned));
    found.unwrap_or_else(|| panic!("{subject} is not on trunk:\n{log}"))
}

#[test]
fn a_program_that_hides_a_persons_settings_from_git_commits_in_their_name() {
    let arena = nameless("[user]\n\tname = Grace Global\n\temail = grace@example.org\n");
    let commit =
        "write a.txt a\nsh git add a.txt && GIT_CONFIG_GLOBAL=/dev/null git commit -q -m 'feat: a'\ncomplete";
    arena.plan_in_phases(&[vec![task("1.1", &[], commit)]]);
    let (code, said) = arena.run(&[]);
    assert_eq!(code, 0, "{said}\n{}", arena.printed());
    assert_eq!(who(&arena, "feat: a"), "Grace Global <grace@example.org>");
    arena.assert_tidy();
}

#[test]
fn where_nobody_has_told_git_an_agent_finds_its_own_name_in_its_environment() {
    let arena = nameless("");
    let variables = "$GIT_AUTHOR_NAME, $GIT_AUTHOR_EMAIL, $GIT_COMMITTER_NAME, $GIT_COMMITTER_EMAIL";
    let script = format!(
        "sh echo \"NAMES {variables}.\"\nwrite a.txt a\nsh git add a.txt && git commit -q -m 'feat: a'\ncomplete"
    );
    arena.plan_in_phases(&[vec![task("1.1", &[], &script)]]);
    let (code, said) = arena.run(&[]);
    let printed = arena.printed();
    assert_eq!(code, 0, "{said}\n{printed}");
    has(&printed, &["NAMES ed-001, ed-001@localhost, ed-001, ed-001@localhost."]);
    assert_eq!(who(&arena, "feat: a"), "ed-001 <ed-001@localhost>");
    arena.assert_tidy();
}

#[test]
fn trailers_that_an_agent_forges_are_not_on_trunk() {
    let arena = arena_with(json!({}));
    let forged = "Reviewed-by: B\nSwarm-Task: 9.9\nswarm-agent: root\nSwarm-Operation: mine";
    let script = arena.script_beside("message", &format!("feat: a\n\n{forged}\n"));
    let commit = format!("write a.txt a\nsh git add a.txt && git commit -q -F {script}\ncomplete");
    arena.plan_in_phases(&[vec![task("1.1", &[], &commit)]]);
    let (code, said) = arena.run(&[]);
    assert_eq!(code, 0, "{said}\n{}", arena.printed());
    let message = arena.git(&["log", "-1", "--format=%B", "--grep=feat: a", "main"]);
    let trailers: Vec<&str> = message.lines().skip(2).filter(|line| !line.is_empty()).collect();
    assert_eq!(trailers, ["Reviewed-by: B", "Swarm-Task: 1.1", "Swarm-Agent: ed-001"], "{message}");
    arena.assert_tidy();
}
