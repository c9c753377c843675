//! One member of a JSON file set, and not a byte of the rest changed: people keep their own order, indentation and,
//! where a client allows it, comments.

use serde_json::Value;

/// The text with the member at `path` set to `value`.
pub fn set(text: &str, path: &[&str], value: &Value) -> Result<String, String> {
    if text.trim().is_empty() {
        return Ok(format!("{}\n", pretty(&nested(path, value), 0)));
    }
    let mut scan = Scan { text, at: 0 };
    scan.space();
    let mut open = scan.at;
    for (depth, name) in path.iter().enumerate() {
        let rest = &path[depth + 1..];
        match member(text, open, name)? {
            None => return Ok(insert(text, open, depth + 1, name, &nested(rest, value))),
            Some((start, end)) if rest.is_empty() => {
                return Ok(format!("{}{}{}", &text[..start], pretty(value, depth + 1), &text[end..]));
            }
            Some((start, _)) => open = start,
        }
    }
    Err("no member is named".into())
}

/// The value below the names on the way to it.
fn nested(path: &[&str], value: &Value) -> Value {
    path.iter().rev().fold(value.clone(), |inner, name| {
        let mut object = serde_json::Map::new();
        object.insert((*name).to_owned(), inner);
        Value::Object(object)
    })
}

/// Lines below the first are indented to where the value stands.
fn pretty(value: &Value, depth: usize) -> String {
    let text = serde_json::to_string_pretty(value).unwrap_or_default();
    text.replace('\n', &format!("\n{}", "  ".repeat(depth)))
}

/// As the first member, so that no comma of somebody else's has to be looked for.
fn insert(text: &str, open: usize, depth: usize, name: &str, value: &Value) -> String {
    let mut scan = Scan { text, at: open + 1 };
    scan.space();
    let empty = text[scan.at..].starts_with('}');
    let member = format!("\n{}{}: {}", "  ".repeat(depth), Value::from(name), pretty(value, depth));
    let rest = &text[open + 1..];
    match empty {
        true => format!("{}{member}\n{}{}", &text[..=open], "  ".repeat(depth - 1), rest.trim_start()),
        false => format!("{}{member},{rest}", &text[..=open]),
    }
}

/// Where the value of a member of the object at `open` begins and ends.
fn member(text: &str, open: usize, name: &str) -> Result<Option<(usize, usize)>, String> {
    let mut scan = Scan { text, at: open };
    scan.expect('{')?;
    loop {
        scan.space();
        if scan.peek() == Some('}') {
            return Ok(None);
        }
        let key = scan.at;
        scan.string()?;
        let is_it = serde_json::from_str::<String>(&text[key..scan.at]).is_ok_and(|key| key == name);
        scan.space();
        scan.expect(':')?;
        scan.space();
        let start = scan.at;
        scan.value()?;
        if is_it {
            return Ok(Some((start, scan.at)));
        }
        scan.space();
        if scan.peek() == Some(',') {
            scan.at += 1;
        }
    }
}

struct Scan<'a> {
    text: &'a str,
    at: usize,
}

