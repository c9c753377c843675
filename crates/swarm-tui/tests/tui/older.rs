//! Events and lines that are older than memory come when somebody reads towards them, and the present is kept apart.

use swarm_protocol::api::ApiError;
use swarm_protocol::ids::RunId;
use swarm_tui::input::{EventLine, Input, Key, LogLine, Wish};
use swarm_tui::model::{EVENTS_MAX, HELD_MAX, LOG_MAX, View};

use super::looks::screen;
use crate::support::{Stage, board_with};

fn event(stage: &Stage, seq: u64) -> EventLine {
    let text = Some(format!("event {seq}"));
    EventLine { seq, text, ..stage.model.events.front().expect("there is one").clone() }
}

fn events(stage: &Stage, seqs: std::ops::Range<u64>) -> Vec<EventLine> {
    seqs.map(|seq| event(stage, seq)).collect()
}

fn older_events(wishes: &[Wish]) -> Option<u64> {
    wishes.iter().find_map(|wish| match wish {
        Wish::OlderEvents { before, .. } => Some(*before),
        _ => None,
    })
}

#[test]
fn whoever_reads_down_the_events_gets_those_from_before_the_screen_was_opened() {
    let mut stage = Stage::new(80, 24);
    assert_eq!(stage.model.events.front().map(|event| event.seq), Some(255), "the sample");
    let wishes = stage.char('4');
    assert_eq!(older_events(&wishes), Some(255), "there is room for more than there is");
    assert_eq!(older_events(&stage.char('j')), None, "asked once");
    let page = events(&stage, 5..255);
    let wishes = stage.take(Input::OlderEvents(page));
    assert_eq!(older_events(&wishes), None, "nobody is near the end");
    let wishes = stage.char('G');
    assert_eq!(older_events(&wishes), Some(5));
    let page = events(&stage, 1..5);
    stage.take(Input::OlderEvents(page));
    assert_eq!(older_events(&stage.char('G')), None, "that is the beginning");
    let seqs: Vec<u64> = stage.model.events.iter().map(|event| event.seq).collect();
    assert_eq!(seqs, (1..=259).collect::<Vec<_>>(), "each once, in order");
    let text = screen(&stage);
    assert!(text.contains("event 1 ") || text.contains("event 1\n"), "{text}");
}

#[test]
fn what_is_read_stays_while_news_come_and_the_top_brings_the_present_back() {
    let mut stage = Stage::new(80, 24);
    stage.char('4');
    let page = events(&stage, 1..255);
    stage.take(Input::OlderEvents(page));
    stage.char('G');
    let read = |stage: &Stage| {
        let at = stage.model.cursor(View::Events);
        stage.model.shown_events().nth(at).map(|event| event.seq)
    };
    assert_eq!(read(&stage), Some(1));
    let news = events(&stage, 260..260 + EVENTS_MAX as u64);
    stage.take(Input::Events(news));
    assert_eq!(read(&stage), Some(1), "nobody is pulled away from what they read");
    // So far down that the newest have to give way.
    let mut stage = Stage::new(80, 24);
    stage.char('4');
    let first = 100_000;
    stage.model.events.clear();
    let news = vec![EventLine { text: Some("new".into()), ..event_of(first) }];
    stage.take(Input::Events(news));
    let mut from = first;
    while from > first - HELD_MAX as u64 - 1000 {
        stage.take(Input::OlderEvents((from - 500..from).map(event_of).collect()));
        stage.char('G');
        from -= 500;
    }
    assert_eq!(read(&stage), Some(from));
    assert!(stage.model.events.len() <= HELD_MAX && stage.model.events_cut);
    stage.take(Input::Events(vec![event_of(first + 1)]));
    assert!(stage.model.events.iter().all(|event| event.seq < first), "with no gap in between");
    let wishes = stage.char('g');
    assert!(wishes.iter().any(|wish| matches!(wish, Wish::NewestEvents)), "{wishes:?}");
    stage.take(Input::Events(vec![event_of(first), event_of(first + 1)]));
    assert_eq!(stage.model.events.back().map(|event| event.seq), Some(first + 1));
    assert!(!stage.model.events_cut);
}

fn event_of(seq: u64) -> EventLine {
    let at = crate::support::ago(1);
    let (task, by, kind) = (None, "swarm".into(), "iteration".into());
    EventLine { seq, at, task, by, text: Some(format!("event {seq}")), kind }
}

fn line(n: u64) -> LogLine {
    let tone = swarm_tui::input::Tone::Said;
    LogLine { n, byte: n * 100, at: crate::support::ago(1), tone, text: format!("line {n}") }
}

fn older_lines(wishes: &[Wish]) -> Option<(u64, u64)> {
    wishes.iter().find_map(|wish| match wish {
        Wish::OlderLog { before, byte, .. } => Some((*before, *byte)),
        _ => None,
    })
}

/// A log of which the journal has more than memory.
fn long_log() -> (Stage, RunId) {
    let mut stage = Stage::new(80, 24);
    let run = stage.model.log.run.clone().expect("a run");
    stage.model.log.lines.clear();
    let all = (1..=LOG_MAX as u64 + 500).map(line).collect();
    stage.take(Input::Log(run.clone(), all));
    assert_eq!(stage.model.log.lines.front().map(|line| line.n), Some(501));
    stage.char('l');
    (stage, run)
}

