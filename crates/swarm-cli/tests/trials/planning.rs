//! A goal becomes a plan: proposed by an agent that changes nothing, approved by a person, done by the swarm.

use serde_json::{Value, json};

use crate::arena::Arena;
use crate::ground::{arena_with, has};

/// Exit code, what was printed and what was said.
fn swarm(arena: &Arena, args: &[&str]) -> (i32, String, String) {
    let out = arena.swarm(args);
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (out.status.code().unwrap_or(-1), text(&out.stdout), text(&out.stderr))
}

/// A goal with what the scripted agent does to plan it.
fn goal(script: &str) -> String {
    format!("Greet people\n\n```plan-script\n{script}\n```")
}

fn plan(tasks: Value) -> String {
    let plan = json!({ "phases": [{ "id": 1, "name": "Greetings", "tasks": tasks }] });
    format!("print Here is my plan.\nprint {plan}")
}

fn two_tasks() -> Value {
    let work = |file: &str| format!("```script\nwrite {file} x\ncommit feat: {file}\ncomplete\n```");
    json!([
        { "id": "1.1", "title": "Say hello", "size": "small", "files": ["hello.txt"], "description": work("hello.txt") },
        { "id": "1.2", "title": "Say goodbye", "depends": ["1.1"], "description": work("bye.txt") },
    ])
}

#[test]
fn a_goal_becomes_a_plan_that_is_shown_approved_and_done() {
    let arena = arena_with(json!({ "agent": "script" }));
    let look = "usage input=1200 output=300 cost=0.05\n\
                sh cat \"$SWARM_PROMPT_FILE\"\n\
                sh echo gotcha > README.md; echo gotcha > new.txt; echo tried\n";
    let goal = goal(&format!("{look}{}", plan(two_tasks())));
    // Without anybody to ask it stays a draft, and says how to go on.
    let (code, shown, said) = swarm(&arena, &["plan", "make", &goal]);
    assert_eq!(code, 2, "{said}");
    has(&shown, &["Say hello", "small", "hello.txt", "1.2   Say goodbye", "1.1", "1.5k tokens, $0.05"]);
    has(&said, &["Confirmation needed", "swarm plan save ", "/.swarm/plan-draft.json` saves it"]);
    has(&arena.printed(), &["# Make a plan", "Greet people", "- README.md", "tried"]);
    // As JSON the draft is all that is wanted; a run would do nothing with it, and pays for none.
    let (code, shown, said) = swarm(&arena, &["run", &goal, "--json"]);
    assert_eq!(code, 2, "{shown}{said}");
    has(&shown, &["--json asks nothing"]);
    let (code, shown, said) = swarm(&arena, &["plan", "make", &goal, "--json"]);
    assert_eq!(code, 0, "{shown}{said}");
    let draft: Value = serde_json::from_str(&shown).expect("one document");
    assert_eq!((&draft["approved"], &draft["draft"]), (&json!(false), &json!(".swarm/plan-draft.json")));
    has(&said, &["/.swarm/plan-draft.json` saves it"]);
    let changed = arena.git(&["status", "--porcelain", "--untracked-files=all"]);
    let changed: Vec<&str> = changed.lines().filter(|line| !line.contains(" .swarm/")).collect();
    assert_eq!(changed, Vec::<&str>::new(), "the planner changed something");
    let (code, shown, said) = swarm(&arena, &["run", &goal, "--yes", "--agents", "2"]);
    assert_eq!(code, 0, "{said}");
    has(&shown, &["Plan saved and approved: 2 tasks"]);
    arena.assert_all_done();
    assert_eq!(
        arena.json(&["status"])["goal"].as_str().unwrap_or_default().lines().next(),
        Some("Greet people")
    );
    has(&arena.ok(&["plan", "approved"]), &["approved"]);
    // Also with the number of agents that was asked for.
    assert_eq!(arena.json(&["status"])["approved"]["drifted"], false, "{said}");
    assert!(!arena.root.join(".swarm/plan-draft.json").exists());
    // A second goal does not write over a plan.
    let (code, _, said) = swarm(&arena, &["plan", "make", &goal, "--yes"]);
    assert_eq!(code, 1);
    has(&said, &["A plan already exists", "swarm plan refine"]);
    arena.assert_tidy();
}

