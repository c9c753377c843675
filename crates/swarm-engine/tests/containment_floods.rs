//! What a program prints, or does not read, never costs the daemon more than a bounded amount of memory.

use crate::bench;

use bench::{Bench, nets};
use serde_json::{Value, json};

/// The stand-in itself takes a few MiB; a line or a queue that is kept whole would take far more.
const MEMORY_KIB_MAX: u64 = 80 * 1024;

fn check(text: &str, more: Value, see: impl Fn(&Value)) {
    for net in nets() {
        let bench = Bench::new();
        let told = bench.sh(net, text, more.clone());
        bench.nothing_is_left(net, &told);
        let memory = told["heard"]["memory_kib"].as_u64().expect("a number");
        assert!(memory < MEMORY_KIB_MAX, "{net}: {memory} KiB: {told}");
        see(&told);
    }
}

#[test]
fn very_much_output_and_a_very_long_line_are_heard_in_pieces() {
    check("yes $(printf %01000d 0) | head -c 150000000", json!({}), |told| {
        let bytes = told["heard"]["bytes"].as_u64().expect("a number");
        assert!(bytes > 149_000_000, "{told}");
    });
    check("head -c 100000000 /dev/zero | tr '\\0' x", json!({}), |told| {
        assert_eq!(told["heard"]["bytes"], 100_000_000u64, "{told}");
        assert!(told["heard"]["lines"].as_u64().expect("a number") > 1000, "{told}");
    });
}

#[test]
fn a_program_that_reads_nothing_blocks_nobody_and_is_given_up() {
    check("echo begun; exec sleep MARK", json!({ "say": ["FLOOD"] }), |told| {
        assert_eq!(told["ran"]["how"], "Enough", "{told}");
        assert_eq!(told["ran"]["why"], "it does not read what it is told", "{told}");
    });
}

#[test]
fn a_dialogue_is_held_and_closed() {
    check(
        "while read word; do echo heard $word; done; echo over; exit 4",
        json!({ "say": ["a", "b"] }),
        |told| {
            assert_eq!(told["heard"]["kept"], json!(["heard a", "heard b", "over"]), "{told}");
            assert_eq!(told["ran"]["how"], "ByItself", "{told}");
            assert_eq!(told["ran"]["status"], "exit status: 4", "{told}");
        },
    );
}

#[test]
fn one_that_does_not_leave_when_its_dialogue_is_over_is_ended() {
    check("cat; exec sleep MARK", json!({ "say": ["a"] }), |told| {
        assert_eq!(told["ran"]["how"], "Enough", "{told}");
        assert_eq!(told["ran"]["status"], "signal: 15 (SIGTERM)", "{told}");
    });
}

#[test]
fn the_listener_may_have_enough() {
    check("echo retrying; exec sleep MARK", json!({ "enough_at": "retrying" }), |told| {
        assert_eq!(told["ran"]["how"], "Enough", "{told}");
        assert_eq!(told["ran"]["why"], "the test has heard enough", "{told}");
    });
}

#[test]
fn silence_without_work_is_noticed_and_work_without_a_word_is_not_silence() {
    check("echo begun; exec sleep MARK", json!({ "patience_ms": 800 }), |told| {
        assert_eq!(told["ran"]["how"], "Silent", "{told}");
    });
    let busy = "end=$(($(date +%s) + 3)); while [ $(date +%s) -lt $end ]; do :; done; exit 6";
    check(busy, json!({ "patience_ms": 1500 }), |told| {
        assert_eq!(told["ran"]["how"], "ByItself", "{told}");
        assert_eq!(told["ran"]["status"], "exit status: 6", "{told}");
    });
}

#[test]
fn a_program_that_is_not_there_or_may_not_be_run_is_told_as_that() {
    for net in nets() {
        let bench = Bench::new();
        let told = bench.run(net, &["no-such-program-anywhere"], json!({}));
        assert_eq!(
            told["ran"]["error"], "no-such-program-anywhere is not installed or not in PATH",
            "{net}: {told}"
        );
        bench.script("plain.txt", "not a program");
        let told = bench.run(net, &["./plain.txt"], json!({}));
        let error = told["ran"]["error"].as_str().expect("an error");
        assert!(error.contains("cannot start ./plain.txt"), "{net}: {told}");
        assert!(told["ran"]["kind"].as_str().expect("a kind").contains("ermission"), "{net}: {told}");
    }
}
