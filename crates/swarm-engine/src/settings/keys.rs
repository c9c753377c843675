//! The keys there are, read off the defaults and the schema, so that no second list can go stale. The schema is the
//! printed one: a test compares it with the types.

use serde_json::Value;
use swarm_protocol::config::{
    Bounds, Budget, Commands, Config, Hook, Member, Price, Span, check_members, check_prices,
};
use swarm_protocol::near::distance;

const SCHEMA: &str = include_str!("../../reference/config.schema.json");

/// Reviewers by tag.
const TAGS: &str = "review.tags";
const IN_TAGS: &str = "review.tags.";

/// Keys of the terminal UI by what they do. The terminal UI knows which there are.
const IN_TUI: &str = "tui.keys.";

/// The agent programs there are adapters for.
const PROGRAMS: &[&str] = &["claude", "codex", "gemini", "opencode", "acp", "exec", "script"];

pub(super) struct Keys {
    /// Dotted keys that hold a value.
    leaves: Vec<String>,
    groups: Vec<String>,
    /// What a profile may set; the profiles' own names are the user's.
    profile: Vec<String>,
    defaults: Value,
    schema: Value,
}

impl Keys {
    pub fn new() -> Self {
        // What is absent by default has keys and types all the same: those of any list of commands, of any bound.
        let bounds = Bounds { tokens: Some(0), dollars: Some(0.0), time: Some(Span::secs(0)) };
        let budget = Budget { task: bounds.clone(), session: bounds };
        let (verify, network) = (Some(Commands::default()), Some(true));
        let full = Config { verify, network, budget, ..Config::default() };
        let defaults = serde_json::to_value(full).unwrap_or_default();
        let schema: Value = serde_json::from_str(SCHEMA).unwrap_or_default();
        let (mut leaves, mut groups) = (Vec::new(), Vec::new());
        collect("", &defaults, &mut leaves, &mut groups);
        let members = schema.pointer("/$defs/Profile/properties").and_then(Value::as_object);
        let profile = members.map(|members| members.keys().cloned().collect()).unwrap_or_default();
        Self { leaves, groups, profile, defaults, schema }
    }

    pub fn leaves(&self) -> &[String] {
        &self.leaves
    }

    pub fn is_group(&self, key: &str) -> bool {
        key != TAGS && self.groups.iter().any(|group| group == key) || matches!(in_profile(key), Some(None))
    }

    /// Whether the key lies inside a value that is taken as a whole: a hook is a path or an object, a tag may have any
    /// name.
    pub fn is_inside(&self, key: &str) -> bool {
        matches!(in_hook(key), Some((_, Some(_)))) || key.starts_with(IN_TAGS)
    }

    pub fn knows(&self, key: &str) -> bool {
        if let Some((name, member)) = in_hook(key) {
            let known = |member| ["command", "timeout", "blocking"].contains(&member);
            return Hook::canonical(name).is_some() && member.is_none_or(known);
        }
        if key == TAGS || key.starts_with(IN_TAGS) || key.starts_with(IN_TUI) {
            return true;
        }
        let of_profile =
            in_profile(key).flatten().is_some_and(|member| self.profile.iter().any(|known| known == member));
        of_profile || self.is_group(key) || self.leaves.iter().any(|leaf| leaf == key)
    }

