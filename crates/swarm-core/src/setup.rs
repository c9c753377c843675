//! Whether two failures to set a worktree up are the same one.

use swarm_protocol::ids::TaskId;

/// The text with the task's name taken out, so that two tasks that fail alike say the same.
pub fn without_name(text: &str, task: &TaskId) -> String {
    let part_of_a_name = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-');
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let in_name = part_of_a_name(first);
        let end = rest.find(|c| part_of_a_name(c) != in_name).unwrap_or(rest.len());
        let (word, after) = rest.split_at(end);
        let is_task = in_name && word.trim_end_matches('.') == task.as_str();
        out.push_str(if is_task { "TASK" } else { word });
        rest = after;
    }
    out
}

#[cfg(test)]
mod tests {
    use super::without_name;
    use swarm_protocol::ids::TaskId;

    #[test]
    fn only_the_name_itself_is_taken_out() {
        let text = |name: &str| format!("npm ci failed in worktrees/{name}: cannot find a.lock of {name}.");
        let without = |name: &str| without_name(&text(name), &TaskId::new(name).expect("an id"));
        assert_eq!(without("1.1"), without("a"));
        assert_eq!(without("a"), "npm ci failed in worktrees/TASK: cannot find a.lock of TASK");
    }
}
