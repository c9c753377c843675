//! Plan files: the JSON of `plan.schema.json`, or a Markdown checklist. Both become a [`PlanFile`].
//!
//! [`PlanFile`]: crate::plan::PlanFile

mod error;
mod read;
mod json;
mod checklist;
mod fields;
mod write;
mod peers;

pub use error::PlanFileError;
pub use peers::{Imported, Source, import};
pub use read::{BYTES_MAX, Format, format_of, parse, parse_parts};
pub use write::{to_json, to_markdown};

#[cfg(test)]
mod tests;
