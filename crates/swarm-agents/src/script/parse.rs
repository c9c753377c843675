//! Reading the script out of the prompt.

use std::time::Duration;

use super::ROLE_PLAN;

/// One thing to do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Step {
    Write {
        path: String,
        text: String,
    },
    Append {
        path: String,
        text: String,
    },
    Delete {
        path: String,
    },
    Commit {
        message: String,
    },
    Print {
        text: String,
    },
    Progress {
        percent: u8,
    },
    Sleep(Duration),
    /// Until the file is there.
    WaitFor {
        path: String,
    },
    /// One line more in the file: whoever runs twice is found out.
    Count {
        path: String,
    },
    /// A command for the shell, as a tool call of a real agent; what it answers changes nothing.
    Shell {
        command: String,
    },
    /// A call of a tool of its run, as real programs make it.
    Call {
        tool: String,
        arguments: String,
    },
    /// Nothing more is printed, and nobody waits for it: the pipes are given up while the work goes on.
    CloseOutput,
    /// Leaves a process behind, in a session of its own.
    SpawnChild {
        secs: u64,
    },
    IgnoreTerm,
    Flood {
        lines: u64,
    },
    Hang,
    /// Works hard and says nothing.
    Burn(Duration),
    /// A tool call, begun and ended.
    Tool {
        call: String,
    },
    ToolBegin {
        call: String,
    },
    ToolEnd,
    /// The program's own rules did not allow something.
    Denied {
        what: String,
    },
    /// `input=N output=N cached=N cost=DOLLARS`.
    Usage {
        what: String,
    },
    Session {
        id: String,
    },
    /// `CLASS [resets=SECONDS] TEXT`: no result, for this reason.
    Fail {
        why: String,
    },
    /// The same for as long as the file says why.
    Weather {
        path: String,
    },
    /// The step again and again.
    Repeat {
        times: u64,
        step: Box<Step>,
    },
    Crash {
        code: u8,
    },
    KillSelf,
    Complete,
    Blocked {
        reason: String,
    },
    Failed {
        reason: String,
    },
    NoSignal,
}

/// A step and when it is meant.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Line {
    pub on_attempt: Option<u32>,
    pub on_iteration: Option<u32>,
    pub as_member: Option<String>,
    pub step: Step,
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("script line {number}: {why}: {text}")]
pub struct BadLine {
    pub number: usize,
    pub why: String,
    pub text: String,
}

/// The lines of the first script block; none when the prompt has no such block.
pub fn script_in(prompt: &str) -> Option<Result<Vec<Line>, BadLine>> {
    block_in(prompt, "```script")
}

/// The lines that are meant for whoever has this role. A wish stands behind the goal of its plan, so there the last block
/// counts; in a review the task stands first, before what somebody else wrote.
pub fn role_script_in(prompt: &str, role: &str) -> Option<Result<Vec<Line>, BadLine>> {
    let begins = format!("```{role}-script");
    match role {
        ROLE_PLAN => {
            let lines: Vec<&str> = prompt.lines().collect();
            let last = lines.iter().rposition(|line| line.trim() == begins)?;
            block_in(&lines[last..].join("\n"), &begins)
        }
        _ => block_in(prompt, &begins),
    }
}

fn block_in(prompt: &str, begins: &str) -> Option<Result<Vec<Line>, BadLine>> {
    let mut lines = prompt.lines().skip_while(|line| line.trim() != begins);
    lines.next()?;
    let block: Vec<&str> = lines.take_while(|line| line.trim() != "```").collect();
    Some(lines_of(&block.join("\n")))
}

/// The lines of a script that stands alone.
pub fn lines_of(script: &str) -> Result<Vec<Line>, BadLine> {
    let steps = script
        .lines()
        .map(str::trim)
        .enumerate()
        .filter(|(_, text)| !text.is_empty() && !text.starts_with('#'));
    let read = |(at, text): (usize, &str)| {
        line(text).map_err(|why| BadLine { number: at + 1, why, text: text.to_owned() })
    };
    steps.map(read).collect()
}

fn line(text: &str) -> Result<Line, String> {
    let (mut on_attempt, mut on_iteration, mut as_member, mut rest) = (None, None, None, text);
    loop {
        if let Some(tail) = rest.strip_prefix("on-attempt ") {
            (on_attempt, rest) = condition(tail)?;
        } else if let Some(tail) = rest.strip_prefix("on-iteration ") {
            (on_iteration, rest) = condition(tail)?;
        } else if let Some(tail) = rest.strip_prefix("as ") {
            let (name, step) = tail.split_once(':').ok_or("a condition ends in ':'")?;
            (as_member, rest) = (Some(name.trim().to_owned()), step.trim());
        } else {
            return Ok(Line { on_attempt, on_iteration, as_member, step: step(rest)? });
        }
    }
}