#[test]
fn the_one_that_plans_finds_its_way_about_the_repository_and_reads_nothing_of_the_swarm() {
    let arena = arena_with(json!({ "agent": "script" }));
    arena.write("src/deep/word.txt", "needle");
    let look = "sh ls && find . -name word.txt && grep -rl needle src && git status --short && echo found its way\n\
                sh cat .swarm/run/planner.lock && echo wo''rked\n";
    let (code, _, said) =
        swarm(&arena, &["plan", "make", &goal(&format!("{look}{}", plan(two_tasks()))), "--yes"]);
    assert_eq!(code, 0, "{said}");
    has(&arena.printed(), &["./src/deep/word.txt", "found its way"]);
    assert!(!arena.printed().contains("worked"), "{}", arena.printed());
}

#[test]
fn a_plan_that_cannot_be_used_is_asked_for_once_more_with_the_reason() {
    let arena = arena_with(json!({ "agent": "script", "plan": { "approve": "auto" } }));
    let cycle = json!([
        { "id": "1.1", "title": "One", "depends": ["1.2"] },
        { "id": "1.2", "title": "Two", "depends": ["1.1"] },
    ]);
    // The second question is told from the first by what stands in it.
    arena.write(
        "good.json",
        &json!({ "phases": [{ "id": 1, "name": "x", "tasks": [{ "id": "1.1", "title": "One" }] }] })
            .to_string(),
    );
    arena.write("bad.json", &json!({ "phases": [{ "id": 1, "name": "x", "tasks": cycle }] }).to_string());
    let goal = goal(
        "sh if grep -q 'Your pla[n] cannot' \"$SWARM_PROMPT_FILE\"; then cat good.json; else cat bad.json; fi",
    );
    let (code, shown, said) = swarm(&arena, &["plan", "make", &goal]);
    assert_eq!(code, 0, "{said}");
    has(&said, &["The plan cannot be used (", "asking once more"]);
    has(&shown, &["Plan saved and approved: 1 task"]);
    assert_eq!(arena.tasks().len(), 1);
}

#[test]
fn nothing_that_a_planner_says_is_believed_beyond_its_plan() {
    for (answer, why) in [
        ("print I would rather not.", "no JSON object"),
        ("print {\"phases\": []}", "it has no tasks"),
        ("print {\"phases\": [{\"id\": 1, \"tasks\": [{\"id\": \"../x\", \"title\": \"Leave\"}]}]}", "../x"),
        ("flood 60000", "bytes"),
        ("crash 3", "had no answer"),
    ] {
        let arena = arena_with(json!({ "agent": "script" }));
        let (code, _, said) = swarm(&arena, &["plan", "make", &goal(answer), "--yes"]);
        assert_ne!(code, 0, "{answer}: {said}");
        has(&said, &["Cannot make a plan", why]);
        assert!(!arena.root.join(".swarm/plan-ledger.jsonl").exists(), "{answer}");
    }
    let arena = arena_with(json!({ "agent": "script" }));
    let greedy = json!({
        "goal": "Another one",
        "execution_profile": { "parallelization_enabled": true, "max_concurrent_tasks": 64 },
        "phases": [{ "id": 1, "name": "x", "tasks": [
            { "id": "1.1", "title": "One", "review": "none", "profile": "root", "status": "done" }] }],
    });
    let (code, _, said) = swarm(&arena, &["plan", "make", &goal(&format!("print {greedy}")), "--yes"]);
    assert_eq!(code, 0, "{said}");
    let task = arena.shown("1.1");
    assert_eq!(
        (&task["status"], &task["profile"], &task["review"]),
        (&json!("pending"), &Value::Null, &Value::Null)
    );
    assert!(arena.json(&["status"])["goal"].as_str().unwrap_or_default().starts_with("Greet people"));
}

