//! Lengths of time as people write them.

use std::fmt;

#[cfg(feature = "schema")]
use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// A length of time written as `90s`, `30m`, `2h`, `7d` or a number of seconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Span {
    pub secs: u64,
}

impl Span {
    pub const fn secs(secs: u64) -> Self {
        Self { secs }
    }

    pub fn parse(text: &str) -> Option<Self> {
        let (digits, unit) = match text.find(|c: char| !c.is_ascii_digit()) {
            Some(at) => text.split_at(at),
            None => (text, "s"),
        };
        let number: u64 = digits.parse().ok()?;
        let factor = match unit {
            "s" => 1,
            "m" => 60,
            "h" => 3600,
            "d" => 86_400,
            _ => return None,
        };
        number.checked_mul(factor).filter(|secs| *secs <= 10 * 365 * 86_400).map(Self::secs)
    }
}

impl fmt::Display for Span {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.secs {
            0 => f.write_str("0s"),
            s if s % 86_400 == 0 => write!(f, "{}d", s / 86_400),
            s if s % 3600 == 0 => write!(f, "{}h", s / 3600),
            s if s % 60 == 0 => write!(f, "{}m", s / 60),
            s => write!(f, "{s}s"),
        }
    }
}

impl Serialize for Span {
    fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        s.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Span {
    fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        #[serde(untagged)]
        enum Form {
            Number(u64),
            Text(String),
        }
        let text = match Form::deserialize(d) {
            Ok(Form::Number(n)) => n.to_string(),
            Ok(Form::Text(text)) => text,
            Err(_) => {
                return Err(serde::de::Error::custom("a duration like \"30s\", \"30m\" or \"2h\" is wanted"));
            }
        };
        Self::parse(&text).ok_or_else(|| {
            serde::de::Error::custom(format!("{text:?} is not a duration like \"30s\", \"30m\" or \"2h\""))
        })
    }
}

#[cfg(feature = "schema")]
impl JsonSchema for Span {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Duration".into()
    }
    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({ "type": ["string", "integer"], "pattern": "^[0-9]+[smhd]?$" })
    }
}
