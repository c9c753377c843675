//! The members of an object, found first and read one by one.
//!
//! A type of its own for the members of each kind of event would be simpler to write and three quarters of what this
//! crate costs to build: a hundred kinds share some forty types, and those are read here once each.

use std::borrow::Cow;
use std::fmt;

use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde_json::value::RawValue;

use crate::record::RecordError;

/// Most events have fewer members than this, with those that every record has.
const USUAL: usize = 8;

/// What stands for a member that is not there: an optional one reads it as none, any other one refuses it.
const ABSENT: &str = "null";

pub(super) struct Members<'a> {
    found: Vec<(Cow<'a, str>, &'a RawValue)>,
    /// The whole object is not there: an earlier version may have had no member that this one knows.
    missing: bool,
}

#[derive(serde::Deserialize)]
struct Name<'a>(#[serde(borrow)] Cow<'a, str>);

impl<'a> Members<'a> {
    pub fn of(object: &'a [u8]) -> Result<Self, RecordError> {
        serde_json::from_slice(object).map_err(unfit)
    }

    /// The members of the object that is a member.
    pub fn inside(&self, name: &str) -> Result<Self, RecordError> {
        match self.text(name)? {
            None | Some(ABSENT) => Ok(Self { found: Vec::new(), missing: true }),
            Some(object) => serde_json::from_str(object).map_err(unfit),
        }
    }

    pub fn read<T: Deserialize<'a>>(&self, name: &str) -> Result<T, RecordError> {
        let text = self.text(name)?;
        serde_json::from_str(text.unwrap_or(ABSENT)).map_err(|error| match text {
            _ if self.missing => RecordError::NoData,
            None => RecordError::Members(format!("missing field `{name}`")),
            Some(_) => RecordError::Members(format!("`{name}`: {error}")),
        })
    }

    fn text(&self, name: &str) -> Result<Option<&'a str>, RecordError> {
        let mut named = self.found.iter().filter(|(found, _)| found == name);
        let first = named.next().map(|(_, value)| value.get());
        match named.next() {
            Some(_) => Err(RecordError::Members(format!("duplicate field `{name}`"))),
            None => Ok(first),
        }
    }
}

impl<'de> Deserialize<'de> for Members<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(Finding)
    }
}

struct Finding;

impl<'de> Visitor<'de> for Finding {
    type Value = Members<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut found = Vec::with_capacity(USUAL);
        while let Some((Name(name), value)) = map.next_entry()? {
            found.push((name, value));
        }
        Ok(Members { found, missing: false })
    }
}

fn unfit(error: serde_json::Error) -> RecordError {
    RecordError::Members(error.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn members_are_read_by_name_whatever_their_order() {
        let members = Members::of(br#"{ "n":3, "other":[{}], "data":{"text":"a \"b\""}, "b\u0079":"x" }"#)
            .expect("an object");
        assert_eq!(members.read::<u64>("n"), Ok(3));
        assert_eq!(members.read::<String>("by"), Ok("x".into()));
        assert_eq!(members.read::<Option<u64>>("none"), Ok(None));
        let data = members.inside("data").expect("an object");
        assert_eq!(data.read::<String>("text"), Ok("a \"b\"".into()));
    }

    #[test]
    fn a_member_that_is_missing_twice_there_or_of_another_type_is_named() {
        let members = Members::of(br#"{"n":"three","m":1,"m":2}"#).expect("an object");
        let said = |name| members.read::<u64>(name).expect_err("it does not fit").to_string();
        assert!(said("n").contains("`n`: invalid type: string \"three\", expected u64"), "{}", said("n"));
        assert!(said("m").ends_with("duplicate field `m`"), "{}", said("m"));
        assert!(said("o").ends_with("missing field `o`"), "{}", said("o"));
        assert!(Members::of(b"[1]").is_err() && Members::of(b"{").is_err());
    }

    #[test]
    fn an_object_that_is_not_there_has_only_what_may_be_absent() {
        for text in [r#"{"x":1}"#, r#"{"data":null}"#] {
            let data =
                Members::of(text.as_bytes()).and_then(|members| members.inside("data")).expect("no object");
            assert_eq!(data.read::<Option<String>>("why"), Ok(None));
            assert_eq!(data.read::<String>("why"), Err(RecordError::NoData));
        }
    }
}
