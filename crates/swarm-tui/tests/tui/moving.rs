//! Moving, filtering, finding, and looking into the past.

use swarm_protocol::command::Command;
use swarm_tui::input::{Input, Key, Wish};
use swarm_tui::model::{Full, Node, View};
use swarm_tui::typed::{Does, Typed};

use crate::support::{Stage, board, board_with, sent};

fn selected(stage: &Stage) -> String {
    stage.model.looking_at.as_ref().map(ToString::to_string).unwrap_or_default()
}

#[test]
fn what_moves_is_selected_first_and_complete_phases_are_folded() {
    let stage = Stage::new(80, 24);
    assert_eq!(selected(&stage), "2.3");
    assert!(stage.model.folded.contains(&1) && !stage.model.folded.contains(&2));
}

#[test]
fn a_selection_asks_for_its_task_and_what_is_allowed_there() {
    let mut stage = Stage::new(80, 24);
    let wishes = stage.char('j');
    assert_eq!(selected(&stage), "2.4");
    assert!(wishes.iter().any(|wish| matches!(wish, Wish::Task(id) if id.as_str() == "2.4")), "{wishes:?}");
    assert!(wishes.iter().any(|wish| matches!(wish, Wish::Allowed(Some(_)))));
}

#[test]
fn a_filter_takes_words_stages_tags_and_their_opposites() {
    let mut stage = Stage::new(80, 24);
    let check = |stage: &mut Stage, text: &str, tasks: usize| {
        stage.char('/');
        stage.keys(text);
        let phases = stage.model.board.as_ref().map_or(0, |b| b.status.phases.len());
        let shown = stage.model.nodes().len();
        assert!(shown >= tasks && shown <= tasks + phases, "{text}: {shown}");
        stage.press(Key::Esc);
    };
    check(&mut stage, "chapter", 5);
    check(&mut stage, "stage:review", 1);
    check(&mut stage, "tag:docs !chapter", 5);
    check(&mut stage, "nothing-like-it", 0);
    assert_eq!(stage.model.filter, None);
}

#[test]
fn a_selection_survives_a_new_board() {
    let mut stage = Stage::new(80, 24);
    stage.keys("jj");
    let before = selected(&stage);
    stage.take(Input::Board(Ok(board_with(|b| {
        b["rows"].as_array_mut().expect("rows").remove(0);
    }))));
    assert_eq!(selected(&stage), before);
}

#[test]
fn a_log_follows_until_somebody_scrolls_up_and_counts_what_is_new() {
    let mut stage = Stage::new(80, 24);
    let run = stage.model.log.run.clone().expect("a run");
    let line = stage.model.log.lines[0].clone();
    stage.take(Input::Log(run.clone(), vec![line.clone(); 100]));
    stage.char('l');
    assert_eq!(stage.model.full, Some(Full::Log));
    assert_eq!(stage.model.log.back, None);
    stage.press(Key::PageUp);
    assert!(stage.model.log.back.is_some());
    stage.take(Input::Log(run, vec![line; 7]));
    assert_eq!(stage.model.log.unseen, 7);
    stage.char('G');
    assert_eq!((stage.model.log.back, stage.model.log.unseen), (None, 0));
    stage.press(Key::Esc);
    assert_eq!(stage.model.full, None);
}

#[test]
fn the_next_thing_that_waits_is_one_key_away_and_escape_returns() {
    let mut stage = Stage::new(80, 24);
    stage.char('a');
    assert_eq!((stage.model.view, selected(&stage).as_str()), (View::Attention, "2.4"));
    stage.char('a');
    assert_eq!(selected(&stage), "2.2");
    stage.press(Key::Esc);
    assert_eq!(stage.model.view, View::Plan);
}

