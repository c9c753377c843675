//! A link in a document leads somewhere: to a file of this repository.
//!
//! Addresses of other sites are not followed; a check must not depend on somebody else's server.

use super::Findings;
use crate::workspace::Workspace;

pub fn check(workspace: &Workspace, files: &[String]) -> Findings {
    let mut findings = Findings::default();
    for path in files.iter().filter(|path| path.ends_with(".md")) {
        let Ok(text) = workspace.read(path) else { continue };
        let folder = path.rsplit_once('/').map_or("", |(folder, _)| folder);
        for (number, target) in targets(&text) {
            if !leads_somewhere(files, folder, &target) {
                findings.fail(format!("{path}:{number}: the link to {target} leads nowhere"));
            }
        }
    }
    findings
}

/// The files a text links to, each with the number of its line. Anchors are cut off.
fn targets(text: &str) -> Vec<(usize, String)> {
    let mut targets = Vec::new();
    // The length of the fence that opened a block of code; only as long a one closes it.
    let mut fence = 0;
    for (index, line) in text.lines().enumerate() {
        let ticks = line.trim_start().bytes().take_while(|byte| *byte == b'`').count();
        if ticks >= 3 && fence == 0 {
            fence = ticks;
        } else if ticks >= fence && fence > 0 {
            fence = 0;
        }
        if fence > 0 {
            continue;
        }
        for (at, _) in line.match_indices("](") {
            let Some((target, _)) = line[at + 2..].split_once(')') else { continue };
            let file = target.split('#').next().unwrap_or_default();
            let is_elsewhere = file.contains("://") || file.starts_with("mailto:");
            if !file.is_empty() && !is_elsewhere {
                targets.push((index + 1, file.to_owned()));
            }
        }
    }
    targets
}

fn leads_somewhere(files: &[String], folder: &str, target: &str) -> bool {
    let mut place: Vec<&str> = folder.split('/').filter(|part| !part.is_empty()).collect();
    for part in target.split('/') {
        match part {
            "" | "." => {}
            ".." if place.pop().is_none() => return false,
            ".." => {}
            name => place.push(name),
        }
    }
    let place = place.join("/");
    let inside = format!("{place}/");
    place.is_empty() || files.iter().any(|file| *file == place || file.starts_with(&inside))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_are_found_outside_of_code_and_without_their_anchors() {
        let text = "see [a](docs/a.md#x), [b](https://example.org/b)\n````\n```\n[c](c.md)\n````\n[d](#here) [e](../e.md)";
        assert_eq!(targets(text), [(1, "docs/a.md".to_owned()), (6, "../e.md".to_owned())]);
    }

    #[test]
    fn a_link_is_followed_from_the_folder_of_its_page() {
        let files = ["README.md".to_owned(), "docs/a.md".to_owned()];
        for (folder, target) in
            [("docs", "../README.md"), ("", "docs/"), ("", "docs/a.md"), ("docs", "./a.md")]
        {
            assert!(leads_somewhere(&files, folder, target), "{folder} {target}");
        }
        for (folder, target) in [("docs", "README.md"), ("", "../README.md"), ("", "doc"), ("docs", "b.md")] {
            assert!(!leads_somewhere(&files, folder, target), "{folder} {target}");
        }
    }
}
