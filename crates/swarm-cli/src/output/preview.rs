//! What an operation would do, for people.

use swarm_protocol::oplog::PreviewView;

use super::harmless;

pub fn text(view: &PreviewView) -> String {
    let mut text = format!("{} would do this:", harmless(&view.kind));
    if !view.text.is_empty() {
        text.push_str(&format!("\n  {}", harmless(&view.text)));
    }
    let says = &view.says;
    let mut said = false;
    for (head, lines) in [
        ("Tasks", &says.tasks),
        ("Commits", &says.commits),
        ("Uncommitted work", &says.work),
        ("Your own commits", &says.foreign),
        ("Stays as it is, and no undo takes it back", &says.stays),
    ] {
        if !lines.is_empty() {
            text.push_str(&format!("\n\n{head}"));
            lines.iter().for_each(|line| text.push_str(&format!("\n  {}", harmless(line))));
            said = true;
        }
    }
    if !said {
        for change in &view.facts {
            text.push_str(&format!("\n  {}", harmless(&swarm_core::show::fact_words(change))));
        }
    }
    match &view.checkpoint {
        Some(name) => text.push_str(&format!(
            "\n\nThe state before it is kept as checkpoint {}; `swarm undo` brings it back.",
            harmless(name)
        )),
        None if !view.facts.is_empty() => text.push_str("\n\n`swarm undo` takes it back."),
        None => {}
    }
    text
}