#[test]
fn the_past_can_be_looked_at_and_not_be_changed() {
    let mut stage = Stage::new(80, 24);
    assert_eq!(stage.char('<'), [Wish::Board(Some(258))]);
    stage.take(Input::Board(Ok(board_with(|b| b["status"]["seq"] = 258.into()))));
    for binding in swarm_tui::keys::KEYS.iter().filter(|binding| !binding.works_in_the_past()) {
        assert_eq!(stage.press(binding.keys[0]), [], "{}", binding.word);
        assert!(stage.model.dialog.is_none() && stage.model.full.is_none(), "{}", binding.word);
        let said = stage.model.said.take().expect("a word about it").text;
        assert!(said.contains("cannot be changed; t goes to now"), "{}: {said}", binding.word);
    }
    let offered = crate::looks::screen(&stage);
    let foot = offered.lines().next_back().expect("the keys");
    for word in ["pause", "stop", "panel", "quit", "undo", "checkpoint"] {
        assert!(!foot.contains(word), "{word}: {foot}");
    }
    assert!(foot.contains("t now") && foot.contains("C roll back to here"), "{foot}");
    assert_eq!(stage.char('>'), [Wish::Board(None)], "the newest record is the present");
    stage.take(Input::Board(Ok(board())));
    assert_eq!(stage.model.past, None);
}

#[test]
fn the_palette_finds_commands_and_tasks() {
    let mut stage = Stage::new(80, 24);
    stage.char(':');
    stage.now += 300;
    stage.keys("3.1");
    stage.press(Key::Enter);
    assert_eq!(selected(&stage), "3.1");
    stage.char(':');
    stage.now += 300;
    stage.keys("checkp");
    stage.press(Key::Enter);
    assert!(stage.model.dialog.is_some(), "a command was found");
}

#[test]
fn an_open_quote_is_named_at_its_place_in_what_was_typed() {
    let mut stage = Stage::new(80, 24);
    let (words, takes) = ("agent message".to_owned(), "<WHO> <TEXT>".to_owned());
    stage.model.commands = vec![Typed { words, about: String::new(), takes, does: Does::Changes }];
    stage.keys(":swarm agent message 2.3 'it");
    stage.press(Key::Enter);
    let said = stage.model.said.as_ref().map(|said| said.text.clone()).unwrap_or_default();
    assert!(said.starts_with("The quote ' at column 25"), "{said}");
}

#[test]
fn news_of_the_attention_list_ring_once_and_only_for_who_looks_elsewhere() {
    let mut stage = Stage::new(80, 24);
    let more = || board_with(|b| b["attention"][1]["id"] = "task/9.9".into());
    let rings = |wishes: Vec<Wish>| wishes.iter().any(|wish| matches!(wish, Wish::Bell(_)));
    assert!(!rings(stage.take(Input::Board(Ok(more())))), "the person looks");
    stage.take(Input::Focus(false));
    assert!(rings(stage.take(Input::Board(Ok(board())))));
    assert!(!rings(stage.take(Input::Board(Ok(board())))), "told already");
}

#[test]
fn who_was_away_is_told_what_happened_meanwhile() {
    let mut stage = Stage::new(80, 24);
    stage.take(Input::Focus(false));
    stage.now += 600_000;
    stage.take(Input::Board(Ok(board_with(|b| b["status"]["counts"]["done"] = 20.into()))));
    stage.take(Input::Focus(true));
    let said = stage.model.said.as_ref().map(|said| said.text.clone()).unwrap_or_default();
    assert_eq!(said, "Since you left 10m ago: 2 tasks done, $0.00 spent, 2 things wait for you");
}

#[test]
fn another_plan_begins_on_an_empty_screen() {
    let mut stage = Stage::new(80, 24);
    stage.take(Input::Anew);
    assert!(stage.model.events.is_empty() && stage.model.board.is_none());
    stage.take(Input::Board(Ok(board_with(|b| b["status"]["seq"] = 3.into()))));
    assert_eq!((stage.model.newest, selected(&stage).as_str()), (3, "2.3"));
}

#[test]
fn a_view_is_enlarged_and_gives_the_others_their_places_back() {
    let mut stage = Stage::new(120, 40);
    stage.char('+');
    assert!(!crate::looks::screen(&stage).contains("3 Agents ·"), "only the plan is there");
    stage.char('_');
    assert!(crate::looks::screen(&stage).contains("3 Agents ·"));
    stage.char('+');
    stage.press(Key::Esc);
    assert!(!stage.model.enlarged, "one step back");
}

#[test]
fn keys_of_the_last_line_can_be_clicked_and_a_double_click_opens() {
    use swarm_tui::input::Mouse;
    let mut stage = Stage::new(80, 24);
    let text = crate::looks::screen(&stage);
    let foot = text.lines().next_back().expect("a last line");
    let column = foot[..foot.find("b block").expect("block is offered")].chars().count() as u16;
    stage.take(Input::Mouse(Mouse::Click(column, 23)));
    assert!(matches!(
        stage.model.dialog.as_ref().map(|d| &d.kind),
        Some(swarm_tui::dialog::Kind::Block { .. })
    ));
    stage.press(Key::Esc);
    let row = text.lines().position(|line| line.contains("2.3 Chapter")).expect("the task is there") as u16;
    for _ in 0..2 {
        stage.now += 100;
        stage.take(Input::Mouse(Mouse::Click(10, row)));
    }
    assert_eq!(stage.model.full, Some(Full::Log));
}