#[test]
fn a_draft_is_refined_and_so_is_a_plan_that_runs_already() {
    let arena = arena_with(json!({ "agent": "script" }));
    let mut tagged = two_tasks();
    tagged[0]["tags"] = json!(["security"]);
    let first = goal(&plan(tagged));
    let (code, shown, said) = swarm(&arena, &["plan", "make", &first, "--dry-run"]);
    assert_eq!(code, 0, "{said}");
    has(&shown, &["ask script"]);
    assert!(!arena.root.join(".swarm/plan-draft.json").exists(), "a look changes nothing");
    let (code, ..) = swarm(&arena, &["plan", "make", &first]);
    assert_eq!(code, 2, "there is nobody to ask");
    let more = |id: &str| {
        let mut tasks = two_tasks();
        tasks.as_array_mut().expect("a list").push(json!({ "id": id, "title": format!("Do {id}") }));
        format!("one task more\n\n```plan-script\nsh cat \"$SWARM_PROMPT_FILE\"\n{}\n```", plan(tasks))
    };
    let (code, shown, said) = swarm(&arena, &["plan", "refine", &more("1.3"), "--yes"]);
    assert_eq!(code, 0, "{said}");
    has(&shown, &["Do 1.3", "Plan saved and approved: 3 tasks"]);
    has(&arena.printed(), &["A plan for this goal is there", "one task more"]);
    let (code, shown, said) = swarm(&arena, &["plan", "refine", &more("1.4"), "--yes"]);
    assert_eq!(code, 0, "{said}");
    has(&shown, &["Do 1.4"]);
    let ids: Vec<String> =
        arena.tasks().iter().map(|task| task["id"].as_str().unwrap_or_default().to_owned()).collect();
    assert_eq!(ids, ["1.1", "1.2", "1.4"]);
    // A tag may decide who reviews: a planner that forgets it takes nothing away.
    assert_eq!(arena.shown("1.1")["tags"], json!(["security"]));
}

/// A plan with one large task, whose goal says what the scripted agent proposes when it is asked to split it.
fn one_large(script: &str) -> Arena {
    let arena = arena_with(json!({ "agent": "script" }));
    let task = json!({ "id": "1.1", "title": "Do it all", "description": "```script\ncomplete\n```", "tags": ["ui"],
        "review": "none", "files": ["*.txt"] });
    let plan = json!({ "goal": goal(script), "phases": [{ "id": 1, "name": "x", "tasks": [task] }] });
    let file = arena.path("large.json");
    std::fs::write(&file, plan.to_string()).expect("a file");
    arena.ok(&["plan", "save", file.to_str().expect("text")]);
    arena
}

fn part(title: &str, file: &str) -> Value {
    let script = format!("```script\nwrite {file} x\ncommit feat: {file}\ncomplete\n```");
    json!({ "title": title, "description": script })
}

#[test]
fn a_large_task_is_split_as_the_planner_proposes_and_a_person_approves() {
    let mut parts = json!({ "tasks": [part("First half", "one.txt"), part("Second half", "two.txt")] });
    // Neither who does it nor who reviews it is a planner's to decide.
    parts["tasks"][0]["review"] = "command".into();
    parts["tasks"][0]["profile"] = "root".into();
    parts["tasks"][1]["tags"] = json!(["db"]);
    let arena = one_large(&format!("sh cat \"$SWARM_PROMPT_FILE\"\nprint {parts}"));
    let (code, shown, said) = swarm(&arena, &["task", "split", "1.1", "--dry-run"]);
    assert_eq!(code, 0, "{said}");
    has(&shown, &["ask script", ".swarm/split-1.1.json"]);
    let (code, shown, said) = swarm(&arena, &["task", "split", "1.1", "--wish", "one part per file"]);
    assert_eq!(code, 2, "{said}");
    has(&shown, &["1.1-1", "First half", "1.1-2", "Second half"]);
    has(&said, &["Confirmation needed", "swarm task split 1.1 ", "/.swarm/split-1.1.json` takes it"]);
    has(&arena.printed(), &["# Split a task", "its task 1.1 is too large", "one part per file"]);
    assert_eq!(arena.tasks().len(), 1, "nobody has approved it");
    let (code, shown, said) = swarm(&arena, &["task", "split", "1.1", "--yes"]);
    assert_eq!(code, 0, "{said}");
    has(&shown, &["Task 1.1 is split into 1.1-1, 1.1-2"]);
    assert!(!arena.root.join(".swarm/split-1.1.json").exists());
    let (first, second) = (arena.shown("1.1-1"), arena.shown("1.1-2"));
    assert_eq!(first["reviewer"], "none", "{first}");
    assert!(!first.to_string().contains("root"), "{first}");
    assert_eq!(second["tags"], json!(["ui", "db"]), "{second}");
    let (code, said) = arena.run(&[]);
    assert_eq!(code, 0, "{said}");
    arena.assert_all_done();
    let tree = arena.git(&["ls-tree", "--name-only", "main"]);
    assert!(tree.contains("one.txt") && tree.contains("two.txt"), "{tree}");
    // Nobody is asked, and paid, where the answer would be of no use.
    let (code, _, said) = swarm(&arena, &["task", "split", "1.1"]);
    assert_eq!(code, 1, "{said}");
    assert!(!said.contains("is planning"), "{said}");
}

