//! Numbers about a text.

pub mod lines;
pub mod words;
