//! What programs propose and people decide.

use swarm_core::input::Input;
use swarm_core::state::State;
use swarm_core::{step, wakes_at};
use swarm_protocol::command::{Command, Envelope};
use swarm_protocol::ids::CommandId;
use swarm_protocol::refusal::Refusal;
use swarm_protocol::time::Timestamp;

use super::check;
use super::script::Play;

#[test]
fn u5_what_a_person_accepts_happens_as_it_was_shown_and_is_undone_as_the_persons_own() {
    check("plan a | start by hand | block a | propose undo", "a: Pending → Blocked (human)");
    check(
        "plan a | start by hand | block a | propose undo | let 1 | redo | let 1",
        "
        a: Pending → Blocked (human) → Pending → Blocked (human)
        refused: There is no waiting proposal 1 (try swarm attention)
        ",
    );
}

#[test]
fn u5_what_would_change_other_facts_by_now_is_void_and_changes_nothing() {
    check(
        "plan a b | start by hand | block a | propose undo | block b | let 1 | undo",
        "
        a: Pending → Blocked (human)
        b: Pending → Blocked (human) → Pending
        ",
    );
    // What cannot be done at all any more is void too.
    check(
        "plan a | start by hand | block a | propose undo | undo | let 1 | let 1",
        "
        a: Pending → Blocked (human) → Pending
        refused: There is no waiting proposal 1 (try swarm attention)
        ",
    );
}

#[test]
fn u5_asked_twice_it_is_one_wish_and_only_what_takes_something_back_is_one() {
    check(
        "plan a | start by hand | block a | propose undo | propose undo | no 1 | propose undo | no 1 | propose unblock a",
        "
        a: Pending → Blocked (human)
        refused: Proposal 1 is the same and still waits for an answer (try swarm attention)
        refused: There is no waiting proposal 1 (try swarm attention)
        refused: The proposal is not valid: only what takes something back is proposed (try swarm --help)
        ",
    );
}

#[test]
fn u5_a_wish_that_nobody_answers_is_void_after_a_day_and_the_clock_is_told_of_it() {
    let mut play = Play::new();
    for step in ["plan a", "start by hand", "block a", "propose undo"] {
        play.step(step);
    }
    let wakes = wakes_at(&play.state, play.now).expect("a moment");
    assert_eq!(wakes, play.now.plus_secs(24 * 3_600));
    assert_eq!(play.state.proposals.waiting.len(), 1);
    play.step("+86400s");
    assert!(play.state.proposals.waiting.is_empty());
    assert_eq!(play.state.proposals.ended[0].end.words(), "void: nobody decided within 24 hours");
}

#[test]
fn u5_a_program_and_an_agent_accept_nothing() {
    let mut play = Play::new();
    for step in ["plan a", "start by hand", "block a", "propose undo"] {
        play.step(step);
    }
    for by in ["person:mcp", "agent:ed-001", "swarm:coordinator"] {
        let refused = accepted_by(&mut play.state.clone(), by, play.now);
        assert_eq!(refused, Err(Refusal::NotForAgents { what: "attention --accept".into() }), "{by}");
    }
    for by in ["person:cli", "person:tui", "person:web", "person:api"] {
        assert_eq!(accepted_by(&mut play.state.clone(), by, play.now), Ok(()), "{by}");
    }
}

fn accepted_by(state: &mut State, by: &str, now: Timestamp) -> Result<(), Refusal> {
    let id = CommandId::new("accepts").expect("a plain word");
    let envelope = Envelope { id, by: by.into(), command: Command::AcceptProposal { number: 1 } };
    step(state, Input::Command(envelope), now).map(drop)
}
