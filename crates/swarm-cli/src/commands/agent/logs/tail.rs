//! Where the last lines of a journal begin, found from its end: a journal may have 256 MiB.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::Path;

const BLOCK: u64 = 64 * 1024;

/// The byte at which the last `lines` lines begin.
pub fn start_of_last(path: &Path, lines: usize) -> io::Result<u64> {
    let mut file = match File::open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(0),
        Err(error) => return Err(error),
    };
    let length = file.metadata()?.len();
    // A line that is still being written does not count.
    let mut wanted = lines.saturating_add(1);
    let mut end = length;
    let mut block = vec![0; BLOCK as usize];
    while end > 0 {
        let start = end.saturating_sub(BLOCK);
        let block = &mut block[..(end - start) as usize];
        file.seek(SeekFrom::Start(start))?;
        file.read_exact(block)?;
        for (at, byte) in block.iter().enumerate().rev() {
            if *byte == b'\n' {
                wanted -= 1;
                if wanted == 0 {
                    return Ok(start + at as u64 + 1);
                }
            }
        }
        end = start;
    }
    Ok(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_lines_are_found_across_blocks_and_a_half_line_does_not_count() {
        let dir = tempfile::tempdir().expect("a folder");
        let file = dir.path().join("j");
        let long = "x".repeat(BLOCK as usize * 2);
        let text = format!("one\n{long}\nthree\nfour\nhal");
        std::fs::write(&file, &text).expect("writable");
        let last = |lines| &text[start_of_last(&file, lines).expect("readable") as usize..];
        assert_eq!(last(0), "hal");
        assert_eq!(last(2), "three\nfour\nhal");
        assert!(last(3).starts_with("xxx"));
        assert_eq!(last(4), text);
        assert_eq!(last(usize::MAX), text);
        assert_eq!(start_of_last(&dir.path().join("none"), 5).expect("no journal yet"), 0);
    }
}
