//! The first record: which ledger this is, and in which format it is written.

use serde::Deserialize;

use crate::hash::Hash;

/// The format this program writes and the newest it reads.
pub const FORMAT: u32 = 1;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Genesis {
    pub ledger_id: String,
    pub format: u32,
}

/// The members stand at the top level of the first record; `data` is looked into as well, because
/// the caller decides where its event keeps them.
#[derive(Deserialize)]
struct FirstRecord {
    #[serde(rename = "ledgerId")]
    ledger_id: Option<String>,
    format: Option<u32>,
    data: Option<Data>,
}

#[derive(Deserialize)]
struct Data {
    #[serde(rename = "ledgerId")]
    ledger_id: Option<String>,
    format: Option<u32>,
}

impl Genesis {
    /// Reads the body of a first record.
    pub fn from_body(body: &[u8]) -> Option<Self> {
        let object = [b"{", body, b"}"].concat();
        Self::from_object(&object)
    }

    /// Reads a whole first line, also one whose framing a newer version has changed.
    pub fn from_object(object: &[u8]) -> Option<Self> {
        let first: FirstRecord = serde_json::from_slice(object).ok()?;
        let data = first.data.unwrap_or(Data { ledger_id: None, format: None });
        Some(Self { ledger_id: first.ledger_id.or(data.ledger_id)?, format: first.format.or(data.format)? })
    }

    /// What the first record names as `prev`: without it the first record of any other ledger would fit.
    pub fn root(&self) -> Hash {
        Hash::of(self.ledger_id.as_bytes())
    }
}
