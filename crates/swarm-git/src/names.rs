//! Names of files that `git fsck --strict` refuses: on some file systems they are those of a repository or of git's own
//! files. Git itself stores some of them here without a word and passes others over; hosts that check what is pushed
//! refuse the commit, and no Mac could check it out.

use std::os::unix::ffi::OsStrExt;
use std::path::Path;

/// Git's own files, which may be no links; with how the short names begin that Windows gives where the usual ones are taken.
const OWN_FILES: [(&str, &str); 4] =
    [("gitmodules", "gi7eba"), ("gitignore", "gi250a"), ("gitattributes", "gi7d29"), ("mailmap", "maba30")];

/// Letters of a name that Windows keeps in a short one.
const SHORT: usize = 6;

/// Whether git's checks refuse a new file of this name. `is_link`: it is a symbolic link.
pub fn is_refused_name(path: &Path, is_link: bool) -> bool {
    let parts = || path.as_os_str().as_bytes().split(|byte| *byte == b'/');
    let last = parts().next_back().unwrap_or_default();
    parts().any(is_repository) || (is_link && OWN_FILES.iter().any(|own| is_own_file(last, *own)))
}

fn is_repository(part: &[u8]) -> bool {
    let on_windows = |name: &[u8]| {
        let rest = strip(name, ".git").or_else(|| strip(name, "git~1"));
        rest.is_some_and(is_dropped)
    };
    on_a_mac(part).eq_ignore_ascii_case(".git") || part.split(|byte| *byte == b'\\').any(on_windows)
}

fn is_own_file(name: &[u8], (own, hashed): (&str, &str)) -> bool {
    if on_a_mac(name).strip_prefix('.').is_some_and(|name| name.eq_ignore_ascii_case(own)) {
        return true;
    }
    if name.first() == Some(&b'.') {
        return strip(&name[1..], own).is_some_and(is_dropped);
    }
    let Some(tilde) = name.iter().position(|byte| *byte == b'~') else { return false };
    let (begin, number) = (&name[..tilde], &name[tilde + 1..]);
    let is_short = begin.eq_ignore_ascii_case(&own.as_bytes()[..SHORT])
        || (tilde > 0 && strip(hashed.as_bytes(), &String::from_utf8_lossy(begin)).is_some());
    is_short && number.first().is_some_and(u8::is_ascii_digit)
}

/// What follows this beginning, in whatever case it is written.
fn strip<'a>(name: &'a [u8], begin: &str) -> Option<&'a [u8]> {
    let (first, rest) = name.split_at_checked(begin.len())?;
    first.eq_ignore_ascii_case(begin.as_bytes()).then_some(rest)
}

/// Windows drops dots and blanks at the end of a name, and takes what follows a colon for a part of the same file.
fn is_dropped(rest: &[u8]) -> bool {
    let end = rest.iter().position(|byte| *byte == b':').unwrap_or(rest.len());
    rest[..end].iter().all(|byte| matches!(byte, b'.' | b' '))
}

/// Without the characters that a Mac does not compare, and up to the first byte that is none of any.
fn on_a_mac(name: &[u8]) -> String {
    let passed_over = |c: &char| matches!(c, '\u{200c}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{206a}'..='\u{206f}' | '\u{feff}');
    let whole = name.utf8_chunks().next().map_or("", |chunk| chunk.valid());
    whole.chars().filter(|c| !passed_over(c)).collect()
}

#[cfg(test)]
mod tests {
    use std::ffi::OsStr;

    use super::*;

    #[test]
    fn what_is_a_repository_somewhere_is_refused_and_what_only_looks_like_one_is_not() {
        let names: &[(&[u8], bool)] = &[
            (b".git", true),
            (b".GIt/config", true),
            (b"a/.g\xe2\x80\x8cit/config", true),
            (b"\xef\xbb\xbf.git", true),
            (b".git\xff", true),
            (b"git~1", true),
            (b"a/GIT~1 . /x", true),
            (b".git. .", true),
            (b".git::$INDEX_ALLOCATION", true),
            (b"x\\.git", true),
            (b"x\\.git\\config", true),
            (b".gitx", false),
            (b".gitignore", false),
            (b".git-of", false),
            (b"git~2", false),
            (b"git", false),
            (b"x.git", false),
            (b".gi", false),
            (b"", false),
        ];
        for (name, refused) in names {
            let path = Path::new(OsStr::from_bytes(name));
            assert_eq!(is_refused_name(path, false), *refused, "{}", path.display());
        }
    }

    #[test]
    fn gits_own_files_are_no_links_and_may_be_files() {
        for (name, refused) in [
            (".gitmodules", true),
            ("a/.GitIgnore", true),
            (".gitattributes.", true),
            (".mail\u{200d}map", true),
            ("gitmod~1", true),
            ("gi7eba~1", true),
            ("gi7e~123", true),
            (".gitmodules/x", false),
            (".gitmodulesx", false),
            ("gitmod~x", false),
            ("gitmodules", false),
            ("link", false),
        ] {
            assert_eq!(is_refused_name(Path::new(name), true), refused, "{name}");
            assert!(!is_refused_name(Path::new(name), false), "{name}");
        }
    }
}
