//! Operations in a pretend world: the whole matrix, a thousand of them undone, planted bugs.

use std::collections::{BTreeMap, BTreeSet};

use swarm_core::planted::{self, Bug};
use swarm_protocol::command::Command;
use swarm_protocol::ids::CommandId;
use swarm_protocol::refusal::Refusal;
use swarm_sim::operations::{
    Asked, Cell, Deed, Ground, OperationWorld, Situation, as_previewed, as_proposed, cells, check, goes_on,
    held, working,
};

#[test]
fn every_operation_in_every_situation_killed_at_every_seam_comes_to_the_same_end() {
    let (mut done, mut refused, mut failed, mut seams, mut undone) = (0, 0, 0, 0, 0);
    let mut broken = Vec::new();
    let mut somewhere: BTreeSet<String> = BTreeSet::new();
    for (deed, situation) in cells() {
        match check(deed, situation) {
            Ok(Cell::Done { seams: n, undo }) => {
                (done, seams) = (done + 1, seams + n);
                somewhere.insert(format!("{deed:?}"));
                undone += u64::from(undo == "undone");
                println!("{deed:?} {situation:?}: done, {n} seams, undo: {undo}");
            }
            Ok(Cell::Refused(why)) => {
                refused += 1;
                println!("{deed:?} {situation:?}: refused, {why}");
            }
            Ok(Cell::Failed(why)) => {
                failed += 1;
                println!("{deed:?} {situation:?}: failed, {why}");
            }
            Err(what) => broken.push(format!("{deed:?} {situation:?}: {what}")),
        }
    }
    println!("{done} done, {refused} refused, {failed} failed; {seams} kills, {undone} undone");
    assert!(broken.is_empty(), "{} broken:\n{}", broken.len(), broken.join("\n"));
    let nowhere = Deed::ALL.iter().find(|deed| !somewhere.contains(&format!("{deed:?}")));
    assert!(nowhere.is_none(), "{nowhere:?} is refused everywhere");
    assert!(done >= 100 && undone >= 60 && seams >= 300, "{done} done, {undone} undone, {seams} kills");
}

/// The oracle speaks after the swarm has gone on to its end, and asks the model of git only.
#[test]
fn after_every_operation_and_its_undo_the_swarm_goes_on_and_what_is_done_is_on_trunk() {
    let (mut went, mut broken) = (0, Vec::new());
    for ground in Ground::all() {
        for asked in Asked::all() {
            for undone in [false, true] {
                match goes_on(asked, ground, undone) {
                    Ok(on) => went += u64::from(on),
                    Err(what) => broken.push(format!("{asked:?} {ground:?} undone {undone}: {what}")),
                }
            }
        }
    }
    println!("{went} went on to the end");
    assert!(broken.is_empty(), "{} broken:\n{}", broken.len(), broken.join("\n"));
    assert!(went >= 300, "only {went} were accepted");
}

#[test]
fn what_a_preview_says_is_what_happens() {
    let told = |(deed, situation)| {
        let told = as_previewed(deed, situation);
        told.unwrap_or_else(|what| panic!("{deed:?} {situation:?}: {what}"))
    };
    let compared = cells().filter_map(told).count();
    println!("{compared} previews compared");
    assert!(compared >= 30, "only {compared}");
}

#[test]
fn what_is_proposed_and_accepted_is_the_same_as_what_is_asked_for() {
    let told = |(deed, situation)| {
        let told = as_proposed(deed, situation);
        told.unwrap_or_else(|what| panic!("{deed:?} {situation:?}: {what}"))
    };
    let compared = cells().filter_map(told).count();
    println!("{compared} proposals compared");
    assert!(compared >= 20, "only {compared}");
}

#[test]
fn a_thousand_operations_undone_in_reverse_order_leave_everything_as_it_was() {
    for seed in 1..=3 {
        let counted = held(seed, 1_000).unwrap_or_else(|what| panic!("seed {seed}: {what}"));
        println!("seed {seed}: {counted:?}");
        assert!(counted.accepted >= 300, "only {} were accepted", counted.accepted);
    }
}

#[test]
fn with_agents_at_work_an_undo_restores_its_own_facts_or_is_refused() {
    let (mut undone, mut refused) = (0, 0);
    for seed in 1..=20 {
        let counted = working(seed, 200).unwrap_or_else(|what| panic!("seed {seed}: {what}"));
        (undone, refused) = (undone + counted.undone, refused + counted.refused);
    }
    println!("{undone} undone, {refused} refused");
    assert!(undone >= 100 && refused >= 100);
}

/// Breaks a rule for the present thread and puts it right again.
fn found(bug: Bug, look: impl Fn() -> Option<String>) {
    planted::set(Some(bug));
    let found = look();
    planted::set(None);
    let what = found.unwrap_or_else(|| panic!("{bug:?} was not found"));
    println!("{bug:?}: {what}");
}

