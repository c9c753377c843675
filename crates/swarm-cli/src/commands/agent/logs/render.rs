//! What agent programs print, for people: a short line for each thing that was understood, in colour where there is one.

use swarm_agents::journal::Line;
use swarm_agents::said::{Reader, Said, Tone};

use crate::output::harmless;
use crate::output::paint::{Paint, paint};
use crate::output::time::time_of_day;

pub struct Renderer {
    colour: bool,
    reader: Reader,
}

impl Renderer {
    pub fn new(colour: bool) -> Self {
        Self { colour, reader: Reader::default() }
    }

    /// The text for one entry; nothing for what nobody needs to read.
    pub fn line(&mut self, line: &Line) -> String {
        let time = paint(self.colour, Paint::Dim, &time_of_day(line.ts));
        let said = self.reader.line(line);
        said.iter().map(|said| format!("{time} {}", self.painted(said))).collect::<Vec<_>>().join("\n")
    }

    /// What was begun and never ended.
    pub fn rest(&mut self) -> String {
        harmless(&self.reader.rest())
    }

    fn painted(&self, said: &Said) -> String {
        let text = harmless(&said.text);
        match said.tone {
            Tone::Text => text,
            Tone::Tool => paint(self.colour, Paint::Bold, &format!("▸ {text}")),
            Tone::Failed => paint(self.colour, Paint::Red, &format!("✗ {text}")),
            Tone::ToolFailed => paint(self.colour, Paint::Red, &format!("  ✗ {text}")),
            Tone::Stderr => paint(self.colour, Paint::Yellow, &format!("! {text}")),
            Tone::Swarm => paint(self.colour, Paint::Dim, &format!("· {text}")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use swarm_agents::journal::Stream;
    use swarm_protocol::time::Timestamp;

    fn check(printed: &[&str], expected: &str) {
        let mut renderer = Renderer::new(false);
        let lines = printed.iter().map(|text| Line {
            n: 1,
            ts: Timestamp::ZERO,
            stream: Stream::Out,
            text: (*text).into(),
            more: false,
        });
        let shown: Vec<String> =
            lines.map(|line| renderer.line(&line)).filter(|text| !text.is_empty()).collect();
        let shown = shown.join("\n").lines().map(|line| &line[9..]).collect::<Vec<_>>().join("\n");
        assert_eq!(shown, expected);
    }

    #[test]
    fn claude_is_shown_as_words_and_tools() {
        check(
            &[
                r#"{"type":"system","subtype":"init","session_id":"x"}"#,
                r#"{"type":"assistant","message":{"content":[{"type":"text","text":"I look first."},{"type":"tool_use","name":"Bash","input":{"command":"cargo test\n--all","description":"d"}}]}}"#,
                r#"{"type":"user","message":{"content":[{"type":"tool_result","is_error":true,"content":"exit 1"}]}}"#,
                r#"{"type":"assistant","message":{"content":[{"type":"text","text":"Done."}]}}"#,
                r#"{"type":"result","is_error":false,"result":"Done."}"#,
            ],
            "I look first.\n▸ Bash: cargo test …\n  ✗ exit 1\nDone.",
        );
    }

    #[test]
    fn what_is_said_again_in_another_iteration_is_shown_again() {
        let mut renderer = Renderer::new(false);
        let mut shown = Vec::new();
        let line =
            |stream, text: &str| Line { n: 1, ts: Timestamp::ZERO, stream, text: text.into(), more: false };
        for _ in 0..2 {
            for text in [
                r#"{"type":"assistant","message":{"content":[{"type":"text","text":"Done."}]}}"#,
                r#"{"type":"result","is_error":false,"result":"Done."}"#,
            ] {
                shown.push(renderer.line(&line(Stream::Out, text)));
            }
            shown.push(renderer.line(&line(Stream::Swarm, "iteration 1 ended")));
        }
        assert_eq!(shown.iter().filter(|text| text.ends_with("Done.")).count(), 2, "{shown:?}");
    }

    #[test]
    fn codex_opencode_and_gemini_are_too() {
        check(
            &[
                r#"{"type":"item.started","item":{"type":"command_execution","command":"ls"}}"#,
                r#"{"type":"item.completed","item":{"type":"command_execution","command":"ls","exit_code":0}}"#,
                r#"{"type":"item.completed","item":{"type":"agent_message","text":"There."}}"#,
                r#"{"type":"turn.failed","error":{"message":"no quota"}}"#,
                r#"{"type":"text","part":{"type":"text","text":"hello"}}"#,
                r#"{"type":"tool_use","part":{"type":"tool","tool":"bash","state":{"input":{"command":"pwd"}}}}"#,
                r#"{"type":"message","role":"assistant","content":"hi"}"#,
            ],
            "▸ sh: ls\nThere.\n✗ no quota\nhello\n▸ bash: pwd\nhi",
        );
    }

    #[test]
    fn what_is_not_understood_is_shown_and_moves_no_cursor() {
        check(&["plain words", "\u{1b}[2Jx", "{not json"], "plain words\n\\u{1b}[2Jx\n{not json");
    }

    #[test]
    fn a_line_of_a_hundred_megabytes_costs_one() {
        let mut renderer = Renderer::new(false);
        let piece =
            Line { n: 1, ts: Timestamp::ZERO, stream: Stream::Out, text: "x".repeat(65536), more: true };
        for _ in 0..1600 {
            assert_eq!(renderer.line(&piece), "");
        }
        let last = renderer.line(&Line { more: false, ..piece });
        assert!(last.len() < 400 && last.ends_with('…'), "{}", last.len());
    }
}
