//! Every file that changed between two commits, one line each: what became of it, and how much of it.

use std::collections::BTreeMap;
use std::fmt::Write;

use swarm_protocol::ids::Oid;

use super::call::{Git, GitError};
use super::diff_text::PLAIN;
use super::entry::{MODE_GITLINK, MODE_SYMLINK};

/// One record of `git diff --raw`.
struct Raw {
    modes: (u32, u32),
    oids: (String, String),
    status: u8,
    /// The name before, where it is another one.
    was: Option<Vec<u8>>,
    path: Vec<u8>,
}

/// Lines that came and went; none: it has no lines.
type Lines = Option<(u64, u64)>;

impl Git {
    /// Names are whole and on one line each, whatever bytes they have: who judges work sees each file that it touches.
    pub(super) async fn changed_files_text(&self, from: &Oid, to: &Oid) -> Result<Vec<u8>, GitError> {
        let call = self.call(PLAIN).args(["--raw", "--numstat", "-z", "--abbrev=8"]);
        let output = call.args([from.as_str(), to.as_str(), "--"]).long_list().ok().await?;
        text(&output).map(String::into_bytes).ok_or_else(|| GitError::Unreadable {
            command: "diff".into(),
            what: "the list of changed files".into(),
        })
    }
}

/// All records of `--raw`, then all of `--numstat`, both ended by NUL.
fn text(output: &[u8]) -> Option<String> {
    let mut fields = output.split(|b| *b == 0).filter(|field| !field.is_empty()).peekable();
    let mut raws = Vec::new();
    while fields.peek().is_some_and(|field| field.starts_with(b":")) {
        raws.push(raw(&mut fields)?);
    }
    let mut counts: BTreeMap<Vec<u8>, Lines> = BTreeMap::new();
    while let Some(field) = fields.next() {
        let (path, lines) = numbers(field, &mut fields)?;
        counts.insert(path, lines);
    }
    let mut text = String::new();
    for raw in &raws {
        let lines = counts.get(&raw.path).copied().unwrap_or(Some((0, 0)));
        let _ = writeln!(text, "{}", line(raw, lines));
    }
    Some(text)
}

/// `:100644 100755 <oid> <oid> R090\0old\0new\0`
fn raw<'a>(fields: &mut impl Iterator<Item = &'a [u8]>) -> Option<Raw> {
    let head = std::str::from_utf8(fields.next()?.strip_prefix(b":")?).ok()?;
    let words: Vec<&str> = head.split(' ').collect();
    let [old_mode, new_mode, old, new, status] = words[..] else { return None };
    let mode = |word: &str| u32::from_str_radix(word, 8).ok();
    let status = *status.as_bytes().first()?;
    let first = fields.next()?.to_vec();
    let (was, path) = match status {
        b'R' | b'C' => (Some(first), fields.next()?.to_vec()),
        _ => (None, first),
    };
    Some(Raw { modes: (mode(old_mode)?, mode(new_mode)?), oids: (old.into(), new.into()), status, was, path })
}

/// `1\t2\tpath\0`, or for a renamed file `1\t2\t\0old\0new\0`; both numbers are `-` where there are no lines.
fn numbers<'a>(field: &'a [u8], fields: &mut impl Iterator<Item = &'a [u8]>) -> Option<(Vec<u8>, Lines)> {
    let mut parts = field.splitn(3, |b| *b == b'\t');
    let mut number = || std::str::from_utf8(parts.next()?).ok();
    let (added, removed) = (number()?, number()?);
    let path = match parts.next()? {
        b"" => fields.nth(1)?.to_vec(),
        path => path.to_vec(),
    };
    let lines = added.parse().ok().zip(removed.parse().ok());
    Some((path, lines))
}

