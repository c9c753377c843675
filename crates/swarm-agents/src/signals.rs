//! What an agent says to the swarm in its own words: a tag that ends its line, alone in it or right behind output
//! that had no newline.
//!
//! Text that merely mentions a tag is not a signal: agents quote their instructions all the time. What a
//! tool prints and what echoes the prompt never comes here.

/// A signal of the agent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AgentSignal {
    Complete,
    Blocked(String),
    Failed(String),
    NeedsHelp(String),
    Progress(u8),
    /// Something learned, for agents of the same persona.
    Learning(String),
    /// Something learned, for all.
    LearningGlobal(String),
}

impl AgentSignal {
    /// As it was said, without the tag.
    pub fn describe(&self) -> String {
        match self {
            Self::Complete => "COMPLETE".into(),
            Self::Blocked(text) => format!("BLOCKED: {text}"),
            Self::Failed(text) => format!("FAILED: {text}"),
            Self::NeedsHelp(text) => format!("NEEDS_HELP: {text}"),
            Self::Progress(percent) => format!("PROGRESS: {percent}"),
            Self::Learning(text) => format!("LEARNING: {text}"),
            Self::LearningGlobal(text) => format!("LEARNING_GLOBAL: {text}"),
        }
    }
}

/// Characters of a reason that are kept.
const REASON_MAX: usize = 2000;

/// Reads one line of what the agent said.
pub fn signal_in(line: &str) -> Option<AgentSignal> {
    let (before, body) = line.trim().strip_suffix("</swarm>")?.rsplit_once("<swarm>")?;
    if !before.chars().next_back().is_none_or(ends_output) {
        return None;
    }
    let body = body.trim();
    if body == "COMPLETE" {
        return Some(AgentSignal::Complete);
    }
    let (word, text) = body.split_once(':')?;
    let text: String = text.trim().chars().take(REASON_MAX).collect();
    match word.trim() {
        "BLOCKED" => Some(AgentSignal::Blocked(text)),
        "FAILED" => Some(AgentSignal::Failed(text)),
        "NEEDS_HELP" => Some(AgentSignal::NeedsHelp(text)),
        "LEARNING" if !text.is_empty() => Some(AgentSignal::Learning(text)),
        "LEARNING_GLOBAL" if !text.is_empty() => Some(AgentSignal::LearningGlobal(text)),
        "PROGRESS" => {
            let percent: u8 = text.trim_end_matches('%').trim().parse().ok()?;
            (percent <= 100).then_some(AgentSignal::Progress(percent))
        }
        _ => None,
    }
}

/// Whether output may have ended like this, without its newline. Whoever mentions a tag puts a blank or a sign before
/// it: a quote, a colon, the mark of a list or of a changed line.
fn ends_output(last: char) -> bool {
    let quotes =
        ['“', '”', '„', '«', '»', '‘', '’', '‚', '…', '—', '–', '→', '：', '「', '『', '•', '·', '│'];
    let foreign = !last.is_ascii() && !last.is_whitespace() && !quotes.contains(&last);
    last.is_ascii_alphanumeric() || ".!?)%;".contains(last) || foreign
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(line: &str, expected: Option<AgentSignal>) {
        assert_eq!(signal_in(line), expected, "{line}");
    }

    #[test]
    fn a_line_that_is_a_tag_is_a_signal() {
        check("<swarm>COMPLETE</swarm>", Some(AgentSignal::Complete));
        check("  <swarm> COMPLETE </swarm>\r", Some(AgentSignal::Complete));
        check("<swarm>BLOCKED: no key: ask</swarm>", Some(AgentSignal::Blocked("no key: ask".into())));
        check("<swarm>FAILED: impossible</swarm>", Some(AgentSignal::Failed("impossible".into())));
        check("<swarm>NEEDS_HELP: a or b?</swarm>", Some(AgentSignal::NeedsHelp("a or b?".into())));
        check("<swarm>PROGRESS: 40%</swarm>", Some(AgentSignal::Progress(40)));
        check("<swarm>LEARNING: npm ci</swarm>", Some(AgentSignal::Learning("npm ci".into())));
        check("<swarm>LEARNING_GLOBAL: tabs</swarm>", Some(AgentSignal::LearningGlobal("tabs".into())));
        check("All 12 tests pass.<swarm>COMPLETE</swarm>", Some(AgentSignal::Complete));
        check("ok<swarm>BLOCKED: no key</swarm>", Some(AgentSignal::Blocked("no key".into())));
        check("完成<swarm>PROGRESS: 7</swarm>", Some(AgentSignal::Progress(7)));
    }

    #[test]
    fn text_that_mentions_a_tag_is_not() {
        for line in [
            "I will print <swarm>COMPLETE</swarm> at the end",
            "I will print <swarm>COMPLETE</swarm>",
            "prompt.md:12:<swarm>COMPLETE</swarm>",
            "+<swarm>COMPLETE</swarm>",
            "echo '<swarm>COMPLETE</swarm>",
            "x</swarm><swarm>COMPLETE</swarm>",
            "say “<swarm>COMPLETE</swarm>",
            "<swarm>COMPLETE</swarm> is what I print at the end",
            "COMPLETE",
            "BLOCKED: no key",
            "<swarm>complete</swarm>",
            "<swarm>PROGRESS: 101</swarm>",
            "<swarm>PROGRESS: many</swarm>",
            "<swarm>DANCE: now</swarm>",
            "<swarm>LEARNING: </swarm>",
            "<swarm>BLOCKED: x</swarm> or <swarm>COMPLETE</swarm>",
            "`<swarm>COMPLETE</swarm>`",
            "<swarm></swarm>",
        ] {
            check(line, None);
        }
    }
}