#[test]
fn whoever_reads_up_a_log_gets_what_memory_has_lost() {
    let (mut stage, run) = long_log();
    assert_eq!(older_lines(&stage.press(Key::PageUp)), None, "not near the beginning");
    let wishes = stage.char('g');
    assert_eq!(older_lines(&wishes), Some((501, 50_100)));
    stage.take(Input::OlderLog(run.clone(), (301..=500).map(line).collect()));
    let text = screen(&stage);
    assert!(text.contains("line 501"), "the line that was read stays where it was: {text}");
    assert_eq!(older_lines(&stage.char('g')), Some((301, 30_100)));
    stage.take(Input::OlderLog(run.clone(), (1..=300).map(line).collect()));
    assert_eq!(older_lines(&stage.char('g')), None, "that is the beginning");
    let numbers: Vec<u64> = stage.model.log.lines.iter().map(|line| line.n).collect();
    assert_eq!(numbers, (1..=LOG_MAX as u64 + 500).collect::<Vec<_>>());
    assert!(screen(&stage).contains("line 1"));
}

#[test]
fn news_do_not_pull_a_reader_away_and_the_end_is_read_anew() {
    let (mut stage, run) = long_log();
    stage.char('g');
    let top = |stage: &Stage| stage.model.log.lines.front().map(|line| line.n);
    let mut n = LOG_MAX as u64 + 500;
    for _ in 0..30 {
        let more = (n + 1..=n + 500).map(line).collect();
        n += 500;
        stage.take(Input::Log(run.clone(), more));
    }
    assert_eq!(top(&stage), Some(501), "what is read stays");
    assert!(stage.model.log.lines.len() <= HELD_MAX && stage.model.log.cut, "and memory has a bound");
    let wishes = stage.char('G');
    assert!(wishes.iter().any(|wish| matches!(wish, Wish::FollowAnew(of) if *of == run)), "{wishes:?}");
    stage.take(Input::Log(run, vec![line(n)]));
    assert_eq!(stage.model.log.lines.back().map(|line| line.n), Some(n));
    assert!(!stage.model.log.cut);
}

/// One record back, and the board of that moment.
fn back(stage: &mut Stage, to: u64) -> Vec<Wish> {
    let wishes = stage.char('<');
    assert!(wishes.contains(&Wish::Board(Some(to))), "{wishes:?}");
    stage.take(Input::Board(Ok(board_with(|board| board["status"]["seq"] = to.into()))));
    wishes
}

#[test]
fn the_past_has_no_event_of_what_came_after_it_and_the_present_has_it_again() {
    let mut stage = Stage::new(80, 24);
    let newest = |stage: &Stage| stage.model.shown_events().next().map(|event| event.seq);
    stage.char('4');
    back(&mut stage, 258);
    assert_eq!(newest(&stage), Some(258));
    assert!(!screen(&stage).contains("checks failed"), "{}", screen(&stage));
    for to in [257, 256, 255] {
        assert_eq!(older_events(&back(&mut stage, to)), None, "memory has it");
    }
    assert_eq!(older_events(&back(&mut stage, 254)), Some(255), "memory has nothing of it");
    stage.take(Input::OlderEvents((200..255).map(event_of).collect()));
    assert_eq!(newest(&stage), Some(254));
    stage.take(Input::Events(vec![event_of(260)]));
    assert_eq!(newest(&stage), Some(254));
    let wishes = stage.char('t');
    assert!(wishes.contains(&Wish::NewestEvents), "{wishes:?}");
    stage.take(Input::OlderEvents((100..200).map(event_of).collect()));
    stage.take(Input::Events((61..=260).map(event_of).collect()));
    let seqs: Vec<u64> = stage.model.events.iter().map(|event| event.seq).collect();
    assert_eq!(seqs, (61..=260).collect::<Vec<_>>(), "without a gap");
}

#[test]
fn whoever_reads_an_event_stays_at_it_when_they_go_into_the_past() {
    let mut stage = Stage::new(80, 24);
    stage.keys("4j");
    let read = |stage: &Stage| {
        let at = stage.model.cursor(View::Events);
        stage.model.shown_events().nth(at).map(|event| event.seq)
    };
    assert_eq!(read(&stage), Some(258));
    back(&mut stage, 258);
    assert_eq!(read(&stage), Some(258));
    stage.char('t');
    assert_eq!(read(&stage), Some(259), "who is at the newest one stays there");
}

#[test]
fn a_record_that_cannot_be_read_is_not_taken_for_the_one_that_is_shown() {
    let mut stage = Stage::new(80, 24);
    let broken = || Input::Board(Err(ApiError::new("damaged", "it is damaged", "swarm doctor")));
    stage.char('<');
    stage.take(broken());
    let text = screen(&stage);
    assert!(text.contains("PAST · record 259 of 259"), "{text}");
    assert!(text.contains("Record 258 cannot be read: it is damaged; this is record 259"), "{text}");
    back(&mut stage, 258);
    let text = screen(&stage);
    assert!(text.contains("PAST · record 258 of 259") && !text.contains("damaged"), "{text}");
    stage.char('t');
    stage.take(broken());
    let text = screen(&stage);
    assert!(text.contains("Nothing newer than record 258 can be read: it is damaged"), "{text}");
}
