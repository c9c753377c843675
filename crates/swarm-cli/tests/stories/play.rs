//! Playing a story from a seed: a plan, ten to twenty-five steps, rest, and the judgement.

use std::time::Duration;

use serde_json::json;

use crate::arena::oracle::judge_at_rest;
use crate::arena::oracle::rest::go_on;
use crate::ground::arena_with;
use crate::seeded::Seeded;
use crate::story::Story;
use crate::{operations, people, plan, weather};

type Step = fn(&mut Story);

/// What happens, and how often it is chosen.
const STEPS: [(&str, u64, Step); 39] = [
    ("run", 14, operations::run),
    ("retry", 3, operations::retry),
    ("stop", 4, operations::stop),
    ("start_tasks", 4, operations::start_tasks),
    ("pause", 3, operations::pause),
    ("resume", 3, operations::resume),
    ("mode", 1, operations::mode),
    ("stages", 6, operations::stages),
    ("edit", 1, operations::edit),
    ("add", 2, operations::add),
    ("split", 3, operations::split),
    ("message", 1, operations::message),
    ("agents", 4, operations::agents),
    ("checkpoint", 3, operations::checkpoint),
    ("rollback", 6, operations::rollback),
    ("rollback_session", 3, operations::rollback_session),
    ("rollback_task", 6, operations::rollback_task),
    ("abort", 3, operations::abort),
    ("undo", 7, operations::undo),
    ("undo_by_name", 2, operations::undo_by_name),
    ("redo", 3, operations::redo),
    ("merge_worktree", 3, operations::merge_worktree),
    ("open_gate", 8, operations::open_gate),
    ("commit", 4, people::commit),
    ("edit", 2, people::edit),
    ("commit_an_edit", 2, people::commit_an_edit),
    ("amend_words", 3, people::amend_words),
    ("amend_content", 2, people::amend_content),
    ("revert", 3, people::revert),
    ("reset", 3, people::reset),
    ("checkout", 4, people::checkout),
    ("stash", 2, people::stash),
    ("delete_branch", 1, people::delete_branch),
    ("gc", 2, people::gc),
    ("kill_coordinator", 3, weather::kill_coordinator),
    ("kill_daemon", 2, weather::kill_daemon),
    ("kill_agent", 2, weather::kill_agent),
    ("kill_everything", 3, weather::kill_everything),
    ("damage", 3, weather::damage),
];

/// Plays it; what went wrong, with everything that a person needs to see it again.
pub fn play(seed: u64) -> Option<String> {
    let arena = arena_with(json!({
        "agent": "script",
        "review": { "policy": "none" },
        "recovery": { "maxRetries": 2, "backoffMax": "1s" },
    }));
    let mut story = Story::new(arena, Seeded::new(seed));
    let wrong = tell(&mut story);
    match wrong.is_empty() {
        true => None,
        false => Some(format!(
            "story {seed} (SWARM_STORY_SEED={seed}):\n{}\n--- wrong:\n{}",
            story.script(),
            wrong.join("\n")
        )),
    }
}

fn tell(story: &mut Story) -> Vec<String> {
    let config = std::fs::read_to_string(story.arena.root.join(".swarm/config.json")).unwrap_or_default();
    story.note(PREAMBLE.replace("CONFIG", &config));
    plan::save(story);
    operations::run(story);
    for _ in 0..story.chance.between(9, 24) {
        step(story);
        if story.often(25) {
            story.moment(400);
        }
        if !story.wrong.is_empty() {
            break;
        }
    }
    finish(story)
}

/// `SWARM_STORY_WITHOUT=checkout,reset` leaves steps out, to see what is behind a bug that is known.
pub fn is_left_out(name: &str) -> bool {
    let without = std::env::var("SWARM_STORY_WITHOUT").unwrap_or_default();
    without.split(',').any(|left_out| left_out == name)
}

/// One step by chance.
fn step(story: &mut Story) {
    let all: u64 = STEPS.iter().map(|(_, weight, _)| weight).sum();
    let mut at = story.chance.below(all);
    for (name, weight, step) in STEPS {
        if at < weight {
            if !is_left_out(name) {
                step(story);
            }
            return;
        }
        at -= weight;
    }
}

/// Everything is let go and comes to rest; then git is asked.
fn finish(story: &mut Story) -> Vec<String> {
    story.open_gates();
    story.wait_for_the_run(Duration::from_millis(1500));
    if story.run.is_some() {
        operations::stop(story);
        if story.run.is_some() {
            story.wrong.push("the run does not end after `swarm stop`".into());
            weather::kill_everything(story);
        }
    }
    people::tidy_up(story);
    if !story.wrong.is_empty() {
        story.arena.is_judged();
        return std::mem::take(&mut story.wrong);
    }
    let rested = go_on(&story.arena);
    story.note(format!("# on to rest\n{}", rested.said));
    story.arena.is_judged();
    let mut wrong = rested.wrong;
    if wrong.is_empty() {
        wrong.extend(judge_at_rest(&story.arena, &story.known));
    }
    wrong
}

const PREAMBLE: &str = "DIR=$(mktemp -d); cd $DIR; git init -q -b main repo; cd repo
git config user.name 'A person'; git config user.email person@localhost
echo hello > README.md; git add README.md; git commit -q -m start; mkdir .swarm
cat > .swarm/config.json <<'END'
CONFIG
END";
