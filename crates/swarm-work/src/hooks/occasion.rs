//! What a hook is told: variables, and the same as one JSON document on its standard input.

use std::collections::BTreeMap;
use std::ffi::OsString;

use serde_json::{Map, Value};
use swarm_process::environment;

/// The kernel refuses a variable of 128 KiB; the document on standard input has the whole of it.
const VALUE_MAX_BYTES: usize = 96 * 1024;

/// All variables together; the kernel takes 2 MiB with the arguments.
const ALL_MAX_BYTES: usize = 512 * 1024;

/// Variables that are lists, a line each; in the document they are arrays.
const LISTS: [&str; 3] = ["FILES", "RUNNING_TASKS", "RUNNING_IDEAS"];

/// Variables that are numbers.
const NUMBERS: [&str; 2] = ["DURATION", "LEVEL"];

/// Tasks were once called ideas: each variable of the left has a twin.
const TWINS: [(&str, &str); 2] = [("TASK_ID", "IDEA_ID"), ("RUNNING_TASKS", "RUNNING_IDEAS")];

/// Why a hook runs. Names without `SWARM_`: `TASK_ID`, `AGENT`, `FILES` …
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Occasion {
    pub hook: String,
    pub variables: BTreeMap<String, String>,
    /// The span that the hook's own belong below.
    pub traceparent: Option<String>,
}

impl Occasion {
    pub fn new(hook: &str, variables: &BTreeMap<String, String>) -> Self {
        let bare = |name: &String| name.strip_prefix("SWARM_").unwrap_or(name).to_owned();
        let mut all: BTreeMap<String, String> =
            variables.iter().map(|(name, value)| (bare(name), value.clone())).collect();
        for (one, other) in TWINS {
            for (from, to) in [(one, other), (other, one)] {
                if let Some(value) = all.get(from).cloned() {
                    all.entry(to.to_owned()).or_insert(value);
                }
            }
        }
        Self { hook: hook.to_owned(), variables: all, traceparent: None }
    }

    /// For the environment of the program: bounded, so that no list keeps it from starting.
    pub(super) fn environment(&self) -> Vec<(OsString, OsString)> {
        let mut left = ALL_MAX_BYTES;
        let mut all = vec![("SWARM_HOOK".into(), self.hook.clone().into())];
        all.extend(self.traceparent.iter().map(|parent| (environment::TRACEPARENT.into(), parent.into())));
        for (name, value) in &self.variables {
            let value = value.replace('\0', "");
            let value = cut(&value, VALUE_MAX_BYTES.min(left));
            left -= value.len();
            all.push((format!("SWARM_{name}").into(), value.into()));
        }
        all
    }
}

/// `{"hook":"post-complete","taskId":"1.2","duration":12,"files":["a","b"]}`
pub fn document(occasion: &Occasion) -> Value {
    let mut keys = Map::new();
    keys.insert("hook".into(), Value::String(occasion.hook.clone()));
    for (name, value) in &occasion.variables {
        let told = if LISTS.contains(&name.as_str()) {
            value.lines().filter(|line| !line.is_empty()).map(|line| Value::String(line.into())).collect()
        } else {
            let number = NUMBERS.contains(&name.as_str()).then(|| value.parse::<u64>().ok()).flatten();
            number.map_or_else(|| Value::String(value.clone()), Value::from)
        };
        keys.insert(camel_case(name), told);
    }
    Value::Object(keys)
}

/// `RUNNING_TASKS` → `runningTasks`.
fn camel_case(name: &str) -> String {
    let mut out = String::new();
    for (n, part) in name.split('_').enumerate() {
        let lower = part.to_ascii_lowercase();
        match (n, lower.chars().next()) {
            (0, _) | (_, None) => out.push_str(&lower),
            (_, Some(first)) => {
                out.push(first.to_ascii_uppercase());
                out.push_str(&lower[first.len_utf8()..]);
            }
        }
    }
    out
}

/// The beginning: whole lines where there are several, never half a character.
fn cut(text: &str, max: usize) -> &str {
    if text.len() <= max {
        return text;
    }
    let mut end = max;
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    let whole_lines = text[..end].rfind('\n');
    &text[..whole_lines.unwrap_or(end)]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn occasion(variables: &[(&str, &str)]) -> Occasion {
        let variables = variables.iter().map(|(name, value)| ((*name).into(), (*value).into())).collect();
        Occasion::new("on-conflict", &variables)
    }

    #[test]
    fn the_document_has_lists_as_lists_and_numbers_as_numbers() {
        let told = occasion(&[("SWARM_TASK_ID", "1.2"), ("FILES", "a b\nc\n"), ("LEVEL", "3")]);
        let expected = serde_json::json!({
            "hook": "on-conflict", "taskId": "1.2", "ideaId": "1.2", "files": ["a b", "c"], "level": 3,
        });
        assert_eq!(document(&told), expected);
    }

    #[test]
    fn a_list_that_the_kernel_would_refuse_is_cut_at_a_line() {
        let files: String = (0..20_000).map(|n| format!("dir/file-{n:08}.txt\n")).collect();
        let told = occasion(&[("FILES", &files)]);
        let environment = told.environment();
        let (_, value) = environment.iter().find(|(name, _)| name == "SWARM_FILES").expect("it is told");
        let value = value.to_str().expect("text");
        assert!(value.len() <= VALUE_MAX_BYTES && value.ends_with(".txt") && files.starts_with(value));
        assert_eq!(document(&told)["files"].as_array().map(Vec::len), Some(20_000));
    }
}
