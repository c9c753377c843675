//! What is denied, full or spent, and words of people for agents.

use crate::check;

#[test]
fn what_the_sandbox_denied_goes_to_a_profile_with_broader_rights_or_to_a_person() {
    check(
        "plan a | start profiles | ready a | fails a denied | stopped a | ready a | fails a denied | stopped a | attention",
        r#"
            a: Pending → Preparing r1 main → Active 1 → Pending → Preparing r2 wide → Active 1 → Blocked (sandbox)
            attention: Task a is blocked (sandbox) (the sandbox denied what it needs: output; no profile with broader rights is configured for it) ["swarm task show a", "swarm task unblock a", "swarm task edit a --profile NAME", "swarm task defer a", "swarm task cancel a"]
        "#,
    );
    check(
        "plan a | start | ready a | fails a denied | stopped a | attention",
        r#"
            a: Pending → Preparing r1 → Active 1 → Blocked (sandbox)
            attention: Task a is blocked (sandbox) (the sandbox denied what it needs: output; no profile with broader rights is configured for it) ["swarm task show a", "swarm task unblock a", "swarm task edit a --profile NAME", "swarm task defer a", "swarm task cancel a"]
        "#,
    );
}

#[test]
fn a_disk_that_fills_up_holds_agents_at_their_boundary_and_says_who() {
    check(
        "plan a | start | ready a | disk low | disk low | attention | agents | said a | agents | disk fine | agents",
        r#"
            a: Pending → Preparing r1 → Active 1 → Active 2
            attention: Paused: the disk is full or read-only (900 MiB left) ["swarm doctor"]
            agent ed-001: a held at its boundary (held)
            agent ed-001: a held at its boundary (held)
            agent ed-001: a working
            owed: Work r1 Go { iteration: 2, session: Some("s1") }
        "#,
    );
}

#[test]
fn a_task_that_has_spent_its_budget_waits_for_a_person_without_penalty() {
    check(
        "plan a | start budget | ready a | said a | said a | stopped a | attention | unblock a | extend a",
        r#"
            a: Pending → Preparing r1 → Active 1 → Active 2 → Blocked (budget) → Pending → Preparing r2
            attention: Task a is blocked (budget) (its budget is spent: 200 of 150 tokens) ["swarm task show a", "swarm budget extend a", "swarm task cancel a"]
            refused: Task a is blocked and cannot be unblocked (try swarm budget extend a)
            owed: Prepare r2
        "#,
    );
}

#[test]
fn a_swarm_that_has_spent_its_budget_pauses_until_a_person_extends_it() {
    check(
        "plan a b | slots 2 | start budget | ready a | said a | ready b | said b | said b | stopped b | extend b | ready b | said b | attention | agents | resume budget | agents",
        r#"
            a: Pending → Preparing r1 → Active 1 → Active 2
            b: Pending → Preparing r2 → Active 1 → Active 2 → Blocked (budget) → Pending → Preparing r3 → Active 1 → Active 2
            attention: Paused: the budget is spent (spent 400 of 350 tokens) ["swarm budget extend"]
            agent ed-001: a held at its boundary (held)
            agent ada-002: b held at its boundary (held)
            agent ed-001: a working
            agent ada-002: b working
            owed: Work r1 Go { iteration: 2, session: Some("s1") }, Work r3 Go { iteration: 2, session: Some("s1") }
        "#,
    );
    check(
        "plan a b | slots 2 | start budget | ready a | said a | ready b | said b | said b | stopped b | extend b | ready b | said b | extend | attention",
        r#"
            a: Pending → Preparing r1 → Active 1 → Active 2
            b: Pending → Preparing r2 → Active 1 → Active 2 → Blocked (budget) → Pending → Preparing r3 → Active 1 → Active 2
            owed: Work r1 Go { iteration: 2, session: Some("s1") }, Work r3 Go { iteration: 2, session: Some("s1") }
        "#,
    );
    check(
        "plan a | start | extend | extend a",
        r"
            a: Pending → Preparing r1
            refused: The swarm has no budget: nothing would change (try swarm status)
            refused: Task a has no budget: nothing would change (try swarm status)
            owed: Prepare r1
        ",
    );
}

#[test]
fn a_message_lands_with_the_first_iteration_whose_prompt_knew_it() {
    check(
        "plan a | start | message a | ready a | unfinished a | messages a | heard a | messages a",
        r"
            a: Pending → Preparing r1 → Active 1 → Active 2 → Active 3
            message: use the old parser queued
            message: use the old parser r1 iteration 2
            owed: Work r1 Go { iteration: 3 }
        ",
    );
    check(
        "plan a | message a | start | ready a | message a | heard a | messages a",
        r"
            a: Pending → Preparing r1 → Active 1 → Active 2
            message: use the old parser r1 iteration 1
            message: use the old parser r1 iteration 1
            owed: Work r1 Go { iteration: 2 }
        ",
    );
    check(
        "plan a | cancel a | message a",
        r"
            a: Pending → Cancelled
            refused: Task a is cancelled and cannot be given a message (try swarm task show a)
        ",
    );
}
