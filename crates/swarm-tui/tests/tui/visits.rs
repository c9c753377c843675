//! What happened while the person was not there.

use swarm_protocol::api::Since;
use swarm_protocol::failure::Usage;
use swarm_protocol::ids::TaskId;
use swarm_protocol::time::Timestamp;
use swarm_tui::input::{Input, Wish};
use swarm_tui::visit::Visited;

use crate::support::{Stage, ago};

fn since(tasks: &[(&str, &str)], cost_micros: u64) -> Since {
    let mut since = Since { from: 200, seq: 259, ..Since::default() };
    for (id, status) in tasks {
        since.tasks.entry((*status).into()).or_default().insert(TaskId::new(*id).expect("an id"));
    }
    since.usage = Usage { cost_micros, ..Usage::default() };
    since
}

fn said(since: Since, left: Timestamp) -> Option<String> {
    let mut stage = Stage::new(80, 24);
    let visited = Visited { ledger: "l".into(), since: Some((left, since)) };
    stage.take(Input::Visited(Box::new(visited)));
    stage.model.said.map(|said| said.text)
}

#[test]
fn who_comes_back_hears_in_a_line_what_happened_since_they_left() {
    let tasks = [("2.1", "done"), ("2.5", "done"), ("2.2", "blocked"), ("2.3", "active")];
    let text = said(since(&tasks, 1_200_000), ago(7300));
    assert_eq!(text.as_deref(), Some("Since you left 2h ago: 2.1, 2.5 done; 2.2 blocked; $1.20 spent"));
    let many: Vec<String> = (1..8).map(|n| format!("1.{n}")).collect();
    let many: Vec<(&str, &str)> = many.iter().map(|id| (id.as_str(), "done")).collect();
    assert_eq!(said(since(&many, 0), ago(7300)).as_deref(), Some("Since you left 2h ago: 7 tasks done"));
}

#[test]
fn nothing_is_said_of_a_short_absence_or_of_one_in_which_nothing_happened() {
    assert_eq!(said(since(&[("2.1", "done")], 0), ago(60)), None);
    assert_eq!(said(since(&[("2.3", "active")], 0), ago(7300)), None);
}

#[test]
fn what_was_seen_is_remembered_with_the_ledger_that_it_was_seen_in() {
    let mut stage = Stage::new(80, 24);
    assert_eq!(stage.model.visit(), None, "nobody knows yet of which ledger it is");
    stage.take(Input::Visited(Box::new(Visited { ledger: "l".into(), since: None })));
    let seen = stage.model.visit().expect("it is known");
    assert_eq!((seen.ledger.as_str(), seen.record), ("l", 259));
    assert!(stage.take(Input::Anew).contains(&Wish::Visited), "another plan has other records");
    assert_eq!(stage.model.visit(), None);
    stage.take(Input::Visited(Box::new(Visited { ledger: "m".into(), since: None })));
    assert_eq!(
        stage.model.visit(),
        None,
        "whoever leaves before they see anything has seen no less than before"
    );
}