fn condition(tail: &str) -> Result<(Option<u32>, &str), String> {
    let (number, rest) = tail.split_once(':').ok_or("a condition ends in ':'")?;
    let number = number.trim().parse().map_err(|_| "a condition needs a number")?;
    Ok((Some(number), rest.trim()))
}

fn step(text: &str) -> Result<Step, String> {
    let (word, rest) = text.split_once(char::is_whitespace).unwrap_or((text, ""));
    let rest = rest.trim();
    let path = || if rest.is_empty() { Err("a path is missing".to_owned()) } else { Ok(rest.to_owned()) };
    let path_and_text = || {
        let (path, text) = rest.split_once(char::is_whitespace).unwrap_or((rest, ""));
        if path.is_empty() {
            Err("a path is missing".to_owned())
        } else {
            Ok((path.to_owned(), text.to_owned()))
        }
    };
    let text = || rest.to_owned();
    Ok(match word {
        "write" => path_and_text().map(|(path, text)| Step::Write { path, text })?,
        "append" => path_and_text().map(|(path, text)| Step::Append { path, text })?,
        "delete" => Step::Delete { path: path()? },
        "commit" => Step::Commit { message: if rest.is_empty() { "scripted change".into() } else { text() } },
        "print" => Step::Print { text: text() },
        "progress" => Step::Progress { percent: number(rest)? },
        "sleep" => Step::Sleep(Duration::from_millis(number(rest)?)),
        "wait-for" => Step::WaitFor { path: path()? },
        "count" => Step::Count { path: path()? },
        "sh" => Step::Shell { command: text() },
        "call" => match rest.split_once(char::is_whitespace) {
            Some((tool, arguments)) => Step::Call { tool: tool.into(), arguments: arguments.trim().into() },
            None if rest.is_empty() => return Err("a tool is missing".into()),
            None => Step::Call { tool: text(), arguments: "{}".into() },
        },
        "close-output" => Step::CloseOutput,
        "spawn-child" => Step::SpawnChild { secs: number(rest)? },
        "ignore-term" => Step::IgnoreTerm,
        "flood" => Step::Flood { lines: number(rest)? },
        "hang" => Step::Hang,
        "burn" => Step::Burn(Duration::from_millis(number(rest)?)),
        "tool" => Step::Tool { call: text() },
        "tool-begin" => Step::ToolBegin { call: text() },
        "tool-end" => Step::ToolEnd,
        "denied" => Step::Denied { what: text() },
        "usage" => Step::Usage { what: text() },
        "session" => Step::Session { id: text() },
        "fail" => Step::Fail { why: text() },
        "weather" => Step::Weather { path: path()? },
        "repeat" => {
            let (times, rest) = rest.split_once(':').ok_or("a number of times ends in ':'")?;
            let again = step(rest.trim())?;
            Step::Repeat { times: number(times.trim())?, step: Box::new(again) }
        }
        "crash" => Step::Crash { code: number(rest)? },
        "kill-self" => Step::KillSelf,
        "complete" => Step::Complete,
        "blocked" => Step::Blocked { reason: text() },
        "failed" => Step::Failed { reason: text() },
        "no-signal" => Step::NoSignal,
        _ => return Err("nothing is known by this name".into()),
    })
}

fn number<N: std::str::FromStr>(text: &str) -> Result<N, String> {
    text.parse().map_err(|_| format!("{text:?} is not a number that fits"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_block_is_read_line_by_line_with_its_conditions() {
        let prompt = "# Task 1.1\n\n```script\nwrite a/b.txt hello you\n\n# why not\non-attempt 2: on-iteration 3: crash 7\n  complete\n```\nprint not mine\n";
        let lines = script_in(prompt).expect("a block").expect("good lines");
        let always = |step| Line { on_attempt: None, on_iteration: None, as_member: None, step };
        let expected = vec![
            always(Step::Write { path: "a/b.txt".into(), text: "hello you".into() }),
            Line {
                on_attempt: Some(2),
                on_iteration: Some(3),
                as_member: None,
                step: Step::Crash { code: 7 },
            },
            always(Step::Complete),
        ];
        assert_eq!(lines, expected);
    }

    #[test]
    fn a_line_that_means_nothing_is_named() {
        let check = |line: &str, why: &str| {
            let error =
                script_in(&format!("```script\nhang\n{line}\n```")).expect("a block").expect_err("refused");
            assert_eq!(error.to_string(), format!("script line 2: {why}: {line}"));
        };
        check("dance", "nothing is known by this name");
        check("crash 300", "\"300\" is not a number that fits");
        check("write", "a path is missing");
        check("call", "a tool is missing");
        check("on-attempt 2 crash 1", "a condition ends in ':'");
        check("as security print no", "a condition ends in ':'");
        assert_eq!(script_in("no block"), None);
    }
}
