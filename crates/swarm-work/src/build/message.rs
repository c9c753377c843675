//! What the commits on the trunk say.

use swarm_protocol::conflict::Resolved;
use swarm_protocol::ids::{AgentId, TaskId};

use super::Squashed;

/// Subjects named in the message of a squash commit; a task with more says how many.
const SUBJECTS_MAX: usize = 50;

/// The message with the trailers `Swarm-Task` and `Swarm-Agent`, each once.
pub(super) fn with_trailers(message: &[u8], task: &TaskId, agent: Option<&AgentId>) -> Vec<u8> {
    let agent = agent.map_or("person", AgentId::as_str);
    let ours = [format!("Swarm-Task: {task}"), format!("Swarm-Agent: {agent}")];
    let text = without_forged(message.trim_ascii_end(), &ours);
    let mut text = text.trim_ascii_end().to_vec();
    let mut in_trailers = ends_in_trailers(&text);
    for trailer in ours {
        if text.split(|b| *b == b'\n').any(|line| line.trim_ascii() == trailer.as_bytes()) {
            continue;
        }
        text.extend_from_slice(if in_trailers { b"\n" } else { b"\n\n" });
        text.extend_from_slice(trailer.as_bytes());
        in_trailers = true;
    }
    text.push(b'\n');
    text
}

/// Trailers that are ours to write: whose work it is, and what a rollback made of it.
const OURS: [&[u8]; 3] = [b"swarm-task", b"swarm-agent", b"swarm-operation"];

/// Without lines that claim to be trailers of ours and name another task or agent: who wrote the work is our word.
fn without_forged(message: &[u8], ours: &[String]) -> Vec<u8> {
    let claims = |line: &[u8]| {
        let name = line.trim_ascii().split(|b| *b == b':').next().unwrap_or_default().trim_ascii();
        OURS.iter().any(|trailer| name.eq_ignore_ascii_case(trailer))
    };
    let is_ours = |line: &[u8]| ours.iter().any(|own| line.trim_ascii() == own.as_bytes());
    let lines = message.split(|b| *b == b'\n').enumerate();
    // The subject stays whatever it says: without one there is no message.
    let kept = lines.filter(|(at, line)| *at == 0 || !claims(line) || is_ours(line)).map(|(_, line)| line);
    kept.collect::<Vec<_>>().join(&b'\n')
}

/// Whether the last paragraph (never the first, which is the subject) consists of `Word: text` lines.
fn ends_in_trailers(text: &[u8]) -> bool {
    let Some(start) = text.windows(2).rposition(|two| two == b"\n\n") else { return false };
    text[start + 2..].split(|b| *b == b'\n').all(|line| {
        let colon = line.windows(2).position(|two| two == b": ");
        colon.is_some_and(|at| at > 0 && line[..at].iter().all(|b| b.is_ascii_alphanumeric() || *b == b'-'))
    })
}

pub(super) fn subject(message: &[u8]) -> Vec<u8> {
    message
        .split(|b| *b == b'\n')
        .find(|line| !line.trim_ascii().is_empty())
        .unwrap_or(b"(no subject)")
        .to_vec()
}

pub(super) fn of_squash(
    task: &TaskId,
    agent: Option<&AgentId>,
    subjects: &[Vec<u8>],
    why: Squashed,
) -> Vec<u8> {
    let last = subjects.last().cloned().unwrap_or_else(|| b"work".to_vec());
    let mut text = match subjects.len() {
        1 => last,
        n => [&last[..], format!(" (and {} more)", n - 1).as_bytes()].concat(),
    };
    let reason = match why {
        Squashed::MergeInRange => "its branch contains a merge",
        Squashed::PicksConflict => "its commits conflict one by one, though not as a whole",
        Squashed::Asked => "the swarm is configured so",
        Squashed::ByRule => "it conflicts with trunk and rules decided that",
    };
    text.extend(format!("\n\nOne commit for all of {task}, because {reason}:\n\n").bytes());
    list(&mut text, subjects);
    with_trailers(&text, task, agent)
}