#[test]
fn ages_of_the_past_are_counted_to_that_moment() {
    let mut stage = Stage::new(80, 24);
    stage.char('<');
    stage.now += 7_200_000;
    stage.take(Input::Board(Ok(board_with(|b| b["status"]["seq"] = 258.into()))));
    assert!(crate::looks::screen(&stage).contains("12m"), "as it was, not two hours later");
}

#[test]
fn from_the_past_one_rolls_back_to_the_last_checkpoint_before_it_and_sees_it_in_the_present() {
    let mut stage = Stage::new(80, 24);
    stage.char('<');
    stage.take(Input::Board(Ok(board_with(|b| {
        b["status"]["seq"] = 258.into();
        b["checkpoints"].as_array_mut().expect("a list").remove(0);
    }))));
    let wishes = stage.char('C');
    let text = crate::looks::screen(&stage);
    assert!(
        text.contains("Roll back to a checkpoint from before record 258"),
        "j k go to older ones: {text}"
    );
    let asked = |wish: &Wish| matches!(wish, Wish::Preview(_, Command::Rollback { to: Some(to), .. }) if to == "pre-refactor");
    assert!(wishes.iter().any(asked), "{wishes:?}");
    stage.previewed(&wishes, 2);
    stage.wait();
    assert!(
        stage.char('n').is_empty() && stage.model.dialog.is_some(),
        "no checkpoint can be made of the past"
    );
    let wishes = stage.press(Key::Enter);
    let commands = sent(&wishes);
    let [Command::Rollback { to: Some(to), expect: Some(_), .. }] = commands.as_slice() else {
        panic!("{wishes:?}")
    };
    assert_eq!(to, "pre-refactor");
    assert!(wishes.contains(&Wish::Board(None)) && stage.model.past.is_none());
}

#[test]
fn where_no_checkpoint_was_yet_enter_leaves_neither_the_dialog_nor_the_past() {
    let mut stage = Stage::new(80, 24);
    stage.char('<');
    stage.take(Input::Board(Ok(board_with(|b| {
        b["status"]["seq"] = 258.into();
        b["checkpoints"] = serde_json::json!([]);
    }))));
    stage.char('C');
    stage.wait();
    assert_eq!(stage.press(Key::Enter), []);
    assert_eq!((stage.model.past, stage.model.dialog.is_some()), (Some(258), true));
}

#[test]
fn whoever_wants_to_leave_the_past_of_their_own_run_is_not_led_to_stop_it() {
    for (owns, words) in [(false, "Ctrl+C leaves"), (true, "t goes to now, q leaves there")] {
        let mut stage = Stage::new(80, 24);
        stage.model.owns = owns;
        stage.char('<');
        stage.take(Input::Board(Ok(board_with(|b| b["status"]["seq"] = 258.into()))));
        assert_eq!(stage.char('q'), []);
        let said = stage.model.said.as_ref().map(|said| said.text.clone()).unwrap_or_default();
        assert!(said.ends_with(words), "{said}");
    }
}

#[test]
fn what_is_typed_and_what_is_opened_in_the_past_only_looks() {
    let mut stage = Stage::new(80, 24);
    stage.char('D');
    stage.char('<');
    stage.take(Input::Board(Ok(board_with(|b| b["status"]["seq"] = 258.into()))));
    assert_eq!(stage.model.full, None, "the diff is of the present");
    stage.char(':');
    stage.wait();
    stage.keys("pause");
    assert!(
        !crate::looks::screen(&stage).contains("Pause at the next boundary"),
        "{}",
        crate::looks::screen(&stage)
    );
    stage.press(Key::Esc);
    stage.model.node = Some(Node::Task(swarm_protocol::ids::TaskId::new("2.7").expect("an id")));
    assert_eq!(sent(&stage.press(Key::Enter)), [], "a ready task is not started");
    assert_eq!(stage.model.full, Some(Full::Log));
}
