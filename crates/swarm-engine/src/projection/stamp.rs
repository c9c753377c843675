//! Where a projection says what it shows: the first lines of the file, checksum included.
//!
//! The checksum is the SHA-256 of the whole text with the checksum itself written as zeros.

use swarm_ledger::{Hash, Head};
use swarm_protocol::plan::PlanFile;
use swarm_protocol::planfile::{to_json, to_markdown};

const UNSEALED: &str = "0000000000000000000000000000000000000000000000000000000000000000";
/// The stamp stands at the very start.
pub(super) const STAMP_WITHIN: usize = 400;

const SEQ_IN_JSON: &str = "\"seq\": ";
const SEQ_IN_MARKDOWN: &str = "seq=";

/// What a file says about itself.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Stamp {
    pub seq: u64,
    pub hash: String,
    /// Which ledger it was made from; those of earlier versions do not say.
    pub ledger_id: Option<String>,
    /// The text is as we wrote it.
    pub intact: bool,
}

pub(super) fn json(plan: &PlanFile, head: &Head, ledger_id: &str) -> String {
    let text = to_json(plan);
    let rest = text.strip_prefix("{\n").unwrap_or(&text);
    let Head { seq, hash, .. } = head;
    seal(format!(
        "{{\n  \"ledger\": {{\n    \"id\": \"{ledger_id}\",\n    \"seq\": {seq},\n    \"hash\": \"{hash}\",\n    \"checksum\": \"{UNSEALED}\"\n  }},\n{rest}"
    ))
}

pub(super) fn markdown(plan: &PlanFile, head: &Head, ledger_id: &str) -> String {
    let Head { seq, hash, .. } = head;
    let stamp = format!(
        "<!-- swarm-ledger id={ledger_id} seq={seq} hash={hash} checksum={UNSEALED} Made from the ledger; change it with `swarm plan edit` -->"
    );
    seal(format!("{stamp}\n{}", to_markdown(plan)))
}

fn seal(text: String) -> String {
    let at = text.find(UNSEALED).expect("it was just put there");
    let checksum = Hash::of(text.as_bytes());
    let mut sealed = text;
    sealed.replace_range(at..at + UNSEALED.len(), checksum.as_str());
    sealed
}

/// The stamp of a file; none where it has none.
pub(super) fn read(bytes: &[u8]) -> Option<Stamp> {
    let start = &bytes[..bytes.len().min(STAMP_WITHIN)];
    let field = |json: &str, markdown: &str| behind(start, json).or_else(|| behind(start, markdown));
    let seq = seq_of(start)?;
    let hash_at = field("\"hash\": \"", "hash=")?;
    let hash = Hash::from_hex(start.get(hash_at..hash_at + 64)?)?.to_string();
    let checksum_at = field("\"checksum\": \"", "checksum=")?;
    let checksum = Hash::from_hex(bytes.get(checksum_at..checksum_at + 64)?)?;
    let mut unsealed = bytes.to_vec();
    unsealed[checksum_at..checksum_at + 64].copy_from_slice(UNSEALED.as_bytes());
    let ledger_id = ledger_id(&start[..field(SEQ_IN_JSON, SEQ_IN_MARKDOWN)?]);
    Some(Stamp { seq, hash, ledger_id, intact: Hash::of(&unsealed) == checksum })
}

/// The record that a file shows, read off its beginning.
pub(super) fn seq_of(start: &[u8]) -> Option<u64> {
    let at = behind(start, SEQ_IN_JSON).or_else(|| behind(start, SEQ_IN_MARKDOWN))?;
    let digits = start[at..].split(|b| !b.is_ascii_digit()).next()?;
    std::str::from_utf8(digits).ok()?.parse().ok()
}

/// It stands before the number of the record.
fn ledger_id(before: &[u8]) -> Option<String> {
    let at = behind(before, "\"id\": \"").or_else(|| behind(before, "swarm-ledger id="))?;
    let id = before[at..].split(|b| matches!(b, b'"' | b' ')).next()?;
    Some(std::str::from_utf8(id).ok()?.to_owned())
}

fn behind(bytes: &[u8], marker: &str) -> Option<usize> {
    bytes.windows(marker.len()).position(|w| w == marker.as_bytes()).map(|at| at + marker.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stamp_tells_a_changed_file_from_one_that_is_as_we_wrote_it() {
        let plan = PlanFile { goal: format!("zeros {UNSEALED}"), ..PlanFile::default() };
        let head = Head { seq: 12, hash: Hash::of(b"x"), offset: 0, end: 1 };
        for text in [json(&plan, &head, "led-1"), markdown(&plan, &head, "led-1")] {
            let stamp = read(text.as_bytes()).expect("stamped");
            let ledger_id = Some("led-1".to_owned());
            let hash = head.hash.to_string();
            assert_eq!(stamp, Stamp { seq: 12, hash, ledger_id, intact: true }, "{text}");
            let edited = text.replace("zeros", "zeroes");
            assert!(!read(edited.as_bytes()).expect("stamped").intact);
            let plain = swarm_protocol::planfile::parse("p", text.as_bytes()).expect("a plan all the same");
            assert_eq!(plain, plan);
        }
        assert_eq!(read(b"{\"goal\": 1}"), None);
        let old = format!("<!-- swarm-ledger seq=3 hash={0} checksum={0} -->", Hash::of(b"x"));
        assert_eq!(read(old.as_bytes()).and_then(|stamp| stamp.ledger_id), None);
    }
}