pub(super) fn of_merge(task: &TaskId, agent: Option<&AgentId>, subjects: &[Vec<u8>]) -> Vec<u8> {
    let mut last = subjects.last().cloned().unwrap_or_else(|| b"work".to_vec());
    let says_so = format!("Merge {task}: ").into_bytes();
    // Work that is merged again may end in our own merge.
    while let Some(rest) = last.strip_prefix(&says_so[..]) {
        last = rest.to_vec();
    }
    let mut text = [&says_so[..], &last].concat();
    if subjects.len() > 1 {
        text.extend_from_slice(b"\n\n");
        list(&mut text, subjects);
    }
    with_trailers(&text, task, agent)
}

/// Of the commit that brings the trunk into the task's branch.
pub(super) fn of_join(task: &TaskId, agent: Option<&AgentId>, resolved: &[Resolved]) -> Vec<u8> {
    let mut text = format!("Merge trunk into {}\n\nConflicts decided by rule:\n", task.branch()).into_bytes();
    for Resolved { path, way } in resolved.iter().take(SUBJECTS_MAX) {
        text.extend(format!("\n- {path} ({})", way.word()).bytes());
    }
    with_trailers(&text, task, agent)
}

fn list(text: &mut Vec<u8>, subjects: &[Vec<u8>]) {
    for one in subjects.iter().take(SUBJECTS_MAX) {
        text.extend_from_slice(b"- ");
        text.extend_from_slice(one);
        text.push(b'\n');
    }
    if let Some(more) = subjects.len().checked_sub(SUBJECTS_MAX).filter(|more| *more > 0) {
        text.extend(format!("- and {more} more\n").bytes());
    }
}

#[cfg(test)]
mod tests {
    use super::{of_merge, with_trailers};
    use swarm_protocol::ids::{AgentId, TaskId};

    #[test]
    fn trailers_are_added_once_and_join_a_block_that_is_there() {
        let check = |message: &str, expected: &str| {
            let (task, agent) = (TaskId::new("1.2").unwrap(), AgentId::new("ed-001").unwrap());
            let once = with_trailers(message.as_bytes(), &task, Some(&agent));
            assert_eq!(String::from_utf8_lossy(&once), expected);
            assert_eq!(with_trailers(&once, &task, Some(&agent)), once, "a second time changes nothing");
        };
        check("fix: it\n", "fix: it\n\nSwarm-Task: 1.2\nSwarm-Agent: ed-001\n");
        check(
            "fix: it\n\nReviewed-by: B\nSwarm-Task: 9.9\nswarm-agent : root\nSwarm-Operation: mine\n",
            "fix: it\n\nReviewed-by: B\nSwarm-Task: 1.2\nSwarm-Agent: ed-001\n",
        );
        check("fix: it", "fix: it\n\nSwarm-Task: 1.2\nSwarm-Agent: ed-001\n");
        check(
            "fix\n\nwords: here, more\nand more\n",
            "fix\n\nwords: here, more\nand more\n\nSwarm-Task: 1.2\nSwarm-Agent: ed-001\n",
        );
        check("fix\n\nSigned-off-by: A\n", "fix\n\nSigned-off-by: A\nSwarm-Task: 1.2\nSwarm-Agent: ed-001\n");
        check("fix\n\nSwarm-Task: 1.2\n", "fix\n\nSwarm-Task: 1.2\nSwarm-Agent: ed-001\n");
    }
    #[test]
    fn a_merge_of_a_merge_names_its_task_once() {
        let task = TaskId::new("1.1").unwrap();
        let text = of_merge(&task, None, &[b"Merge 1.1: Merge 1.1: one".to_vec()]);
        assert_eq!(
            String::from_utf8_lossy(&text),
            "Merge 1.1: one\n\nSwarm-Task: 1.1\nSwarm-Agent: person\n"
        );
        let others = of_merge(&task, None, &[b"Merge 1.2: two".to_vec()]);
        assert!(others.starts_with(b"Merge 1.1: Merge 1.2: two\n"), "another task's merge is its subject");
    }
}
