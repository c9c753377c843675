//! Nothing in the repository may name a folder of the machine it was written on.

use super::Findings;
use crate::workspace::Workspace;

/// Where people's and build machines' folders begin. In pieces, so that this file does not name one.
const HOMES: &[(&str, &str)] =
    &[("/ho", "me/"), ("/ro", "ot/"), ("/wo", "rk/"), ("/Us", "ers/"), ("C:\\Us", "ers\\"), ("/tmp/", "t-")];

/// People who exist in examples only.
const NOBODY: &[&str] = &["someone", "you"];

/// Larger files are data; reading them line by line is not worth the time.
const BYTES_MAX: usize = 4 << 20;

pub fn check(workspace: &Workspace, files: &[String]) -> Findings {
    let mut findings = Findings::default();
    for path in files {
        let Ok(bytes) = std::fs::read(workspace.root().join(path)) else { continue };
        if bytes.len() > BYTES_MAX || bytes.contains(&0) {
            continue;
        }
        for (number, line) in String::from_utf8_lossy(&bytes).lines().enumerate() {
            if let Some(home) = named_home(line) {
                findings.fail(format!("{path}:{}: names a path of one machine ({home}…)", number + 1));
            }
        }
    }
    findings
}

/// The home-like folder a line names, if it stands where a path begins.
///
/// `refs/heads/work/x` holds the same letters but is no absolute path.
fn named_home(line: &str) -> Option<String> {
    HOMES.iter().map(|(head, tail)| format!("{head}{tail}")).find(|home| {
        line.match_indices(home.as_str()).any(|(at, _)| {
            let whose = line[at + home.len()..].split(['/', '\\', '"', ' ']).next().unwrap_or_default();
            if NOBODY.contains(&whose) {
                return false;
            }
            let before = line[..at].chars().next_back();
            before.is_none_or(|c| c.is_whitespace() || "\"'`(=:<[,>".contains(c))
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_home_is_found_where_a_path_begins_and_nowhere_else() {
        for (head, tail) in HOMES {
            assert!(named_home(&format!("let path = \"{head}{tail}ann\";")).is_some(), "{head}{tail}");
            assert!(
                named_home(&format!("let path = \"{head}{tail}someone/a.md\";")).is_none(),
                "{head}{tail}"
            );
            assert!(named_home(&format!("refs/heads{head}{tail}ann")).is_none(), "{head}{tail}");
        }
        assert_eq!(named_home("see /usr/share and src/react"), None);
    }
}
