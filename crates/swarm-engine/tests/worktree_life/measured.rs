//! G6, G7 by hand: `cargo test -p swarm-engine --test worktree_life -- --ignored --nocapture measured`.

use std::time::{Duration, Instant};

use crate::git_scratch::{git_in, task};
use crate::{Field, trunk};
use swarm_engine::hands::remove::Removal;
use swarm_engine::hands::worktree::pool::tend;
use swarm_engine::hands::worktree::prepare;

fn timed<T>(what: &str, begun: Instant, value: T, all: &mut Vec<(String, Duration)>) -> T {
    all.push((what.to_owned(), begun.elapsed()));
    value
}

#[tokio::test]
#[ignore = "measures; by hand"]
async fn a_worktree_of_five_thousand_files_against_raw_git() {
    let field = Field::with_pool(1).await;
    for dir in 0..100 {
        for n in 0..50 {
            field.scratch.write(&format!("src/d{dir}/f{n}.txt"), &format!("{dir} {n}\n").repeat(40));
        }
    }
    field.scratch.commit_all("many");
    let mut all = Vec::new();
    for round in 0..3 {
        let path = format!("../raw-{round}");
        let begun = Instant::now();
        git_in(&field.scratch.repo, ["worktree", "add", "--quiet", "-b", &format!("raw-{round}"), &path]);
        timed("raw worktree add", begun, (), &mut all);
        let begun = Instant::now();
        git_in(&field.scratch.repo, ["worktree", "remove", "--force", &path]);
        timed("raw worktree remove", begun, (), &mut all);
        let name = format!("new-{round}");
        let begun = Instant::now();
        let made = prepare(&field.git, &task(&name), &field.scratch.worktrees(), &trunk()).await.unwrap();
        timed("ours, new", begun, made, &mut all);
        let begun = Instant::now();
        assert_eq!(field.give_up(&name).await, Removal::Removed);
        timed("ours, given up with all proofs", begun, (), &mut all);
        let begun = Instant::now();
        tend(&field.git, field.pool.as_ref().unwrap()).await.unwrap();
        timed("the pool tended (off the hot path)", begun, (), &mut all);
        let begun = Instant::now();
        let made = field.prepare(&format!("again-{round}")).await;
        assert!(made.recycled);
        timed("ours, recycled", begun, (), &mut all);
        let aside = field.scratch.dir.path().join(format!("aside-{round}"));
        let begun = Instant::now();
        std::fs::rename(&made.path, aside).unwrap();
        timed("the rename alone", begun, (), &mut all);
    }
    for (what, took) in all {
        println!("{:>9.1} ms  {what}", took.as_secs_f64() * 1000.0);
    }
}
