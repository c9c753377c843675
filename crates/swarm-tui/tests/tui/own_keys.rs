//! Keys that a person wants to be others hold everywhere: pressed, in the footer, in the help.

use std::collections::BTreeMap;

use swarm_protocol::command::Command;
use swarm_tui::dialog::Kind;
use swarm_tui::input::Key;
use swarm_tui::keys::with_own;

use crate::looks::screen;
use crate::support::{Stage, sent};

#[test]
fn keys_of_ones_own_act_and_are_what_footer_help_and_panel_show() {
    let own = [("stop", "x"), ("kill", "Ctrl+x X"), ("undo", "O"), ("all-keys", "h"), ("checkpoint", "")];
    let own: BTreeMap<String, String> = own.iter().map(|(a, b)| ((*a).into(), (*b).into())).collect();
    let mut stage = Stage::new(120, 40);
    stage.model.keys = with_own(&own).expect("no clash");
    let foot = screen(&stage).lines().last().unwrap_or_default().to_owned();
    assert!(foot.contains("x stop") && foot.contains("Ctrl+X X kill") && foot.contains("h all"), "{foot}");
    assert!(!foot.contains("checkpoint "), "{foot}");
    assert!(screen(&stage).contains("O undo"));
    assert_eq!(sent(&stage.char('O')).len(), 1);
    assert!(sent(&stage.char('z')).is_empty(), "its old key does nothing");
    stage.char('x');
    let stops = |stage: &Stage| match stage.model.dialog.as_ref().map(|dialog| dialog.kind.clone()) {
        Some(Kind::Confirm { command, .. }) => Some(command),
        _ => None,
    };
    assert!(matches!(stops(&stage), Some(Command::StopAgent { .. })));
    stage.press(Key::Esc);
    stage.press(Key::Ctrl('x'));
    assert!(matches!(stops(&stage), Some(Command::KillAgent { .. })));
    stage.press(Key::Esc);
    stage.char('h');
    assert!(screen(&stage).contains("Ctrl+X X  Stop the agent at once"), "{}", screen(&stage));
}
