//! Every link inside the built book leads to a page of it, and to a heading that is there.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

/// Built by mdBook from all pages at once; its links were rewritten by mdBook itself.
const NOT_OURS: &[&str] = &["print.html", "404.html", "toc.html"];

/// Links that lead nowhere, each with the page it is on.
pub fn broken(book: &Path) -> Result<Vec<String>> {
    let mut pages = BTreeMap::new();
    read_pages(book, &mut pages)?;
    let anchors: BTreeMap<&PathBuf, BTreeSet<&str>> =
        pages.iter().map(|(path, text)| (path, values(text, "id").collect())).collect();
    let mut broken = Vec::new();
    for (path, text) in &pages {
        if path.file_name().is_some_and(|name| NOT_OURS.iter().any(|other| name == *other)) {
            continue;
        }
        for link in values(text, "href").collect::<BTreeSet<_>>() {
            if !leads_somewhere(path, link, &anchors) {
                let page = path.strip_prefix(book).unwrap_or(path).display();
                broken.push(format!("{page}: the link to {link} leads nowhere"));
            }
        }
    }
    Ok(broken)
}

fn read_pages(folder: &Path, pages: &mut BTreeMap<PathBuf, String>) -> Result<()> {
    for entry in std::fs::read_dir(folder).with_context(|| format!("Cannot read {}", folder.display()))? {
        let path = entry?.path();
        if path.is_dir() {
            read_pages(&path, pages)?;
        } else if path.extension().is_some_and(|extension| extension == "html") {
            let text =
                std::fs::read_to_string(&path).with_context(|| format!("Cannot read {}", path.display()))?;
            pages.insert(path, text);
        }
    }
    Ok(())
}

/// The values of one attribute in a page.
fn values<'a>(page: &'a str, attribute: &str) -> impl Iterator<Item = &'a str> {
    let opening = format!(" {attribute}=\"");
    let length = opening.len();
    let places: Vec<usize> = page.match_indices(&opening).map(|(at, _)| at + length).collect();
    places.into_iter().filter_map(|at| page[at..].split('"').next())
}

fn leads_somewhere(page: &Path, link: &str, anchors: &BTreeMap<&PathBuf, BTreeSet<&str>>) -> bool {
    let is_elsewhere = link.contains("://") || link.starts_with("mailto:") || link.starts_with("data:");
    if is_elsewhere || link == "#" {
        return true;
    }
    let (file, anchor) = link.split_once('#').unwrap_or((link, ""));
    let target = if file.is_empty() { page.to_owned() } else { resolved(page, file) };
    match anchors.get(&target) {
        Some(known) => anchor.is_empty() || known.contains(anchor),
        None => target.exists() && anchor.is_empty(),
    }
}

/// The file behind a relative link. `..` is resolved by name: the file may not be there.
fn resolved(page: &Path, file: &str) -> PathBuf {
    let mut place = page.parent().unwrap_or(page).to_owned();
    for part in file.split('/') {
        match part {
            "" | "." => {}
            ".." => {
                place.pop();
            }
            name => place.push(name),
        }
    }
    if file.ends_with('/') { place.join("index.html") } else { place }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_to_missing_pages_and_headings_are_found() {
        let pages = [("b/a.html", ""), ("b/g/c.html", "<h2 id=\"here\">")];
        let paths = pages.map(|(path, text)| (PathBuf::from(path), text));
        let anchors = paths.iter().map(|(path, text)| (path, values(text, "id").collect())).collect();
        for (link, found) in [
            ("g/c.html", true),
            ("g/c.html#here", true),
            ("g/c.html#there", false),
            ("g/d.html", false),
            ("https://example.org/x", true),
            ("#", true),
        ] {
            assert_eq!(leads_somewhere(Path::new("b/a.html"), link, &anchors), found, "{link}");
        }
        assert!(leads_somewhere(Path::new("b/g/c.html"), "../a.html", &anchors));
    }
}
