//! One record as one line: how it is sealed, and how it is read back without trusting it.
//!
//! `{"len":"0000412","seq":12,"batch":12,"synced":11,"epoch":3,"ts":"…",BODY,"prev":"…","hash":"…"}\n`
//!
//! The member order is fixed, so a line can be taken apart by position: no JSON parser runs here,
//! and the caller parses the body only of lines that have been verified. A line validates alone
//! (`len` and `hash`) and in its place (`seq` and `prev`).

use crate::hash::Hash;

/// Bytes of a whole line, newline included.
pub const LINE_MAX: usize = 1 << 20;
/// Bytes of a body: what is left of a line when all numbers are at their longest.
pub const BODY_MAX: usize = LINE_MAX - 512;
/// Bytes of the `ts` text.
pub const TS_MAX: usize = 64;

/// How every line begins; also what a search through damaged bytes looks for.
pub const OPENING: &[u8] = b"{\"len\":\"";
/// `OPENING`, seven digits and the closing quote.
pub const LEN_FIELD: usize = OPENING.len() + LEN_DIGITS + 1;
const LEN_DIGITS: usize = 7;
/// `,"hash":"` + 64 hex + `"}`: the bytes the hash does not cover, and the newline.
const HASH_FIELD: usize = 9 + 64 + 2 + 1;
/// `,"prev":"` + 64 hex + `"`.
const PREV_FIELD: usize = 9 + 64 + 1;

/// The members the ledger itself puts before the body.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Header<'a> {
    pub seq: u64,
    /// Last seq of the batch this record belongs to.
    pub batch: u64,
    /// Highest seq known to be durable when the line was written.
    pub synced: u64,
    pub epoch: u64,
    pub ts: &'a str,
}

/// A line taken apart. Everything borrows from the bytes of the file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Line<'a> {
    pub seq: u64,
    pub batch: u64,
    pub synced: u64,
    pub epoch: u64,
    pub ts: &'a [u8],
    /// From `"type":` through the `by` member, without braces.
    pub body: &'a [u8],
    pub prev: Hash,
    pub hash: Hash,
    /// The whole line with its newline.
    pub bytes: &'a [u8],
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum FrameError {
    #[error("the line is cut short")]
    Short,
    #[error("the length written in the line is not its length")]
    Length,
    #[error("the line lacks the member {0}")]
    Member(&'static str),
    #[error("the line holds a raw control byte")]
    ControlByte,
    #[error("the hash in the line is not the hash of its bytes")]
    Hash,
}

/// Appends one sealed line to `out` and gives its hash.
///
/// The caller has checked `BODY_MAX` and `TS_MAX`; the assertion guards against a change of one
/// without the other.
pub fn seal(out: &mut Vec<u8>, header: &Header<'_>, body: &str, prev: &Hash) -> Hash {
    use std::io::Write as _;
    let start = out.len();
    let Header { seq, batch, synced, epoch, ts } = header;
    write!(
        out,
        "{{\"len\":\"0000000\",\"seq\":{seq},\"batch\":{batch},\"synced\":{synced},\"epoch\":{epoch},\
         \"ts\":\"{ts}\",{body},\"prev\":\"{prev}\""
    )
    .expect("writing to memory does not fail");
    let total = out.len() - start + HASH_FIELD;
    assert!(total <= LINE_MAX, "a body above BODY_MAX must be refused before it is sealed");
    let digits = format!("{total:07}");
    out[start + OPENING.len()..start + OPENING.len() + LEN_DIGITS].copy_from_slice(digits.as_bytes());
    let hash = Hash::of(&out[start..]);
    out.extend_from_slice(b",\"hash\":\"");
    out.extend_from_slice(hash.as_bytes());
    out.extend_from_slice(b"\"}\n");
    hash
}

/// The length a line claims, read from its first bytes.
pub fn claimed_len(start: &[u8]) -> Option<usize> {
    let field = start.get(..LEN_FIELD)?;
    let digits = field.strip_prefix(OPENING)?.strip_suffix(b"\"")?;
    let mut len = 0;
    for digit in digits {
        len = len * 10 + usize::from(digit.checked_sub(b'0').filter(|d| *d < 10)?);
    }
    (LEN_FIELD + PREV_FIELD + HASH_FIELD..=LINE_MAX).contains(&len).then_some(len)
}

/// Takes a line apart, strictly. `bytes` is exactly one line with its newline.
///
/// The hash is read but not computed: see [`Line::hash_holds`].
pub fn parse_line(bytes: &[u8]) -> Result<Line<'_>, FrameError> {
    let len = claimed_len(bytes).ok_or(FrameError::Length)?;
    if len != bytes.len() {
        return Err(if bytes.len() < len { FrameError::Short } else { FrameError::Length });
    }
    let (text, newline) = bytes.split_at(len - 1);
    if newline != b"\n" {
        return Err(FrameError::Short);
    }
    // No early exit here either: nearly every line is good, and this way it costs a few instructions.
    if text.iter().fold(0, |found, byte| found | u8::from(*byte < b' ')) != 0 {
        return Err(FrameError::ControlByte);
    }
    let (rest, hash) = closing_hash(text, b",\"hash\":\"", b"\"}").ok_or(FrameError::Member("hash"))?;
    let (rest, prev) = closing_hash(rest, b",\"prev\":\"", b"\"").ok_or(FrameError::Member("prev"))?;
    let rest = &rest[LEN_FIELD..];
    let (seq, rest) = number(rest, b",\"seq\":").ok_or(FrameError::Member("seq"))?;
    let (batch, rest) = number(rest, b",\"batch\":").ok_or(FrameError::Member("batch"))?;
    let (synced, rest) = number(rest, b",\"synced\":").ok_or(FrameError::Member("synced"))?;
    let (epoch, rest) = number(rest, b",\"epoch\":").ok_or(FrameError::Member("epoch"))?;
    let (ts, body) = timestamp(rest).ok_or(FrameError::Member("ts"))?;
    Ok(Line { seq, batch, synced, epoch, ts, body, prev, hash, bytes })
}