#[test]
fn a_split_that_cannot_be_used_changes_nothing() {
    for (answer, why) in [
        ("print I would rather not.", "no JSON object"),
        ("print {\"tasks\": [{\"title\": \"Alone\"}]}", "at least two parts"),
        ("print {\"tasks\": [{\"id\": \"1.1\", \"title\": \"a\"}, {\"title\": \"b\"}]}", "1.1"),
        ("print {\"tasks\": [{\"id\": \"../x\", \"title\": \"a\"}, {\"title\": \"b\"}]}", "../x"),
        ("print {\"tasks\": [{\"title\": \"a\", \"depends\": [\"9.9\"]}, {\"title\": \"b\"}]}", "9.9"),
        ("crash 3", "had no answer"),
    ] {
        let arena = one_large(answer);
        let (code, _, said) = swarm(&arena, &["task", "split", "1.1", "--yes"]);
        assert_ne!(code, 0, "{answer}: {said}");
        has(&said, &["Cannot split the task", why]);
        assert_eq!(arena.tasks().len(), 1, "{answer}");
        assert!(!arena.root.join(".swarm/split-1.1.json").exists(), "{answer}");
    }
}

/// A program that tells what its conversation has cost from its beginning, whichever process is asked.
const SUMS_UP: &str = r#"asked=$(cat)
case "$asked" in
*'cannot be used'*) sum=0.03; says='{\"phases\":[{\"id\":1,\"name\":\"x\",\"tasks\":[{\"id\":\"1.1\",\"title\":\"One\"}]}]}' ;;
*'is to be changed'*) sum=0.07; says='{\"phases\":[{\"id\":1,\"name\":\"x\",\"tasks\":[{\"id\":\"1.1\",\"title\":\"Two\"}]}]}' ;;
*) sum=0.02; says='One task would do.' ;;
esac
echo '{"type":"system","subtype":"init","session_id":"one"}'
printf '{"type":"assistant","message":{"id":"m","content":[{"type":"text","text":"%s"}]}}\n' "$says"
printf '{"type":"result","subtype":"success","is_error":false,"terminal_reason":"completed","session_id":"one",'
printf '"result":"%s","total_cost_usd":%s,"usage":{"input_tokens":10},"permission_denials":[]}\n' "$says" $sum
"#;

#[test]
fn what_a_conversation_has_cost_is_counted_once_over_all_its_questions() {
    let claude = json!({ "program": "claude", "command": ["sh", "claude.sh"] });
    let arena = arena_with(json!({ "agent": "sums", "profiles": { "sums": claude } }));
    arena.write("claude.sh", SUMS_UP);
    let (code, shown, said) = swarm(&arena, &["plan", "make", "Greet people", "--yes"]);
    assert_eq!(code, 0, "{said}");
    has(&said, &["asking once more"]);
    has(&shown, &["Plan saved and approved: 1 task", "$0.03"]);
    let (code, shown, said) = swarm(&arena, &["plan", "refine", "call it two", "--yes"]);
    assert_eq!(code, 0, "{said}");
    has(&shown, &["Two", "$0.07"]);
}