    /// What to say about a key that does not exist.
    pub fn unknown(&self, key: &str) -> (String, String) {
        if let Some(why) = super::elsewhere::why(key) {
            return (format!("there is no key {key}: {why}"), "`swarm help config` lists every key".into());
        }
        let last = key.rsplit('.').next().unwrap_or(key);
        let profile: Vec<String> = match in_profile(key).flatten() {
            Some(member) => {
                let stem = &key[..key.len() - member.len()];
                self.profile.iter().map(|known| format!("{stem}{known}")).collect()
            }
            None => vec![],
        };
        let hooks: Vec<String> = Hook::NAMES.iter().map(|name| format!("hooks.{name}")).collect();
        let all = self.leaves.iter().chain(&self.groups).chain(&profile).chain(&hooks);
        let near = all
            .filter_map(|known| {
                // How far is measured against what was compared: a long key is not near to every short word.
                let near = |far: usize, to: &str| (far <= 1 + to.len() / 4).then_some(far);
                let known_last = known.rsplit('.').next().unwrap_or(known);
                let by_end = near(distance(last, known_last), known_last).map(|far| far + 1);
                Some((near(distance(key, known), known).or(by_end)?, known))
            })
            .min();
        let hint = match near {
            Some((_, known)) => format!("Did you mean {known}?"),
            None => "`swarm help config` lists every key".into(),
        };
        (format!("there is no key {key}"), hint)
    }

    /// A text from the environment or the command line in the type that the key has.
    pub fn value_of(&self, key: &str, text: &str) -> Value {
        let default = key.split('.').try_fold(&self.defaults, |value, part| value.get(part));
        match default {
            Some(Value::Number(_) | Value::Bool(_)) => {
                serde_json::from_str(text).unwrap_or_else(|_| text.into())
            }
            // A list may be written as JSON; otherwise the text is its only element.
            Some(Value::Array(_)) => match json5::from_str(text) {
                Ok(list @ Value::Array(_)) => list,
                _ => Value::Array(vec![text.into()]),
            },
            _ => text.into(),
        }
    }

    /// The bounds that the schema states, and those that no schema can.
    pub fn check(&self, key: &str, value: &Value) -> Result<(), String> {
        let member = self.schema_of(key);
        let bound = |name: &str| member.and_then(|member| member.get(name)).and_then(Value::as_i64);
        if let Some(number) = value.as_i64() {
            if let Some(least) = bound("minimum").filter(|least| number < *least) {
                return Err(format!("{number} is too small, at least {least} is wanted"));
            }
            if let Some(most) = bound("maximum").filter(|most| number > *most) {
                return Err(format!("{number} is too large, at most {most} is allowed"));
            }
        }
        let text = value.as_str().unwrap_or_default();
        if let Some((name, member)) = key.strip_prefix("profiles.").and_then(|rest| rest.split_once('.')) {
            return check_profile(name, member, text);
        }
        if in_hook(key).is_some() {
            return check_hook(value);
        }
        match key {
            "stall" => check_stall(value),
            "agent" if text.trim().is_empty() => Err("it names no agent program".into()),
            "worktree.dir" => check_folder(text),
            "merge.protected" => {
                let patterns: Vec<String> =
                    serde_json::from_value(value.clone()).map_err(|error| error.to_string())?;
                swarm_work::protected::check(&patterns)
            }
            "review.council.members" => {
                let members: Vec<Member> =
                    serde_json::from_value(value.clone()).map_err(|error| error.to_string())?;
                check_members(&members)
            }
            "prices.models" => {
                let prices: Vec<Price> =
                    serde_json::from_value(value.clone()).map_err(|error| error.to_string())?;
                check_prices(&prices)
            }
            "maxTaskDuration"
            | "check.timeout"
            | "scan.timeout"
            | "verify.timeout"
            | "review.timeout"
            | "plan.timeout"
            | "worktree.setupTimeout"
                if is_zero(value) =>
            {
                Err("it must be longer than nothing".into())
            }
            "budget.task.dollars" | "budget.session.dollars"
                if value.as_f64().is_some_and(|dollars| dollars < 0.0) =>
            {
                Err("it is below nothing; 0 is no bound".into())
            }
            _ => Ok(()),
        }
    }

    fn schema_of(&self, key: &str) -> Option<&Value> {
        let mut at = &self.schema;
        for part in key.split('.') {
            at = self.follow(at).get("properties")?.get(part)?;
        }
        Some(self.follow(at))
    }

