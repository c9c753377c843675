//! Sockets with a name in the file system: whoever can name one can speak with the program behind it, also through a
//! read-only mount. So those that are there when a program starts are covered.

use std::path::{Path, PathBuf};

/// More than this no machine has in places that are not covered anyway.
const SOCKETS_MAX: usize = 4096;

/// Every one that the kernel knows of, but for those below `open`.
pub fn named(open: &[PathBuf]) -> Vec<PathBuf> {
    let table = std::fs::read_to_string("/proc/net/unix").unwrap_or_default();
    let mut all: Vec<PathBuf> = table.lines().skip(1).filter_map(path_in).collect();
    all.sort();
    all.dedup();
    all.retain(|path| !open.iter().any(|open| path.starts_with(open)));
    all.truncate(SOCKETS_MAX);
    all
}

/// The last of eight columns; abstract names begin with `@`.
fn path_in(line: &str) -> Option<PathBuf> {
    let mut rest = line;
    for _ in 0..7 {
        rest = rest.trim_start().split_once(' ')?.1;
    }
    let path = Path::new(rest.trim_start());
    path.is_absolute().then(|| path.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_found_and_abstract_ones_are_not() {
        let line = "0000000000000000: 00000002 00000000 00010000 0001 01  4242 /srv/u/a b/sock";
        assert_eq!(path_in(line), Some("/srv/u/a b/sock".into()));
        assert_eq!(path_in("0000000000000000: 00000002 00000000 00010000 0001 01  4242 @abstract"), None);
        assert_eq!(path_in("0000000000000000: 00000003 00000000 00000000 0001 03 20531"), None);
    }
}
