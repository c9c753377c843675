use proptest::prelude::*;

use super::*;

fn sealed(header: &Header<'_>, body: &str) -> Vec<u8> {
    let mut out = Vec::new();
    seal(&mut out, header, body, &Hash::of(b"before"));
    out
}

fn sample() -> Vec<u8> {
    let header = Header { seq: 12, batch: 13, synced: 11, epoch: 3, ts: "2026-01-13T10:00:00Z" };
    sealed(&header, "\"type\":\"task_added\",\"data\":{\"a\":\"é\"},\"by\":\"person:cli\"")
}

#[test]
fn a_sealed_line_reads_back_and_is_json_in_the_documented_order() {
    let bytes = sample();
    let line = check_line(&bytes).expect("sealed by us");
    assert_eq!((line.seq, line.batch, line.synced, line.epoch), (12, 13, 11, 3));
    assert_eq!(line.ts, b"2026-01-13T10:00:00Z");
    assert!(
        line.body.starts_with(b"\"type\":\"task_added\"") && line.body.ends_with(b"\"by\":\"person:cli\"")
    );
    assert_eq!(line.prev, Hash::of(b"before"));
    let text = std::str::from_utf8(&bytes).expect("UTF-8");
    let json: serde_json::Value = serde_json::from_str(text).expect("JSON");
    assert_eq!(json["len"], format!("{:07}", bytes.len()));
    assert_eq!(json["hash"], line.hash.as_str());
}

#[test]
fn the_hash_covers_the_line_without_its_last_75_bytes_and_newline() {
    let bytes = sample();
    let line = bytes.strip_suffix(b"\n").expect("newline");
    let closing = &line[line.len() - 75..];
    assert!(closing.starts_with(b",\"hash\":\"") && closing.ends_with(b"\"}"));
    assert_eq!(Hash::of(&line[..line.len() - 75]).as_bytes(), &closing[9..73]);
}

#[test]
fn every_change_of_one_byte_is_noticed() {
    let good = sample();
    for at in 0..good.len() {
        for value in [good[at] ^ 1, good[at] ^ 0x20, good[at] ^ 0x80, 0, 0xff, b'\n', b'0', b'"'] {
            let mut bad = good.clone();
            bad[at] = value;
            assert!(bad == good || check_line(&bad).is_err(), "byte {at} := {value:#x}");
        }
        assert!(check_line(&good[..at]).is_err(), "cut at {at}");
    }
}

#[test]
fn a_number_has_one_spelling() {
    let name = b",\"seq\":";
    for (text, value) in [(",\"seq\":0,", Some(0)), (",\"seq\":18446744073709551615,", Some(u64::MAX))] {
        assert_eq!(number(text.as_bytes(), name).map(|(n, _)| n), value, "{text}");
    }
    for text in
        [",\"seq\":,", ",\"seq\":01,", ",\"seq\":-1,", ",\"seq\":18446744073709551616,", ",\"seq\": 1,"]
    {
        assert_eq!(number(text.as_bytes(), name), None, "{text}");
    }
}

proptest! {
    #[test]
    fn any_body_survives_the_round_trip(
        seq in 1u64.., more in 0u64..9, synced in any::<u64>(), epoch in any::<u64>(), text in ".{0,300}",
    ) {
        let value = serde_json::to_string(&text).expect("a string is JSON");
        let body = format!("\"type\":{value},\"by\":\"x\"");
        let header = Header { seq, batch: seq.saturating_add(more), synced, epoch, ts: "t" };
        let bytes = sealed(&header, &body);
        let line = check_line(&bytes).expect("sealed by us");
        prop_assert_eq!((line.seq, line.batch, line.synced, line.epoch), (seq, header.batch, synced, epoch));
        prop_assert_eq!(line.body, body.as_bytes());
    }

    #[test]
    fn no_bytes_make_the_parser_panic(noise in proptest::collection::vec(any::<u8>(), 0..400), at in 0usize..300) {
        let _ = check_line(&noise);
        let mut near = sample();
        let at = at.min(near.len());
        near.splice(at.., noise);
        let _ = check_line(&near);
    }
}