    /// Through a reference into the definitions; an optional member refers inside `anyOf`.
    fn follow<'a>(&'a self, schema: &'a Value) -> &'a Value {
        let first = schema.get("anyOf").and_then(|any| any.get(0)).unwrap_or(schema);
        let name = first.get("$ref").and_then(Value::as_str).and_then(|name| name.strip_prefix("#/$defs/"));
        name.and_then(|name| self.schema.get("$defs")?.get(name)).unwrap_or(first)
    }
}

/// The member that a key of the form `profiles.NAME.member` names; `Some(None)` for the profile itself.
fn in_profile(key: &str) -> Option<Option<&str>> {
    let rest = key.strip_prefix("profiles.")?;
    Some(rest.split_once('.').map(|(_, member)| member))
}

/// The name, and the member, of a key of the form `hooks.NAME` or `hooks.NAME.member`.
fn in_hook(key: &str) -> Option<(&str, Option<&str>)> {
    let rest = key.strip_prefix("hooks.")?;
    Some(rest.split_once('.').map_or((rest, None), |(name, member)| (name, Some(member))))
}

fn check_hook(value: &Value) -> Result<(), String> {
    let command = value.as_str().or_else(|| value["command"].as_str()).unwrap_or_default();
    if command.trim().is_empty() {
        return Err("it names no program".into());
    }
    match value.get("timeout").is_some_and(is_zero) {
        true => Err("its timeout must be longer than nothing".into()),
        false => Ok(()),
    }
}

fn check_profile(name: &str, member: &str, text: &str) -> Result<(), String> {
    let plain = name.chars().all(|c| c.is_ascii_alphanumeric() || "-_".contains(c));
    if name.is_empty() || name.len() > 64 || !plain {
        return Err(format!("{name:?} is no name for a profile: letters, digits, - and _ only"));
    }
    if member == "program" && !PROGRAMS.contains(&text) {
        return Err(format!("there is no agent program {text:?}: use {}", PROGRAMS.join(", ")));
    }
    Ok(())
}

/// The programs begin again by themselves after 300 s of silence: by then we must have noticed.
fn check_stall(value: &Value) -> Result<(), String> {
    let span: Span = serde_json::from_value(value.clone()).map_err(|error| error.to_string())?;
    match span.secs {
        1..300 => Ok(()),
        _ => Err("it must be between 1s and 299s".into()),
    }
}

/// Places are under the swarm's root: an absolute one would not mean the same on another machine.
fn check_folder(text: &str) -> Result<(), String> {
    let path = std::path::Path::new(text);
    let inside = path.components().all(|part| matches!(part, std::path::Component::Normal(_)));
    if text.is_empty() || !inside {
        return Err(format!("{text:?} is not a folder below the repository's root"));
    }
    Ok(())
}

fn is_zero(value: &Value) -> bool {
    value.as_u64() == Some(0)
        || value.as_str().is_some_and(|text| text.trim_end_matches(['s', 'm', 'h', 'd']).parse() == Ok(0u64))
}

/// `recovery.maxRetries` → `SWARM_RECOVERY_MAX_RETRIES`.
pub fn env_name(key: &str) -> String {
    let mut name = String::from("SWARM_");
    for c in key.chars() {
        match c {
            '.' => name.push('_'),
            c if c.is_ascii_uppercase() => {
                name.push('_');
                name.push(c);
            }
            c => name.push(c.to_ascii_uppercase()),
        }
    }
    name
}

fn collect(prefix: &str, value: &Value, leaves: &mut Vec<String>, groups: &mut Vec<String>) {
    let Value::Object(members) = value else {
        leaves.push(prefix.to_owned());
        return;
    };
    if !prefix.is_empty() {
        groups.push(prefix.to_owned());
    }
    for (name, value) in members {
        let key = if prefix.is_empty() { name.clone() } else { format!("{prefix}.{name}") };
        collect(&key, value, leaves, groups);
    }
}
