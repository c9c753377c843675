//! The sources of the book: copies of the pages, and a table of contents that names all of them.

use std::path::Path;

use anyhow::{Context, Result, bail};

use crate::workspace::Workspace;

/// Where the contents of `docs/` are listed.
const SUMMARY: &str = "docs/SUMMARY.md";

/// The first page of the book. mdBook copies it to `index.html`, so it has to be one of the root.
const FIRST: &str = "README.md";

/// Other pages at the root of the repository, which stand last in the book.
const ROOT_PAGES: &[(&str, &str)] = &[
    ("Architecture", "ARCHITECTURE.md"),
    ("Contributing", "CONTRIBUTING.md"),
    ("Changelog", "CHANGELOG.md"),
];

/// Files that pages link to, besides those of `docs/`.
const LINKED: &[&str] = &["LICENSE-MIT", "LICENSE-APACHE"];

pub fn stage(workspace: &Workspace, folder: &Path) -> Result<()> {
    if folder.exists() {
        std::fs::remove_dir_all(folder).with_context(|| format!("Cannot empty {}", folder.display()))?;
    }
    let files = workspace.files()?;
    let summary = workspace.read(SUMMARY)?;
    let unlisted: Vec<&str> = pages(&files).filter(|page| !lists(&summary, page)).collect();
    if !unlisted.is_empty() {
        bail!("{SUMMARY} does not list {}", unlisted.join(", "));
    }
    let root_pages = ROOT_PAGES.iter().map(|(_, page)| *page).chain([FIRST]);
    let docs = files.iter().map(String::as_str).filter(|file| file.starts_with("docs/") && *file != SUMMARY);
    for file in docs.chain(root_pages).chain(LINKED.iter().copied()) {
        let place = folder.join(file);
        std::fs::create_dir_all(place.parent().context("A file has no folder")?)?;
        std::fs::copy(workspace.root().join(file), &place)
            .with_context(|| format!("Cannot copy {file} into the book"))?;
    }
    std::fs::write(folder.join("SUMMARY.md"), contents(&summary))
        .context("Cannot write the contents of the book")
}

fn pages(files: &[String]) -> impl Iterator<Item = &str> {
    let is_page = |file: &&str| file.starts_with("docs/") && file.ends_with(".md") && *file != SUMMARY;
    files.iter().map(String::as_str).filter(is_page)
}

fn lists(summary: &str, page: &str) -> bool {
    page.strip_prefix("docs/").is_some_and(|page| summary.contains(&format!("]({page})")))
}

/// The contents as mdBook wants them: places from the root of the repository, with the root's own pages.
fn contents(summary: &str) -> String {
    let (title, pages) = summary.split_once("\n\n").unwrap_or(("", summary));
    let mut text = format!("{title}\n\n[Swarm]({FIRST})\n{}", pages.replace("](", "](docs/"));
    text.push_str("\n# Project\n\n");
    for (title, page) in ROOT_PAGES {
        text.push_str(&format!("- [{title}]({page})\n"));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_contents_name_places_from_the_root() {
        let text = contents("# Summary\n\n[Start](README.md)\n\n- [A](guides/a.md)\n");
        assert!(text.starts_with("# Summary\n\n[Swarm](README.md)\n[Start](docs/README.md)\n"), "{text}");
        assert!(text.contains("[Start](docs/README.md)") && text.contains("- [A](docs/guides/a.md)"));
        assert!(text.ends_with("- [Changelog](CHANGELOG.md)\n"));
    }

    #[test]
    fn a_page_that_is_not_listed_is_found() {
        let files = ["docs/SUMMARY.md", "docs/a.md", "docs/guides/b.md", "README.md", "docs/x.json"];
        let files = files.map(str::to_owned);
        let summary = "- [A](a.md)";
        let unlisted: Vec<&str> = pages(&files).filter(|page| !lists(summary, page)).collect();
        assert_eq!(unlisted, ["docs/guides/b.md"]);
    }
}
