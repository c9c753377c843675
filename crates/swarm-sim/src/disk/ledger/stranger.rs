//! A reader of the ledger that shares no code with it: what a stranger could write from the format's
//! description. If the ledger's own idea of a valid line were wrong, this one would not agree.

use sha2::{Digest, Sha256};

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Record {
    pub seq: u64,
    pub batch: u64,
    pub synced: u64,
    pub epoch: u64,
    /// From `"type"` through `"by"`.
    pub body: String,
}

/// Reads a whole ledger file; any byte that does not fit is an error.
pub fn read(file: &[u8]) -> Result<Vec<Record>, String> {
    let mut records: Vec<Record> = Vec::new();
    let mut prev: Option<String> = None;
    let mut at = 0;
    while at < file.len() {
        let bad = |why: &str| format!("byte {at}, behind record {}: {why}", records.len());
        let len: usize = digits(file, at + 8, 7).ok_or_else(|| bad("no length"))?;
        let line = file.get(at..at + len).ok_or_else(|| bad("cut short"))?;
        let line = line.strip_suffix(b"\n").ok_or_else(|| bad("no newline"))?;
        let text = std::str::from_utf8(line).map_err(|_| bad("not UTF-8"))?;
        if text.len() < 75 + 74 + 16 {
            return Err(bad("too short for a record"));
        }
        let hash = hex(&Sha256::digest(&line[..line.len() - 75]));
        let (rest, closing) = text.split_at(text.len() - 75);
        if closing != format!(",\"hash\":\"{hash}\"}}") {
            return Err(bad("the hash does not hold"));
        }
        let record = take_apart(rest).ok_or_else(|| bad("members out of order"))?;
        if record.seq != records.len() as u64 + 1 {
            return Err(bad("the seqs are not dense"));
        }
        let link = &rest[rest.len() - 65..rest.len() - 1];
        let expected = match &prev {
            Some(prev) => prev.clone(),
            None => hex(&Sha256::digest(ledger_id(rest).ok_or_else(|| bad("no ledger id"))?)),
        };
        if link != expected {
            return Err(bad("the chain is broken"));
        }
        records.push(record);
        prev = Some(hash);
        at += len;
    }
    Ok(records)
}

fn digits(file: &[u8], at: usize, count: usize) -> Option<usize> {
    std::str::from_utf8(file.get(at..at + count)?).ok()?.parse().ok()
}

fn take_apart(text: &str) -> Option<Record> {
    let text = text.get(16..)?;
    let (seq, text) = member(text, ",\"seq\":")?;
    let (batch, text) = member(text, ",\"batch\":")?;
    let (synced, text) = member(text, ",\"synced\":")?;
    let (epoch, text) = member(text, ",\"epoch\":")?;
    let text = text.strip_prefix(",\"ts\":\"")?;
    let body = &text[text.find('"')? + 2..];
    let body = body[..body.len() - 74].to_owned();
    Some(Record { seq, batch, synced, epoch, body })
}

fn member<'a>(text: &'a str, name: &str) -> Option<(u64, &'a str)> {
    let text = text.strip_prefix(name)?;
    let end = text.find(',')?;
    Some((text[..end].parse().ok()?, &text[end..]))
}

fn ledger_id(text: &str) -> Option<&str> {
    let (_, rest) = text.split_once("\"ledgerId\":\"")?;
    rest.split('"').next()
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
