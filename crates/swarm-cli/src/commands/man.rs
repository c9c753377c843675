//! `swarm man [DIR]`.

use std::path::PathBuf;

use clap::CommandFactory;
use clap_mangen::Man;
use serde::Serialize;
use swarm_engine::store::replace;

use crate::cli::Cli;
use crate::commands::operate::{DryRun, shown_lines};
use crate::context::Context;
use crate::error::CliError;

/// Write the manual pages
///
/// Without DIR the page of `swarm` is printed: `swarm man | man -l -` shows it. With DIR one page per command is written there:
/// after `swarm man ~/.local/share/man/man1`, `man swarm-task-block` works.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Folder for the pages; created if missing
    #[arg(value_name = "DIR")]
    pub dir: Option<PathBuf>,
    #[command(flatten)]
    pub dry: DryRun,
}

#[derive(Debug, Serialize)]
struct Written {
    /// As people see it: the name of a folder need not be text.
    dir: String,
    pages: Vec<String>,
}

pub fn run(args: Args, cx: &Context) -> Result<(), CliError> {
    let Some(dir) = args.dir else {
        let (_, page) = pages()?.pop().ok_or_else(|| CliError::environment("There is no page"))?;
        return cx.out.text(&page);
    };
    if args.dry.dry_run {
        let line = |(name, _): &(String, String)| format!("{} is written", dir.join(name).display());
        return shown_lines(cx, "man", &pages()?.iter().map(line).collect::<Vec<_>>());
    }
    let mut written = Written { dir: dir.display().to_string(), pages: vec![] };
    for (name, page) in pages()? {
        let file = dir.join(&name);
        replace(&file, page.as_bytes()).map_err(|error| {
            CliError::environment(format!("Cannot write the page {}", file.display())).because(error)
        })?;
        written.pages.push(name);
    }
    cx.out.view(&written, |written| {
        format!("{} pages written into {}", written.pages.len(), crate::output::harmless(&written.dir))
    })
}

/// Every page with the name of its file: each command after its own, the whole program last.
fn pages() -> Result<Vec<(String, String)>, CliError> {
    let mut root = Cli::command().disable_help_subcommand(true).term_width(100);
    root.build();
    let mut all = Vec::new();
    collect(&root, &mut all).map_err(|error| CliError::environment("Cannot make a page").because(error))?;
    Ok(all)
}

fn collect(command: &clap::Command, all: &mut Vec<(String, String)>) -> std::io::Result<()> {
    for inner in command.get_subcommands().filter(|inner| !inner.is_hide_set()) {
        collect(inner, all)?;
    }
    let man =
        Man::new(command.clone()).manual("Swarm").source(format!("swarm {}", env!("CARGO_PKG_VERSION")));
    let mut page = Vec::new();
    man.render(&mut page)?;
    all.push((man.get_filename(), String::from_utf8_lossy(&page).into_owned()));
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(command: &clap::Command, before: &str, all: &mut Vec<String>) {
        let name = format!("{before}{}", command.get_name());
        for inner in
            command.get_subcommands().filter(|inner| !inner.is_hide_set() && inner.get_name() != "help")
        {
            names(inner, &format!("{name}-"), all);
        }
        all.push(format!("{name}.1"));
    }

    #[test]
    fn every_command_has_a_page_that_says_what_it_does() {
        let mut wanted = vec![];
        names(&Cli::command(), "", &mut wanted);
        let pages = pages().expect("made");
        let written: Vec<String> = pages.iter().map(|(name, _)| name.clone()).collect();
        assert_eq!(written, wanted);
        assert!(written.iter().any(|name| name == "swarm-plan-import.1"), "{written:?}");
        for (name, page) in &pages {
            for part in [".TH ", ".SH NAME", ".SH SYNOPSIS", ".SH DESCRIPTION"] {
                let after = page.split(part).nth(1).unwrap_or_default();
                let text =
                    after.lines().skip(1).find(|line| !line.starts_with(".ie") && !line.starts_with(".el"));
                assert!(text.is_some_and(|text| !text.trim().is_empty()), "{name} says nothing after {part}");
            }
        }
    }
}
