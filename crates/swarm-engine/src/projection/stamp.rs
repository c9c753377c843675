//! Where a projection says what it shows: the first lines of the file, checksum included.
//!
//! The checksum is the SHA-256 of the whole text with the checksum itself written as zeros.

use swarm_ledger::{Hash, Head};
use swarm_protocol::plan::PlanFile;
use swarm_protocol::planfile::{to_json, to_markdown};

const UNSEALED: &str = "0000000000000000000000000000000000000000000000000000000000000000";
/// The stamp stands at the very start.
const STAMP_WITHIN: usize = 400;

/// What a file says about itself.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Stamp {
    pub seq: u64,
    pub hash: String,
    /// The text is as we wrote it.
    pub intact: bool,
}

pub(super) fn json(plan: &PlanFile, head: &Head) -> String {
    let text = to_json(plan);
    let rest = text.strip_prefix("{\n").unwrap_or(&text);
    let Head { seq, hash, .. } = head;
    seal(format!(
        "{{\n  \"ledger\": {{\n    \"seq\": {seq},\n    \"hash\": \"{hash}\",\n    \"checksum\": \"{UNSEALED}\"\n  }},\n{rest}"
    ))
}

pub(super) fn markdown(plan: &PlanFile, head: &Head) -> String {
    let Head { seq, hash, .. } = head;
    let stamp = format!(
        "<!-- swarm-ledger seq={seq} hash={hash} checksum={UNSEALED} Made from the ledger; change it with `swarm plan edit` -->"
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
    let at =
        |marker: &[u8]| start.windows(marker.len()).position(|w| w == marker).map(|at| at + marker.len());
    let field = |json: &str, markdown: &str| at(json.as_bytes()).or_else(|| at(markdown.as_bytes()));
    let digits = &start[field("\"seq\": ", "seq=")?..];
    let seq = std::str::from_utf8(&digits[..digits.iter().take_while(|b| b.is_ascii_digit()).count()])
        .ok()?
        .parse()
        .ok()?;
    let hash_at = field("\"hash\": \"", "hash=")?;
    let hash = Hash::from_hex(start.get(hash_at..hash_at + 64)?)?.to_string();
    let checksum_at = field("\"checksum\": \"", "checksum=")?;
    let checksum = Hash::from_hex(bytes.get(checksum_at..checksum_at + 64)?)?;
    let mut unsealed = bytes.to_vec();
    unsealed[checksum_at..checksum_at + 64].copy_from_slice(UNSEALED.as_bytes());
    Some(Stamp { seq, hash, intact: Hash::of(&unsealed) == checksum })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stamp_tells_a_changed_file_from_one_that_is_as_we_wrote_it() {
        let plan = PlanFile { goal: format!("zeros {UNSEALED}"), ..PlanFile::default() };
        let head = Head { seq: 12, hash: Hash::of(b"x"), offset: 0, end: 1 };
        for text in [json(&plan, &head), markdown(&plan, &head)] {
            let stamp = read(text.as_bytes()).expect("stamped");
            assert_eq!(stamp, Stamp { seq: 12, hash: head.hash.to_string(), intact: true }, "{text}");
            let edited = text.replace("zeros", "zeroes");
            assert!(!read(edited.as_bytes()).expect("stamped").intact);
            let plain = swarm_protocol::planfile::parse("p", text.as_bytes()).expect("a plan all the same");
            assert_eq!(plain, plan);
        }
        assert_eq!(read(b"{\"goal\": 1}"), None);
    }
}
