//! A recording of the screen as an asciicast (version 2), which asciinema and web players show: one line for the size, one for
//! each piece that was written.

use std::fs::File;
use std::io::{self, BufWriter, Stdout, Write};
use std::path::Path;
use std::time::{Instant, SystemTime, UNIX_EPOCH};

use serde_json::json;

pub struct Cast {
    file: BufWriter<File>,
    began: Instant,
    /// Written to the terminal, and not yet to the file: a letter may come in two pieces.
    held: Vec<u8>,
}

impl Cast {
    pub fn begin(path: &Path, (columns, rows): (u16, u16)) -> io::Result<Self> {
        let mut file = BufWriter::new(File::create(path)?);
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let head = json!({ "version": 2, "width": columns, "height": rows, "timestamp": since.as_secs() });
        writeln!(file, "{head}")?;
        Ok(Self { file, began: Instant::now(), held: Vec::new() })
    }

    fn put(&mut self) -> io::Result<()> {
        let whole = match std::str::from_utf8(&self.held) {
            Ok(_) => self.held.len(),
            Err(error) => error.valid_up_to(),
        };
        if whole == 0 {
            return Ok(());
        }
        let piece: Vec<u8> = self.held.drain(..whole).collect();
        let text = String::from_utf8_lossy(&piece);
        let moment = (self.began.elapsed().as_secs_f64() * 1e6).round() / 1e6;
        writeln!(self.file, "{}", json!([moment, "o", text]))?;
        self.file.flush()
    }
}

/// The terminal, and the recording of it where one is wanted.
pub struct Out {
    terminal: Stdout,
    cast: Option<Cast>,
}

impl Out {
    pub fn new(cast: Option<Cast>) -> Self {
        Self { terminal: io::stdout(), cast }
    }
}

impl Write for Out {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.terminal.write(bytes)?;
        if let Some(cast) = &mut self.cast {
            cast.held.extend_from_slice(&bytes[..written]);
        }
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.terminal.flush()?;
        // A disk that is full ends the recording, not the screen.
        if self.cast.as_mut().is_some_and(|cast| cast.put().is_err()) {
            self.cast = None;
        }
        Ok(())
    }
}
