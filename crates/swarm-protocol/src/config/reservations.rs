//! Files that somebody has for themselves for a while.

#[cfg(feature = "schema")]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Span;
use crate::reservation::Overlap;

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(deny_unknown_fields, default, rename_all = "camelCase")]
pub struct Reservations {
    /// What becomes of work in files that somebody else has reserved: it waits, it is denied, or it goes on with a warning.
    pub overlap: Overlap,
    /// How long a reservation lasts when nobody works under it.
    pub ttl: Span,
    /// A task that reserves nothing reserves the files that it names.
    pub files: bool,
}

impl Default for Reservations {
    fn default() -> Self {
        Self { overlap: Overlap::default(), ttl: Span::secs(3600), files: false }
    }
}
