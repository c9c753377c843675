//! The reading end: from a byte position on, whole lines only, while the daemon may be writing.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Seek, SeekFrom};
use std::path::Path;

use super::Line;

/// Some lines and where to go on reading.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Page {
    pub lines: Vec<Line>,
    /// Byte position behind the last line.
    pub cursor: u64,
}

/// Reads up to `lines_max` lines from the byte position `cursor` on (0: from the beginning). A line
/// that is not finished yet comes with a later call; a journal that does not exist yet is empty.
pub fn read_from(path: &Path, cursor: u64, lines_max: usize) -> io::Result<Page> {
    let mut page = Page { lines: Vec::new(), cursor };
    let mut file = match File::open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(page),
        Err(error) => return Err(error),
    };
    file.seek(SeekFrom::Start(cursor))?;
    let mut file = BufReader::new(file);
    let mut line = Vec::new();
    while page.lines.len() < lines_max {
        line.clear();
        let bytes = file.read_until(b'\n', &mut line)?;
        if line.pop() != Some(b'\n') {
            break;
        }
        page.cursor += bytes as u64;
        // What a crash cut off is not a line. Everything else is ours and can be read.
        page.lines.extend(serde_json::from_slice::<Line>(&line));
    }
    Ok(page)
}
