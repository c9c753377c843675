//! The graph of the plan, and what was done and spent over time.

use serde_json::json;
use swarm_tui::input::{Input, Wish};

use crate::looks::screen;
use crate::support::{Stage, ago, board_with, over_time};

#[test]
fn each_task_stands_once_in_the_graph_to_the_right_of_what_it_waits_for() {
    let mut stage = Stage::new(80, 24);
    stage.char('p');
    let text = screen(&stage);
    let lines: Vec<&str> = text.lines().map(str::trim_end).collect();
    for wanted in
        [" ✓ 2.1 ─┬─ » 2.3 ── ~ 2.6 ── × 3.2", "        ├─ ? 2.5 ── (2.6)", "        └─ · 3.1 ── (3.2)"]
    {
        assert!(lines.contains(&wanted), "{wanted} is missing:\n{text}");
    }
}

#[test]
fn a_long_chain_and_a_wide_plan_are_drawn_and_scrolled() {
    let mut stage = Stage::new(80, 24);
    let board = board_with(|board| {
        let sample = board["rows"][8].clone();
        let rows: Vec<_> = (1..2000)
            .map(|n| {
                let mut row = sample.clone();
                row["id"] = format!("3.{n}").into();
                row["depends"] = if n % 2 == 0 { json!([format!("3.{}", n / 2)]) } else { json!([]) };
                row
            })
            .collect();
        board["rows"] = rows.into();
    });
    stage.take(Input::Board(Ok(board)));
    stage.char('p');
    stage.char('G');
    assert!(screen(&stage).contains("3.1999"), "{}", screen(&stage));
    let chain = board_with(|board| {
        let sample = board["rows"][8].clone();
        let rows: Vec<_> = (1..500)
            .map(|n| {
                let mut row = sample.clone();
                row["id"] = format!("3.{n}").into();
                row["depends"] = if n > 1 { json!([format!("3.{}", n - 1)]) } else { json!([]) };
                row
            })
            .collect();
        board["rows"] = rows.into();
    });
    stage.take(Input::Board(Ok(chain)));
    stage.char('g');
    assert!(screen(&stage).contains("· 3.1 ── · 3.2"), "{}", screen(&stage));
}

#[test]
fn what_was_spent_is_asked_for_where_it_is_shown_and_again_when_it_is_more() {
    let asked = |wishes: &[Wish]| wishes.contains(&Wish::OverTime);
    let mut stage = Stage::new(80, 24);
    let more = |cost: u64| board_with(|board| board["status"]["usage"]["costMicros"] = cost.into());
    assert!(!asked(&stage.take(Input::Board(Ok(more(5_000_000))))), "it is not on the screen");
    assert!(asked(&stage.char('U')));
    stage.take(Input::OverTime(Ok(over_time())));
    let text = screen(&stage);
    assert!(text.contains("tasks left") && text.contains("$4.12") && text.contains('█'), "{text}");
    assert!(!asked(&stage.take(Input::Board(Ok(more(5_000_000))))), "nothing is another than before");
    assert!(asked(&stage.take(Input::Board(Ok(more(6_000_000))))));
    assert!(asked(&Stage::new(240, 70).take(Input::Board(Ok(more(1))))), "there it is always");
}

#[test]
fn the_chart_of_the_past_ends_there() {
    let mut stage = Stage::new(240, 70);
    stage.char('<');
    stage.take(Input::Board(Ok(board_with(|board| {
        board["status"]["seq"] = 258.into();
        board["now"] = json!(ago(100 * 60));
    }))));
    let text = screen(&stage);
    assert!(text.contains("$1.83") && text.contains("10:24:40"), "{text}");
}
