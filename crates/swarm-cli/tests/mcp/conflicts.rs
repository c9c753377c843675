//! What will conflict, as a client is told before it does.

use serde_json::{Value, json};

use crate::arena::wait_for;
use crate::ground::{arena_with, task};
use crate::pipe::Pipe;

#[test]
fn w6_what_will_conflict_is_in_the_status_the_task_and_the_handoff() {
    let arena = arena_with(json!({}));
    let go = arena.path("go");
    let script = |text: &str| {
        format!("write README.md {text}\ncommit feat: {text}\nwait-for {}\nblocked enough", go.display())
    };
    arena.plan_in_phases(&[vec![task("1.1", &[], &script("one")), task("1.2", &[], &script("two"))]]);
    let run = arena.start(&["--agents", "2"]);
    let mut pipe = Pipe::newer(&arena, &[]);
    let foreseen = json!([{ "task": "1.1", "with": "1.2", "files": ["README.md"] }]);
    wait_for("the conflict is foreseen", || pipe.ok("swarm_status", json!({}))["conflicts"] == foreseen);
    let mut read = |uri: &str| -> Value {
        let answer = pipe.ask("resources/read", json!({ "uri": uri }));
        let text = answer["result"]["contents"][0]["text"].as_str().unwrap_or_else(|| panic!("{answer}"));
        serde_json::from_str::<Value>(text).expect("JSON")["view"].clone()
    };
    assert_eq!(read("swarm://handoff")["conflicts"], foreseen);
    let other = json!([{ "with": "1.1", "files": ["README.md"] }]);
    assert_eq!(read("swarm://tasks/1.2")["conflicts_with"], other);
    std::fs::write(go, "").expect("a file");
    run.end();
}
