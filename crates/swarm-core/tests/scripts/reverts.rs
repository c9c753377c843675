//! A rollback of merged work whose reverts conflict: an agent is asked, so often, then a person is.

use super::check;

/// The work of `a` is merged, its rollback is planned, and the state before is saved.
const MOVING: &str = "ready a | complete a | green a | stopped a | built a | verified a | published a | stopped a | removed a | back a | surveyed c2 | saved c2";

const DONE: &str = "a: Pending → Preparing r1 → Active 1 → Checking → Approved → Merging → Done";

fn after(rest: &str, expected: &str) {
    check(&format!("plan a | start resolving | {MOVING} | {rest}"), &expected.replace("DONE", DONE));
}

#[test]
fn c6_an_agent_is_asked_about_reverts_that_conflict_and_what_it_says_is_moved_with_the_rest() {
    after("clashes c2", "DONE\nowed: Resolve c2 round 1");
    after("clashes c2 | resolves c2", "DONE\nowed: Move c2");
    after("clashes c2 | resolves c2 | moved c2 | found a", "DONE → Pending → Preparing r3\nowed: Prepare r3");
}

#[test]
fn c6_an_answer_of_no_use_and_one_that_is_red_are_a_try_each_and_then_a_person_is_asked() {
    after("clashes c2 | misses c2", "DONE\nowed: Resolve c2 round 2");
    after("clashes c2 | resolves c2 | refuted c2", "DONE\nowed: Resolve c2 round 2");
    after(
        "clashes c2 | misses c2 | resolves c2 | refuted c2 | found a | attention",
        r#"
        DONE
        attention: Operation failed: task rollback (task rollback conflicts with later work in src/a.rs (`swarm task diff a --conflict` shows the three sides), and what resolves it fails its verification; trunk is untouched) ["swarm op show 32", "swarm task diff a --conflict", "git revert cccccccc", "swarm attention --seen operation/c2"]
        "#,
    );
}

#[test]
fn c6_a_coordinator_that_dies_while_the_agent_is_asked_asks_again_and_not_for_ever() {
    after("clashes c2 | start resolving", "DONE\nowed: Resolve c2 round 2");
    after("clashes c2 | breaks c2 | start resolving | found a", "DONE");
}

#[test]
fn c6_a_command_that_works_without_a_coordinator_asks_the_agent_and_a_swarm_that_was_told_to_stop_does_not() {
    after("start alone | clashes c2", "DONE\nowed: Resolve c2 round 1");
    after("drain | clashes c2 | found a", "DONE");
}

#[test]
fn c6_whoever_waits_for_the_agent_no_longer_has_the_rollback_back_at_once() {
    after("clashes c2 | gives-up c2 | found a", "DONE");
}

#[test]
fn c6_nobody_is_asked_where_nothing_would_look_at_what_it_says() {
    check(&format!("plan a | start | {MOVING} | clashes c2 | found a"), DONE);
    after("unfit c2 | found a", "DONE");
}

#[test]
fn c6_an_allowance_that_is_used_up_closes_its_gate_and_a_person_is_asked_at_once() {
    after("clashes c2 | uses-up c2 | found a | agents", "DONE\nquota default: 0 waiting");
}
