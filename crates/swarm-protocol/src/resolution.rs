//! What an agent answers that was asked to resolve conflicts: JSON at the end of its last message.

use std::collections::BTreeMap;

use serde::Deserialize;

use crate::answer::last_object;

/// How the lines begin that git puts around what conflicts. The line between the two sides is not among them: headings are
/// underlined like that.
const MARKS: [&str; 3] = ["<<<<<<< ", "||||||| ", ">>>>>>> "];

/// What the agent makes of the files that conflict, whole. None: the file is to be gone.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Resolution(BTreeMap<String, Option<String>>);

#[derive(Deserialize)]
struct Said {
    files: Vec<One>,
}

#[derive(Deserialize)]
struct One {
    path: String,
    #[serde(default)]
    text: Option<String>,
    #[serde(default)]
    delete: bool,
}

impl Resolution {
    /// The last JSON object of the message. Its `Err` is what the agent is told when it is asked once more.
    pub fn read(answer: &str) -> Result<Self, String> {
        let said: Said = serde_json::from_value(last_object(answer)?)
            .map_err(|error| format!("the JSON object is not a resolution: {error}"))?;
        let mut files = BTreeMap::new();
        for One { path, text, delete } in said.files {
            if text.is_some() == delete {
                return Err(format!("{path} needs either a text, or \"delete\": true"));
            }
            if text.as_deref().is_some_and(has_marks) {
                return Err(format!("{path} still has marks of the conflict in it"));
            }
            if text.as_deref().is_some_and(|text| text.contains('\0')) {
                return Err(format!("{path} is not text"));
            }
            if files.insert(path.clone(), text).is_some() {
                return Err(format!("{path} is named twice"));
            }
        }
        Ok(Self(files))
    }

    /// What becomes of each of these files, in their order: of them all, and of no other.
    pub fn of(mut self, paths: &[String]) -> Result<Vec<Option<String>>, String> {
        let mut texts = Vec::new();
        for path in paths {
            texts.push(self.0.remove(path).ok_or_else(|| format!("it says nothing about {path}"))?);
        }
        match self.0.into_keys().next() {
            Some(path) => Err(format!("it names {path}, which does not conflict")),
            None => Ok(texts),
        }
    }
}

fn has_marks(text: &str) -> bool {
    text.lines().any(|line| MARKS.iter().any(|mark| line.starts_with(mark)) || line == ">>>>>>>")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(answer: &str, expected: Result<&[Option<&str>], &str>) {
        let paths = ["a.rs".to_owned(), "b.rs".to_owned()];
        let read = Resolution::read(answer).and_then(|resolution| resolution.of(&paths));
        let read = read.as_ref().map(|texts| texts.iter().map(Option::as_deref).collect::<Vec<_>>());
        match expected {
            Ok(texts) => assert_eq!(read, Ok(texts.to_vec()), "{answer}"),
            Err(part) => {
                assert!(read.as_ref().is_err_and(|why| why.contains(part)), "{answer}: {read:?}");
            }
        }
    }

    #[test]
    fn every_file_that_conflicts_and_no_other_gets_a_text_or_goes() {
        let b = r#"{"path": "b.rs", "delete": true}"#;
        let with = |a: &str| format!("I looked.\n{{\"files\": [{a}, {b}]}}");
        check(&with(r#"{"path": "a.rs", "text": "one\n=======\n"}"#), Ok(&[Some("one\n=======\n"), None]));
        check(&with(r#"{"path": "a.rs"}"#), Err("needs either a text"));
        check(&with(r#"{"path": "a.rs", "text": "x", "delete": true}"#), Err("needs either a text"));
        check(&with(r#"{"path": "b.rs", "text": "x"}"#), Err("named twice"));
        check(&with(r#"{"path": "c.rs", "text": "x"}"#), Err("nothing about a.rs"));
        check(&with(r#"{"path": "a.rs", "text": "x"}, {"path": "c.rs", "text": "x"}"#), Err("names c.rs"));
        check(&with(r#"{"path": "a.rs", "text": "<<<<<<< main\nx"}"#), Err("marks of the conflict"));
        check(&with(r#"{"path": "a.rs", "text": "x\n>>>>>>> y\n"}"#), Err("marks of the conflict"));
        check(&with(r#"{"path": "a.rs", "text": "a\u0000b"}"#), Err("not text"));
        check("I cannot do it", Err("no JSON object"));
        check(r#"{"verdict": "approve"}"#, Err("not a resolution"));
    }
}
