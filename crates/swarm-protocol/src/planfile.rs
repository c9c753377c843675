//! Plan files: the JSON of `plan.schema.json`, or a Markdown checklist. Both become a [`PlanFile`].
//!
//! ```
//! use swarm_protocol::planfile::{parse, to_json, to_markdown};
//!
//! let plan = parse("plan.md", b"# Greet people\n\n- [ ] 1.1 Say hello\n- [ ] 1.2 Say goodbye\n  depends: 1.1\n")?;
//! assert_eq!(plan.goal, "Greet people");
//! let tasks = &plan.phases[0].tasks;
//! assert_eq!(tasks[1].depends, [tasks[0].id.clone()]);
//!
//! // Both formats hold the same, so that either can be edited.
//! assert_eq!(parse("plan.json", to_json(&plan).as_bytes())?, plan);
//! assert_eq!(parse("plan.md", to_markdown(&plan).as_bytes())?, plan);
//!
//! // A mistake is named with its place.
//! let error = parse("plan.md", b"# Greet\n\n- [ ] 1.1 Say hello\n  depends: no!\n").unwrap_err();
//! assert!(error.to_string().contains("line 4"), "{error}");
//! # Ok::<(), swarm_protocol::planfile::PlanFileError>(())
//! ```
//!
//! [`PlanFile`]: crate::plan::PlanFile

mod error;
mod read;
mod json;
mod shapes;
mod checklist;
mod fields;
mod write;
mod peers;
mod noted;

pub use error::PlanFileError;
pub use noted::parse_with_notes;
pub use peers::{Care, Imported, Source, import, import_with};
pub use read::{BYTES_MAX, Format, Known, format_of, parse, parse_parts};
pub use write::{to_json, to_markdown};

#[cfg(test)]
mod tests;
