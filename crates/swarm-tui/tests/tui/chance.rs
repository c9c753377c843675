//! Keys by chance, with news in between: nothing breaks, and nothing that moves git is sent unseen.

use ratatui::Terminal;
use ratatui::backend::TestBackend;
use swarm_protocol::board::Choice;
use swarm_protocol::command::Command;
use swarm_protocol::ids::TaskId;
use swarm_tui::draw::draw;
use swarm_tui::input::{Input, Key, Mouse, Wish};
use swarm_tui::keys::KEYS;

use crate::support::{Stage, all_allowed, board, board_with, preview};

/// Numbers by chance, the same every time.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % sides
    }
}

fn key(dice: &mut Dice) -> Key {
    let extra =
        [Key::Enter, Key::Esc, Key::Tab, Key::Backspace, Key::Char('y'), Key::Char('n'), Key::PageDown];
    match dice.roll(3) {
        0 => extra[dice.roll(extra.len() as u64) as usize],
        _ => {
            let keys = KEYS[dice.roll(KEYS.len() as u64) as usize].keys;
            keys[dice.roll(keys.len() as u64) as usize]
        }
    }
}

/// What the world would answer, sometimes.
fn answers(stage: &mut Stage, wishes: Vec<Wish>, dice: &mut Dice) {
    for wish in wishes {
        if dice.roll(4) == 0 {
            continue;
        }
        let input = match wish {
            Wish::Preview(ticket, _) => Input::Preview(ticket, Ok(preview(dice.roll(40) as usize))),
            Wish::Choices(ticket, _) => {
                let task = TaskId::new("2.7").expect("an id");
                let (title, why) = ("Cover".into(), String::new());
                let choice = Choice { task, title, phase: 2, tags: vec![], unblocks: vec![], why };
                Input::Choices(ticket, Ok(vec![choice]))
            }
            Wish::Diff(ask) => {
                let shown = crate::support::diff(&ask.task);
                Input::Diff(ask, Ok(Box::new(shown)))
            }
            Wish::Allowed(task) => Input::Allowed(task, all_allowed()),
            Wish::Task(id) => Input::Task(id.clone(), Ok(crate::support::task(id.as_str()))),
            Wish::Board(_) if dice.roll(2) == 0 => Input::Board(Ok(board())),
            Wish::Board(_) => Input::Board(Ok(board_with(|board| board["rows"] = serde_json::json!([])))),
            _ => continue,
        };
        stage.take(input);
    }
}

fn was_seen(command: &Command) -> bool {
    match command {
        Command::Rollback { expect, .. }
        | Command::RollbackTask { expect, .. }
        | Command::Redo { expect, .. } => expect.is_some(),
        _ => true,
    }
}

#[test]
fn whatever_is_pressed_nothing_breaks_and_nothing_that_moves_git_is_sent_unseen() {
    let mut dice = Dice(4711);
    let mut stage = Stage::new(80, 24);
    let mut commands = 0;
    for step in 0..6_000 {
        stage.now += dice.roll(600);
        let input = match dice.roll(40) {
            0 => Input::Mouse(Mouse::Click(dice.roll(250) as u16, dice.roll(80) as u16)),
            1 => Input::Paste("some text\nof two lines".into()),
            2 => Input::Resize(1 + dice.roll(250) as u16, 1 + dice.roll(80) as u16),
            3 => Input::Board(Ok(board())),
            _ => Input::Key(key(&mut dice)),
        };
        let wishes = stage.take(input);
        for wish in &wishes {
            if let Wish::Send(_, command) = wish {
                commands += 1;
                assert!(was_seen(command), "step {step}: {command:?}");
            }
        }
        answers(&mut stage, wishes, &mut dice);
        if step % 20 == 0 {
            let (columns, rows) = stage.model.size;
            let mut terminal = Terminal::new(TestBackend::new(columns, rows)).expect("a screen in memory");
            terminal.draw(|frame| draw(&stage.model, frame)).expect("it can be drawn on");
        }
    }
    assert!(commands > 50, "only {commands} commands were sent: the keys do too little");
}
