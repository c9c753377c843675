//! Frames on a stream: one JSON object per line, no longer than the bound.

use std::io;

use serde::Serialize;
use serde::de::DeserializeOwned;
use tokio::io::{AsyncBufReadExt, AsyncRead, AsyncWrite, AsyncWriteExt, BufReader};

/// Memory that a connection keeps between two frames.
const KEPT_BYTES: usize = 16 * 1024;

#[derive(Debug)]
pub struct FrameReader<R> {
    from: BufReader<R>,
    line: Vec<u8>,
}

impl<R: AsyncRead + Unpin> FrameReader<R> {
    pub fn new(from: R) -> Self {
        Self { from: BufReader::with_capacity(8 * 1024, from), line: Vec::new() }
    }

    /// The bytes of the next frame without its newline; none at the end of the stream. A frame that is cut
    /// off by the end was never said.
    pub async fn next_line(&mut self, bytes_max: usize) -> io::Result<Option<&[u8]>> {
        self.line.clear();
        self.line.shrink_to(KEPT_BYTES);
        loop {
            let chunk = self.from.fill_buf().await?;
            if chunk.is_empty() {
                return Ok(None);
            }
            let end = chunk.iter().position(|byte| *byte == b'\n');
            let taken = end.unwrap_or(chunk.len());
            if self.line.len() + taken > bytes_max {
                return Err(invalid(format!("a frame has more than {bytes_max} bytes")));
            }
            self.line.extend_from_slice(&chunk[..taken]);
            self.from.consume(taken + usize::from(end.is_some()));
            if end.is_some() {
                return Ok(Some(&self.line));
            }
        }
    }

    pub async fn next<T: DeserializeOwned>(&mut self, bytes_max: usize) -> io::Result<Option<T>> {
        match self.next_line(bytes_max).await? {
            Some(line) => Ok(Some(serde_json::from_slice(line).map_err(|error| invalid(error.to_string()))?)),
            None => Ok(None),
        }
    }
}

/// Writes one frame whole.
pub async fn write_frame<T: Serialize>(
    to: &mut (impl AsyncWrite + Unpin),
    frame: &T,
    bytes_max: usize,
) -> io::Result<()> {
    let mut bytes = serde_json::to_vec(frame)?;
    if bytes.len() > bytes_max {
        return Err(io::Error::new(
            io::ErrorKind::FileTooLarge,
            format!("{} bytes, at most {bytes_max} can be sent", bytes.len()),
        ));
    }
    bytes.push(b'\n');
    to.write_all(&bytes).await?;
    to.flush().await
}

fn invalid(text: String) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, text)
}

#[cfg(test)]
mod tests {
    use super::*;

    async fn read(bytes: &[u8], bytes_max: usize) -> Vec<Result<Option<u64>, String>> {
        let mut reader = FrameReader::new(bytes);
        let mut frames = Vec::new();
        loop {
            let frame = reader.next(bytes_max).await.map_err(|error| error.to_string());
            let last = !matches!(frame, Ok(Some(_)));
            frames.push(frame);
            if last {
                return frames;
            }
        }
    }

    #[tokio::test]
    async fn frames_are_whole_lines_within_their_bound() {
        assert_eq!(read(b"1\n22\n", 8).await, [Ok(Some(1)), Ok(Some(22)), Ok(None)]);
        assert_eq!(read(b"1\n22", 8).await, [Ok(Some(1)), Ok(None)]);
        assert_eq!(read(b"123456789\n", 8).await, [Err("a frame has more than 8 bytes".into())]);
        assert!(read(b"x\n", 8).await[0].is_err());
        assert_eq!(
            write_frame(&mut Vec::new(), &"123456789", 8).await.expect_err("too long").kind(),
            io::ErrorKind::FileTooLarge
        );
    }
}
