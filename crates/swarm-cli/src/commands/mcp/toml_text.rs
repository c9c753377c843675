//! One table of a TOML file set, and the rest left as it is.

use serde_json::Value;

/// The text with this table's `command` and `args` set. Other members of the table stay.
pub fn set(text: &str, table: &str, command: &str, args: &[String]) -> Result<String, String> {
    let parent = table.split('.').next().unwrap_or(table);
    let inline = |line: &str| {
        line.trim_start().strip_prefix(parent).is_some_and(|rest| rest.trim_start().starts_with(['=', '.']))
    };
    if let Some(at) = text.lines().position(inline) {
        return Err(format!("line {}: {parent} is not written as tables", at + 1));
    }
    // A text of JSON is one of TOML too.
    let list: Vec<String> = args.iter().map(|arg| Value::from(arg.as_str()).to_string()).collect();
    let ours = [format!("command = {}", Value::from(command)), format!("args = [{}]", list.join(", "))];
    let head = format!("[{table}]");
    let lines: Vec<&str> = text.lines().collect();
    let Some(start) = lines.iter().position(|line| line.trim() == head) else {
        let gap = match text {
            "" => "",
            text if text.ends_with("\n\n") => "",
            text if text.ends_with('\n') => "\n",
            _ => "\n\n",
        };
        return Ok(format!("{text}{gap}{head}\n{}\n", ours.join("\n")));
    };
    let end = lines[start + 1..].iter().position(|line| line.trim_start().starts_with('['));
    let end = end.map_or(lines.len(), |at| start + 1 + at);
    let mut made: Vec<String> = lines[..=start].iter().map(|line| (*line).to_owned()).collect();
    made.extend(ours);
    made.extend(others(&lines[start + 1..end]));
    made.extend(lines[end..].iter().map(|line| (*line).to_owned()));
    Ok(made.join("\n") + "\n")
}

/// Lines of a table without `command` and `args`, which may go over several lines.
fn others(lines: &[&str]) -> Vec<String> {
    let mut kept = Vec::new();
    let mut in_list = false;
    for line in lines {
        let name = line.split('=').next().unwrap_or_default().trim();
        if in_list {
            in_list = !line.contains(']');
        } else if matches!(name, "command" | "args") {
            in_list = line.contains('[') && !line.contains(']');
        } else {
            kept.push((*line).to_owned());
        }
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    fn set_swarm(text: &str) -> String {
        set(text, "mcp_servers.swarm", "swarm", &["mcp".into()]).expect("it fits")
    }

    const OURS: &str = "[mcp_servers.swarm]\ncommand = \"swarm\"\nargs = [\"mcp\"]\n";

    #[test]
    fn a_table_is_added_behind_what_is_there() {
        assert_eq!(set_swarm(""), OURS);
        let theirs = "# mine\nmodel = \"x\"\n\n[mcp_servers.other]\ncommand = \"y\"\n";
        assert_eq!(set_swarm(theirs), format!("{theirs}\n{OURS}"));
    }

    #[test]
    fn an_old_table_keeps_what_is_not_ours_and_a_second_time_changes_nothing() {
        let theirs = "[mcp_servers.swarm]\ncommand = \"old\"\nargs = [\n  \"a\",\n]\nstartup_timeout_sec = 20\n[b]\nc = 1\n";
        let once = set_swarm(theirs);
        assert_eq!(once, format!("{OURS}startup_timeout_sec = 20\n[b]\nc = 1\n"));
        assert_eq!(set_swarm(&once), once);
    }

    #[test]
    fn what_is_written_in_another_way_is_left_to_the_person() {
        let refused = set("mcp_servers = { a = {} }\n", "mcp_servers.swarm", "swarm", &[]);
        assert_eq!(refused, Err("line 1: mcp_servers is not written as tables".into()));
        assert!(set("mcp_servers.a.command = \"x\"\n", "mcp_servers.swarm", "swarm", &[]).is_err());
    }
}
