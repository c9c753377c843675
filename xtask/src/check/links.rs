//! A link in a document leads somewhere: to a file of this repository, and to a heading of it.
//!
//! Addresses of other sites are not followed; a check must not depend on somebody else's server.

use std::collections::{BTreeMap, BTreeSet};

use super::Findings;
use crate::workspace::Workspace;

pub fn check(workspace: &Workspace, files: &[String]) -> Findings {
    let mut findings = Findings::default();
    let pages: BTreeMap<&str, String> = files
        .iter()
        .filter(|path| path.ends_with(".md"))
        .filter_map(|path| Some((path.as_str(), workspace.read(path).ok()?)))
        .collect();
    for (path, text) in &pages {
        let folder = path.rsplit_once('/').map_or("", |(folder, _)| folder);
        for (number, link) in targets(text) {
            let (target, anchor) = link.split_once('#').unwrap_or((&link, ""));
            let place = if target.is_empty() { Some((*path).to_owned()) } else { place_of(folder, target) };
            let Some(place) = place.filter(|place| is_there(files, place)) else {
                findings.fail(format!("{path}:{number}: the link to {link} leads nowhere"));
                continue;
            };
            let page = pages.get(place.as_str()).filter(|_| !anchor.is_empty());
            if page.is_some_and(|page| !anchors(page).contains(anchor)) {
                findings.fail(format!("{path}:{number}: {place} has no heading for #{anchor}"));
            }
        }
    }
    findings
}

/// The lines of a text that stand in no block of code, each with its number.
fn prose(text: &str) -> Vec<(usize, &str)> {
    let mut lines = Vec::new();
    // The length of the fence that opened a block of code; only as long a one closes it.
    let mut fence = 0;
    for (index, line) in text.lines().enumerate() {
        let ticks = line.trim_start().bytes().take_while(|byte| *byte == b'`').count();
        if ticks >= 3 && fence == 0 {
            fence = ticks;
        } else if ticks >= fence && fence > 0 {
            fence = 0;
            continue;
        }
        if fence == 0 {
            lines.push((index + 1, line));
        }
    }
    lines
}

/// What a text links to within the repository, each with the number of its line.
fn targets(text: &str) -> Vec<(usize, String)> {
    let mut targets = Vec::new();
    for (number, line) in prose(text) {
        for (at, _) in line.match_indices("](") {
            let Some((target, _)) = line[at + 2..].split_once(')') else { continue };
            let is_elsewhere = target.contains("://") || target.starts_with("mailto:");
            if !target.is_empty() && !is_elsewhere {
                targets.push((number, target.to_owned()));
            }
        }
    }
    targets
}

/// The anchors of a page, as GitHub makes them of its headings; the second of one name has `-1`.
fn anchors(text: &str) -> BTreeSet<String> {
    let (mut found, mut count) = (BTreeSet::new(), BTreeMap::<String, usize>::new());
    for (_, line) in prose(text) {
        let heading = line.trim_start_matches('#');
        if heading.len() == line.len() || !heading.starts_with(' ') {
            continue;
        }
        let name = anchor(heading.trim());
        let before = count.entry(name.clone()).or_default();
        found.insert(if *before == 0 { name } else { format!("{name}-{before}") });
        *before += 1;
    }
    found
}

fn anchor(heading: &str) -> String {
    // Of a link its words are left.
    let mut words = String::new();
    let mut rest = heading;
    while let Some((before, after)) = rest.split_once("](") {
        words.push_str(before);
        rest = after.split_once(')').map_or("", |(_, rest)| rest);
    }
    words.push_str(rest);
    let kept = words.to_lowercase().replace(' ', "-");
    kept.chars().filter(|c| c.is_alphanumeric() || matches!(c, '-' | '_')).collect()
}

/// Where this leads from a page of that folder; none: out of the repository.
fn place_of(folder: &str, target: &str) -> Option<String> {
    let mut place: Vec<&str> = folder.split('/').filter(|part| !part.is_empty()).collect();
    for part in target.split('/') {
        match part {
            "" | "." => {}
            ".." => {
                place.pop()?;
            }
            name => place.push(name),
        }
    }
    Some(place.join("/"))
}

fn is_there(files: &[String], place: &str) -> bool {
    let inside = format!("{place}/");
    place.is_empty() || files.iter().any(|file| file == place || file.starts_with(&inside))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_are_found_outside_of_code() {
        let text = "see [a](docs/a.md#x), [b](https://example.org/b)\n````\n```\n[c](c.md)\n````\n[d](#here) [e](../e.md)";
        let wanted = [(1, "docs/a.md#x"), (6, "#here"), (6, "../e.md")];
        assert_eq!(targets(text), wanted.map(|(line, target)| (line, target.to_owned())));
    }

    #[test]
    fn a_link_is_followed_from_the_folder_of_its_page() {
        let files = ["README.md".to_owned(), "docs/a.md".to_owned()];
        let leads = |folder, target| place_of(folder, target).is_some_and(|place| is_there(&files, &place));
        for (folder, target) in
            [("docs", "../README.md"), ("", "docs/"), ("", "docs/a.md"), ("docs", "./a.md")]
        {
            assert!(leads(folder, target), "{folder} {target}");
        }
        for (folder, target) in [("docs", "README.md"), ("", "../README.md"), ("", "doc"), ("docs", "b.md")] {
            assert!(!leads(folder, target), "{folder} {target}");
        }
    }

    #[test]
    fn an_anchor_is_a_heading_of_the_page() {
        let text = "# The `.swarm` folder\n## See [Plans](plans.md)!\n```\n# no heading\n```\n#tag\n## Undo\n### Undo";
        let wanted = ["see-plans", "the-swarm-folder", "undo", "undo-1"];
        assert_eq!(anchors(text), wanted.map(str::to_owned).into());
    }
}