/// [`parse_line`], and the line's own hash holds.
pub fn check_line(bytes: &[u8]) -> Result<Line<'_>, FrameError> {
    let line = parse_line(bytes)?;
    if line.hash_holds() { Ok(line) } else { Err(FrameError::Hash) }
}

impl Line<'_> {
    /// Whether `hash` is the SHA-256 of the line without its last 75 bytes and its newline.
    pub fn hash_holds(&self) -> bool {
        Hash::of(&self.bytes[..self.bytes.len() - HASH_FIELD]) == self.hash
    }

    /// The line closes its batch.
    pub fn ends_batch(&self) -> bool {
        self.seq == self.batch
    }
}

/// Splits `…,"prev":"<64 hex>"` into what stands before it and the hash.
fn closing_hash<'a>(text: &'a [u8], name: &[u8], end: &[u8]) -> Option<(&'a [u8], Hash)> {
    let rest = text.strip_suffix(end)?;
    let (rest, hex) = rest.split_at_checked(rest.len().checked_sub(64)?)?;
    Some((rest.strip_suffix(name)?, Hash::from_hex(hex)?))
}

/// Reads `,"name":123`. A number has one spelling: no sign, no leading zero.
fn number<'a>(text: &'a [u8], name: &[u8]) -> Option<(u64, &'a [u8])> {
    let text = text.strip_prefix(name)?;
    let digits = text.iter().take_while(|b| b.is_ascii_digit()).count();
    let (number, rest) = text.split_at(digits);
    if number.is_empty() || (number[0] == b'0' && digits > 1) {
        return None;
    }
    let mut value: u64 = 0;
    for digit in number {
        value = value.checked_mul(10)?.checked_add(u64::from(digit - b'0'))?;
    }
    Some((value, rest))
}

fn timestamp(text: &[u8]) -> Option<(&[u8], &[u8])> {
    let text = text.strip_prefix(b",\"ts\":\"")?;
    let end = text[..text.len().min(TS_MAX + 1)].iter().position(|b| *b == b'"')?;
    let body = text[end + 1..].strip_prefix(b",")?;
    body.starts_with(b"\"").then_some((&text[..end], body))
}

#[cfg(test)]
#[path = "frame_tests.rs"]
mod tests;
