//! What a script leaves when its agent is ready, as far as the text of the script says.

use std::collections::BTreeMap;

/// The script block of a description.
pub fn script_in(description: &str) -> String {
    let lines = description.lines().skip_while(|line| line.trim() != "```script").skip(1);
    lines.take_while(|line| line.trim() != "```").collect::<Vec<_>>().join("\n")
}

/// Files and lines that the attempt of this number leaves, played without an agent. What the text does not tell is not wanted:
/// commands for the shell, and what only some iterations do.
pub fn at_the_end(script: &str, attempt: u64) -> Vec<(String, String)> {
    let mut files: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for line in script.lines().map(str::trim) {
        let Some((step, sure)) = meant(line, attempt) else { continue };
        let (word, rest) = step.split_once(' ').unwrap_or((step, ""));
        let (path, text) = rest.trim().split_once(' ').unwrap_or((rest.trim(), ""));
        match word {
            "write" => drop(files.insert(path, if sure { vec![text.trim()] } else { vec![] })),
            "append" if sure => files.entry(path).or_default().push(text.trim()),
            "delete" => drop(files.remove(path)),
            // It may do anything to what was there before.
            "sh" => files.retain(|path, _| !rest.contains(path)),
            _ if sure && ENDS.contains(&word) => break,
            _ => {}
        }
    }
    let inside = |path: &str| !path.starts_with(['/', '.']) && !path.contains("..");
    let files = files.into_iter().filter(|(path, _)| inside(path));
    let lines =
        files.flat_map(|(path, lines)| lines.into_iter().map(move |line| (path.to_owned(), line.to_owned())));
    lines.filter(|(_, line)| !line.is_empty()).collect()
}

const ENDS: [&str; 9] =
    ["complete", "blocked", "failed", "crash", "kill-self", "hang", "no-signal", "fail", "close-output"];

/// The step without its conditions, and whether it is taken for sure; none: not in this attempt.
fn meant(line: &str, attempt: u64) -> Option<(&str, bool)> {
    if line.is_empty() || line.starts_with('#') {
        return None;
    }
    if let Some((number, rest)) = line.strip_prefix("on-attempt ").and_then(|rest| rest.split_once(':')) {
        return (number.trim().parse() == Ok(attempt)).then(|| meant(rest.trim(), attempt)).flatten();
    }
    if let Some((_, rest)) = line.strip_prefix("on-iteration ").and_then(|rest| rest.split_once(':')) {
        return meant(rest.trim(), attempt).map(|(step, _)| (step, false));
    }
    Some((line, true))
}

/// Whether some attempt by this script touches the file.
pub fn changes(script: &str, path: &str) -> bool {
    script.lines().any(|line| {
        line.split_whitespace().any(|word| word == path) || line.contains("sh ") && line.contains(path)
    })
}

pub fn commits_as(script: &str, subject: &str) -> bool {
    let messages =
        script.lines().filter_map(|line| line.split_once("commit ")).map(|(_, message)| message.trim());
    messages.into_iter().any(|message| message == subject)
}

#[test]
fn what_a_script_leaves_is_what_its_last_attempt_wrote() {
    let script = "on-attempt 1: write a.txt one\non-attempt 1: crash 3\nwrite a.txt two\nappend b/c.txt x\nappend b/c.txt y\n\
                  write gone.txt z\ndelete gone.txt\non-iteration 2: write late.txt l\ncommit feat: it\ncomplete\nwrite after.txt no";
    let lines = |attempt| {
        let all = at_the_end(script, attempt).into_iter();
        all.map(|(path, line)| format!("{path} {line}")).collect::<Vec<_>>()
    };
    assert_eq!(lines(1), ["a.txt one"]);
    assert_eq!(lines(2), ["a.txt two", "b/c.txt x", "b/c.txt y"]);
    assert!(commits_as(script, "feat: it") && changes(script, "b/c.txt") && !changes(script, "c.txt"));
}
