//! The one line of a long output that tells a person why it was red.

/// Characters of it.
const GIST_MAX: usize = 200;

/// So many lines from the end are searched for one that names what went wrong.
const LINES_MAX: usize = 40;

/// Words that say so, in the languages of compilers and test programs.
const NAMES_IT: [&str; 9] =
    ["error", "fail", "panicked", "assert", "not found", "expected", "denied", "exception", "cannot"];

/// The last line that says something, with how the command ended.
pub fn gist(output: &str) -> String {
    let mut lines =
        output.lines().rev().map(str::trim).filter(|line| line.chars().any(char::is_alphanumeric));
    let mut said = Vec::new();
    let mut verdict = None;
    // The verdict in brackets is ours, the line after the dollar is what was asked for.
    for line in lines.by_ref().take(LINES_MAX) {
        match line.strip_prefix('[').and_then(|line| line.strip_suffix(']')) {
            Some(ours) if verdict.is_none() && said.is_empty() => verdict = Some(ours),
            _ if line.starts_with("$ ") => break,
            _ => said.push(line),
        }
    }
    let names_it = |line: &&&str| NAMES_IT.iter().any(|word| line.to_lowercase().contains(word));
    let line = said.iter().find(names_it).or(said.first()).copied();
    let short = |text: &str| text.chars().take(GIST_MAX).collect::<String>();
    match (line, verdict) {
        (Some(line), Some(verdict)) => format!("{} ({})", short(line), short(verdict)),
        (Some(text), None) | (None, Some(text)) => short(text),
        (None, None) => "no output".into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_red_output_is_told_by_the_line_that_says_why() {
        let check = |output: &str, wanted: &str| assert_eq!(gist(output), wanted, "{output}");
        check("", "no output");
        check("$ true\n[exit status: 1]\n", "exit status: 1");
        check("$ sh check.sh\nx.txt is missing\n[exit status: 1]\n", "x.txt is missing (exit status: 1)");
        check(
            "$ a\nred herring error\n$ b\nfine so far\n====\n[exit status: 2]",
            "fine so far (exit status: 2)",
        );
        check(
            "$ cargo test\ntest a ... FAILED\nerror: test failed, to rerun pass `--lib`\n\nnote: see above\n[exit status: 101]\n",
            "error: test failed, to rerun pass `--lib` (exit status: 101)",
        );
        check("$ sleep 9\n[stopped: not done within 1 s]\n", "stopped: not done within 1 s");
        check("the reviewer wants tests\n", "the reviewer wants tests");
        assert!(gist(&"x".repeat(10_000)).len() <= GIST_MAX);
    }
}
