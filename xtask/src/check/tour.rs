//! What ARCHITECTURE.md promises to a newcomer: a tour that is read in an hour, and few words to learn.

use anyhow::Result;

use super::Findings;
use crate::workspace::Workspace;

const PAGE: &str = "ARCHITECTURE.md";

/// Lines of all files of the tour together.
const LINES_MAX: usize = 1500;

/// Words in the glossary.
const WORDS_MAX: usize = 20;

pub fn check(workspace: &Workspace) -> Result<Findings> {
    let page = workspace.read(PAGE)?;
    let mut findings = Findings::default();
    let files = stops(&page);
    if files.is_empty() {
        findings.fail(format!("{PAGE} has no numbered list of files under `## Tour`"));
    }
    let mut lines = 0;
    for file in files {
        match workspace.read(file) {
            Ok(text) => lines += text.lines().count(),
            Err(error) => {
                findings.fail(format!("{PAGE}: the tour names a file that is not there: {error:#}"))
            }
        }
    }
    if lines > LINES_MAX {
        findings.fail(format!("{PAGE}: the tour has {lines} lines, at most {LINES_MAX}"));
    }
    let words = words(&page);
    if words > WORDS_MAX {
        findings.fail(format!("{PAGE}: the glossary has {words} words, at most {WORDS_MAX}"));
    }
    Ok(findings)
}

/// The lines below a heading, up to the next one.
fn section<'a>(page: &'a str, heading: &str) -> impl Iterator<Item = &'a str> {
    page.lines().skip_while(move |line| *line != heading).skip(1).take_while(|line| !line.starts_with("## "))
}

/// The files of the tour: the first text in backticks of each numbered line.
fn stops(page: &str) -> Vec<&str> {
    section(page, "## Tour")
        .filter(|line| line.starts_with(|first: char| first.is_ascii_digit()))
        .filter_map(|line| line.split('`').nth(1))
        .collect()
}

fn words(page: &str) -> usize {
    let rows = section(page, "## Words").filter(|line| line.starts_with('|')).count();
    // The head of the table and the rule below it.
    rows.saturating_sub(2)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_of_the_tour_and_words_of_the_glossary_are_counted() {
        let page = "# A\n\n## Tour\n\n1. `A.md`: this page\n2. `src/b.rs`, then `c`\n\nmore\n\n## Words\n\n\
                    | word | meaning |\n|---|---|\n| task | work |\n| plan | tasks |\n\n## Next\n\n1. `d.rs`\n";
        assert_eq!(stops(page), ["A.md", "src/b.rs"]);
        assert_eq!(words(page), 2);
    }
}
