//! `cargo xtask book`: the documents as a book, built by mdBook into `target/book`.
//!
//! mdBook reads one folder. Pages at the root of the repository (README, ARCHITECTURE …) belong to the
//! book too, so the sources are staged: `docs/` and these pages, at the same places relative to each other.

mod links;
mod stage;

use anyhow::{Result, bail};

use crate::tool::Tool;
use crate::workspace::{self, Workspace};

/// Pinned, so that a book looks the same wherever it is built.
const MDBOOK: Tool = Tool { name: "mdbook", version: "0.5.4" };

#[derive(clap::Args)]
pub struct Arguments {
    /// Open the book in a browser
    #[arg(long)]
    open: bool,
}

pub fn run(workspace: &Workspace, arguments: &Arguments) -> Result<()> {
    let source = workspace.target().join("book-src");
    let book = workspace.target().join("book");
    stage::stage(workspace, &source)?;
    let mut command = MDBOOK.command(workspace)?;
    command.arg("build").arg(workspace.root()).arg("--dest-dir").arg(&book);
    command.env("MDBOOK_BOOK__SRC", &source);
    workspace::run(command)?;
    let broken = links::broken(&book)?;
    for link in &broken {
        eprintln!("error: {link}");
    }
    if !broken.is_empty() {
        let links = if broken.len() == 1 { "link leads" } else { "links lead" };
        bail!("{} {links} nowhere", broken.len());
    }
    let index = book.join("index.html");
    eprintln!("book: {}", index.display());
    if arguments.open {
        let mut command = std::process::Command::new("xdg-open");
        command.arg(&index);
        workspace::run(command)?;
    }
    Ok(())
}
