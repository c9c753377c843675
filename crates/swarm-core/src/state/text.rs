//! A state as text. Written and read here alone: what reads so many types is built once, and not again in every crate
//! that keeps a state.

use serde_json::value::{RawValue, to_raw_value};

use super::State;

impl State {
    pub fn to_json(&self) -> Box<RawValue> {
        to_raw_value(self).expect("a state is plain data with text keys")
    }

    /// With its index, which is not written.
    pub fn from_json(text: &str) -> Result<Self, serde_json::Error> {
        let mut state: Self = serde_json::from_str(text)?;
        state.rebuild_index();
        Ok(state)
    }
}