impl Scan<'_> {
    fn rest(&self) -> &str {
        &self.text[self.at..]
    }

    fn peek(&self) -> Option<char> {
        self.rest().chars().next()
    }

    fn expect(&mut self, letter: char) -> Result<(), String> {
        if self.peek() != Some(letter) {
            let line = self.text[..self.at].lines().count().max(1);
            return Err(format!("line {line}: {letter:?} is missing"));
        }
        self.at += letter.len_utf8();
        Ok(())
    }

    /// Blanks and comments.
    fn space(&mut self) {
        loop {
            let rest = self.rest();
            let trimmed = rest.trim_start_matches(|c: char| c.is_whitespace() || c == '\u{feff}');
            let mut skip = rest.len() - trimmed.len();
            if trimmed.starts_with("//") {
                skip += trimmed.find('\n').unwrap_or(trimmed.len());
            } else if trimmed.starts_with("/*") {
                skip += trimmed.find("*/").map_or(trimmed.len(), |end| end + 2);
            } else {
                self.at += skip;
                return;
            }
            self.at += skip;
        }
    }

    fn string(&mut self) -> Result<(), String> {
        self.expect('"')?;
        let mut escaped = false;
        for (at, letter) in self.rest().char_indices() {
            match letter {
                _ if escaped => escaped = false,
                '\\' => escaped = true,
                '"' => {
                    self.at += at + 1;
                    return Ok(());
                }
                _ => {}
            }
        }
        Err("a text does not end".into())
    }

    /// Any value, up to its end. Counts brackets instead of calling itself, so that depth costs nothing.
    fn value(&mut self) -> Result<(), String> {
        let mut depth = 0_u32;
        loop {
            self.space();
            match self.peek() {
                None => return Err("the file ends in the middle of a value".into()),
                Some('{' | '[') => {
                    depth += 1;
                    self.at += 1;
                    continue;
                }
                Some('}' | ']') => {
                    depth = depth.checked_sub(1).ok_or("a bracket is too much")?;
                    self.at += 1;
                }
                Some(',' | ':') if depth > 0 => {
                    self.at += 1;
                    continue;
                }
                Some('"') => self.string()?,
                Some(_) => {
                    let ends = |c: char| c.is_whitespace() || ",:]}/".contains(c);
                    let word = self.rest().find(ends).unwrap_or(self.rest().len());
                    if word == 0 {
                        return Err("a value is missing".into());
                    }
                    self.at += word;
                }
            }
            if depth == 0 {
                return Ok(());
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    const PATH: [&str; 2] = ["mcpServers", "swarm"];

    fn set_swarm(text: &str) -> String {
        set(text, &PATH, &json!({ "command": "swarm" })).expect("it is JSON")
    }

    #[test]
    fn a_new_file_holds_nothing_but_the_entry() {
        let made: Value = serde_json::from_str(&set_swarm("")).expect("JSON");
        assert_eq!(made, json!({ "mcpServers": { "swarm": { "command": "swarm" } } }));
        assert_eq!(set_swarm("{}\n").matches("swarm").count(), 2);
    }

    #[test]
    fn what_is_there_stays_in_its_order_and_form() {
        let theirs = "{\n\t\"z\": [1,2,  {\"a\":\"}\\\"\"}],\n\t\"mcpServers\": {\"other\": {\"command\": \"x\"}},\n\t\"a\": null\n}\n";
        let made = set_swarm(theirs);
        let (before, after) = theirs.split_once("\"other\"").expect("it");
        assert!(made.starts_with(before) && made.ends_with(&format!("\"other\"{after}")), "{made}");
        let value: Value = serde_json::from_str(&made).expect("JSON");
        assert_eq!(value["mcpServers"]["swarm"], json!({ "command": "swarm" }));
        assert_eq!(value["mcpServers"]["other"], json!({ "command": "x" }));
    }

    #[test]
    fn an_old_entry_is_replaced_and_a_second_time_changes_nothing() {
        let theirs = r#"{"mcpServers":{"swarm":{"command":"old","args":[1]},"b":{}},"c":1}"#;
        let once = set_swarm(theirs);
        assert!(!once.contains("old"), "{once}");
        assert!(once.ends_with(r#","b":{}},"c":1}"#), "{once}");
        assert_eq!(set_swarm(&once), once);
    }

    #[test]
    fn comments_are_kept() {
        let made = set_swarm("// mine {\n{ /* here */ \"a\": 1, // there\n}\n");
        assert!(made.starts_with("// mine {\n{\n  \"mcpServers\"") && made.contains("// there"), "{made}");
    }

    #[test]
    fn what_is_no_object_is_refused() {
        for text in ["[1]", "{\"mcpServers\": [1]}", "{\"a\": \"x", "{\"a\":}", "nonsense"] {
            assert!(set(text, &PATH, &json!(1)).is_err(), "{text}");
        }
    }
}