#[test]
fn planted_bugs_of_operations_are_found() {
    if !cfg!(debug_assertions) {
        return; // the switches are gone from release builds
    }
    let in_matrix = |deed, situation| move || check(deed, situation).err();
    let in_random = || (1..=40).find_map(|seed| working(seed, 200).err());
    found(Bug::UndoneOverLaterChange, in_random);
    found(Bug::ForeignDropped, in_matrix(Deed::Rollback, Situation::PersonToo));
    found(Bug::NeededCheckpointPurged, in_random);
    found(Bug::ActiveRestored, || {
        let cells = [(Deed::Block, Situation::Paused), (Deed::Stop, Situation::Paused)];
        cells.into_iter().find_map(|(deed, situation)| check(deed, situation).err())
    });
    let goes_wrong = |asked, ground, undone| move || goes_on(asked, ground, undone).err();
    found(Bug::BaseNotRestored, goes_wrong(Asked::Light("t1"), Ground::Plain(Situation::Idle), false));
    found(Bug::BaseNotRestored, goes_wrong(Asked::Deed(Deed::Abort), Ground::StoppedUnmerged, true));
    found(Bug::RetrySkips, goes_wrong(Asked::Deed(Deed::Pause), Ground::Reset, false));
    found(Bug::DoneNotAsked, goes_wrong(Asked::Deed(Deed::Pause), Ground::Reset, false));
    found(Bug::HookRunTwice, || {
        let cells = [(Deed::Pause, Situation::Idle), (Deed::Cancel, Situation::Idle)];
        cells.into_iter().find_map(|(deed, situation)| check(deed, situation).err())
    });
}

/// A fact without the name of its task, checkpoint or branch.
fn shape(fact: &str) -> String {
    let parts: Vec<&str> = fact.split('/').collect();
    match parts.as_slice() {
        ["task", _] => "task/ID".into(),
        ["task", _, part] => format!("task/ID/{part}"),
        ["ref", "refs", "heads", "swarm", ..] => "ref/refs/heads/swarm/ID".into(),
        ["ref", ..] => "ref/refs/heads/TRUNK".into(),
        [kind, _] => format!("{kind}/NAME"),
        _ => fact.into(),
    }
}

/// What was seen of the undo of a kind of operation.
#[derive(Default)]
struct Row {
    facts: BTreeSet<String>,
    inverse: BTreeSet<&'static str>,
    refused: BTreeSet<String>,
}

/// Records that set facts back.
const RESTORES: [&str; 12] = [
    "task_restored",
    "facts_set",
    "task_updated",
    "task_reordered",
    "task_added",
    "task_removed",
    "plan_updated",
    "paused",
    "resumed",
    "mode_changed",
    "execution_profile_set",
    "operation_planned",
];

/// Words about a fact that has changed, without the name of the task.
fn nameless(words: &str, ids: &[String]) -> String {
    let word = |word: &str| if ids.iter().any(|id| id == word) { "ID".into() } else { word.to_string() };
    words.split(' ').map(word).collect::<Vec<_>>().join(" ")
}

fn look(row: &mut Row, mut world: OperationWorld, id: CommandId) {
    let record = world.state.ops.record(&id).expect("it is on record").clone();
    row.facts.extend(record.facts.iter().flatten().map(|c| shape(&c.fact.to_string())));
    let ids: Vec<String> = world.state.tasks.keys().map(ToString::to_string).collect();
    let from = world.log.len();
    let (partial, force) = (false, Default::default());
    match world.ask(Command::Undo { operation: Some(id), partial, force, expect: None }) {
        Ok(_) => {
            world.drive();
            let events = world.log[from..].iter().flat_map(|(_, events)| events);
            row.inverse.extend(events.map(|e| e.kind()).filter(|kind| RESTORES.contains(kind)));
        }
        Err(Refusal::ChangedSince { changes, .. }) => {
            row.refused.extend(changes.iter().map(|c| nameless(&c.words, &ids)));
        }
        Err(_) => {}
    }
}

/// Each operation's facts, the records that set them back and what was in the way, as the code has them.
#[test]
fn printed_undo() {
    let mut rows: BTreeMap<String, Row> = BTreeMap::new();
    for (deed, situation) in cells() {
        let mut world = situation.world();
        let command = deed.command(&world);
        let kind = command.kind().to_string();
        let Ok(id) = world.ask(command) else { continue };
        // Once before what follows by itself, and once behind it.
        let mut soon = world.clone();
        soon.drive_operation();
        world.drive();
        for world in [soon, world] {
            if world.state.ops.record(&id).is_some_and(|r| r.can_be_undone()) {
                look(rows.entry(kind.clone()).or_default(), world, id.clone());
            }
        }
    }
    let mut text = String::from(
        "# What undo does\n\nPrinted by a test from the code: for each operation the facts that it may change, the records\nby which an undo sets them back, what was seen in the way of one, and what stays. An undo is refused when one of the\nfacts has changed since; it names what changed and the command that helps (the operation to undo first;\n`--set-aside`, which stops agents that have taken the same tasks up since and keeps what they did in a checkpoint; or\n`--partial`, which leaves what has changed). `swarm undo` takes the newest operation of a person; `swarm redo` takes the newest undo back.\n\n| operation | facts | set back by | seen to be refused because | what stays |\n|---|---|---|---|---|\n",
    );
    let code = |all: Vec<&str>| all.iter().map(|s| format!("`{s}`")).collect::<Vec<_>>().join(", ");
    for (kind, row) in &rows {
        let stays = swarm_core::operation::stays::stays(kind);
        let facts = code(row.facts.iter().map(String::as_str).collect());
        let inverse = code(row.inverse.iter().copied().collect());
        let refused: Vec<&str> = row.refused.iter().map(String::as_str).collect();
        text += &format!("| `{kind}` | {facts} | {inverse} | {} | {stays} |\n", refused.join(", "));
    }
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/reference/undo.md");
    if std::env::var_os("SWARM_GEN").is_some() {
        std::fs::write(&path, &text).expect("written");
    }
    let there = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(there == text, "docs/reference/undo.md is not what the code says: run `cargo xtask gen`\n{text}");
}