fn line(raw: &Raw, lines: Lines) -> String {
    let Raw { modes: (before, after), oids: (old, new), .. } = raw;
    let kind = match raw.status {
        b'A' => "added",
        b'D' => "deleted",
        b'R' => "renamed",
        b'C' => "copied",
        _ => "changed",
    };
    let name = match &raw.was {
        Some(was) => format!("{} -> {}", shown(was), shown(&raw.path)),
        None => shown(&raw.path),
    };
    let is = |mode: u32| *before == mode || *after == mode;
    let mut facts = vec![match lines {
        _ if is(MODE_GITLINK) => format!("submodule {} -> {}", commit(old), commit(new)),
        Some((added, removed)) => format!("+{added} -{removed}"),
        None => "binary".into(),
    }];
    let same_kind = |one: u32, other: u32| one & 0o170_000 == other & 0o170_000;
    match (*before, *after) {
        (0, after) if after != 0o100_644 && after != MODE_GITLINK => facts.push(kind_of(after).into()),
        (0, _) | (_, 0) => {}
        (before, after) if before == after => {}
        (before, after) if same_kind(before, after) => facts.push(format!("mode {before:o} -> {after:o}")),
        (before, after) => facts.push(format!("from {} to {}", kind_of(before), kind_of(after))),
    }
    format!("{kind:<8} {name}  {}", facts.join(", "))
}

/// None is all zeros.
fn commit(oid: &str) -> &str {
    if oid.bytes().all(|b| b == b'0') { "none" } else { oid }
}

fn kind_of(mode: u32) -> &'static str {
    match mode {
        MODE_SYMLINK => "symbolic link",
        MODE_GITLINK => "submodule",
        0o100_755 => "executable",
        _ => "file",
    }
}

/// As it is, or quoted as git does where a byte of it could end the line or is no text.
fn shown(name: &[u8]) -> String {
    let plain = |text: &&str| !text.chars().any(|c| c.is_control() || c == '"' || c == '\\');
    if let Some(text) = std::str::from_utf8(name).ok().filter(plain) {
        return text.to_owned();
    }
    let mut quoted = String::from("\"");
    for byte in name {
        let _ = match byte {
            b'"' | b'\\' => write!(quoted, "\\{}", char::from(*byte)),
            0..0x20 | 0x7f.. => write!(quoted, "\\{byte:03o}"),
            _ => write!(quoted, "{}", char::from(*byte)),
        };
    }
    quoted + "\""
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_of_change_has_its_line_and_no_name_has_two() {
        let output = ":000000 100644 00000000 11111111 A\0new \u{e4}.rs\0\
                      :100644 000000 11111111 00000000 D\0old\0\
                      :100644 100755 11111111 11111111 M\0run.sh\0\
                      :100644 100644 11111111 22222222 R090\0from\0to\0\
                      :100644 100644 11111111 22222222 M\0picture\0\
                      :160000 160000 11111111 22222222 M\0library\0\
                      :100644 120000 11111111 22222222 T\0way\0\
                      :000000 120000 00000000 22222222 A\0a\nb\0\
                      12\t0\tnew \u{e4}.rs\x000\t3\told\x000\t0\trun.sh\x001\t2\t\0from\0to\0-\t-\tpicture\0\
                      1\t1\tlibrary\x001\t1\tway\x001\t0\ta\nb\0";
        let wanted = "added    new \u{e4}.rs  +12 -0\n\
                      deleted  old  +0 -3\n\
                      changed  run.sh  +0 -0, mode 100644 -> 100755\n\
                      renamed  from -> to  +1 -2\n\
                      changed  picture  binary\n\
                      changed  library  submodule 11111111 -> 22222222\n\
                      changed  way  +1 -1, from file to symbolic link\n\
                      added    \"a\\012b\"  +1 -0, symbolic link\n";
        assert_eq!(text(output.as_bytes()).as_deref(), Some(wanted));
        assert_eq!(text(b"").as_deref(), Some(""));
        assert_eq!(text(b"nonsense\0"), None);
    }
}
