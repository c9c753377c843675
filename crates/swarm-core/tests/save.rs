//! A saved file is what the plan is afterwards: also what it no longer says.

use swarm_core::input::Input;
use swarm_core::{State, export, step};
use swarm_protocol::command::{Command, Envelope, SaveKind};
use swarm_protocol::ids::CommandId;
use swarm_protocol::plan::PlanFile;
use swarm_protocol::time::Timestamp;

fn save(state: &mut State, n: u32, text: &str) {
    let plan: PlanFile = serde_json::from_str(text).expect("a plan");
    let id = CommandId::new(format!("c{n}")).expect("an id");
    let command = Command::SavePlan {
        plan,
        kind: SaveKind::Save,
        source: "test".into(),
        reset_statuses: false,
        planning: None,
    };
    let input = Input::Command(Envelope { id, by: "person:test".into(), command });
    step(state, input, Timestamp(u64::from(n))).expect("accepted");
}

/// Saves both files one after the other; what comes out must be the second.
fn check(first: &str, second: &str) {
    let mut state = State::default();
    save(&mut state, 1, first);
    save(&mut state, 2, second);
    let mut exported = export::plan_file(&state);
    let mut wanted: PlanFile = serde_json::from_str(second).expect("a plan");
    wanted.execution_profile = exported.execution_profile;
    exported.phases.iter_mut().flat_map(|p| &mut p.tasks).for_each(|task| task.status = None);
    assert_eq!(exported, wanted);
    state.check_index().expect("the index holds");
}

#[test]
fn members_that_the_file_no_longer_has_are_taken_away() {
    check(
        r#"{"goal":"g","phases":[{"id":1,"name":"p","tasks":[{"id":"a","title":"A","size":"small","priority":0,"profile":"x","review":"none","note":1}]}]}"#,
        r#"{"goal":"h","phases":[{"id":1,"name":"p","tasks":[{"id":"a","title":"A"}]}]}"#,
    );
}

#[test]
fn tasks_are_added_moved_and_removed_until_the_order_is_the_files() {
    let file = |ids: &[&str]| {
        let tasks: Vec<String> = ids.iter().map(|id| format!(r#"{{"id":"{id}","title":"T"}}"#)).collect();
        format!(r#"{{"goal":"g","phases":[{{"id":1,"name":"p","tasks":[{}]}}]}}"#, tasks.join(","))
    };
    check(&file(&["a", "b", "c", "d"]), &file(&["d", "x", "b", "a", "y"]));
    check(&file(&["a"]), &file(&["b", "a"]));
    check(&file(&["a", "b"]), &file(&[]));
}

#[test]
fn a_task_that_moves_to_another_phase_keeps_its_place_there() {
    check(
        r#"{"goal":"g","phases":[{"id":1,"name":"p","tasks":[{"id":"a","title":"A"},{"id":"b","title":"B"}]},{"id":2,"name":"q","tasks":[{"id":"c","title":"C"}]}]}"#,
        r#"{"goal":"g","phases":[{"id":2,"name":"q","tasks":[{"id":"b","title":"B","depends":["n"]},{"id":"c","title":"C"}]},{"id":1,"name":"p","tasks":[{"id":"n","title":"N"},{"id":"a","title":"A"}]}]}"#,
    );
}
