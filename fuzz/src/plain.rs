//! Without a fuzzer: the corpus, then random changes of it. Blind, but it runs wherever the product is built.

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::{Duration, Instant};

const INPUT_MAX: usize = 64 << 10;
/// An input that takes longer is a finding: nothing of its size may.
const TOO_LONG: Duration = Duration::from_secs(5);
/// Pieces that chance alone would not hit upon.
const WORDS: [&str; 16] = [
    "\n",
    "\"",
    "\\u0000",
    "{",
    "}",
    "[",
    "null",
    "-1",
    "18446744073709551616",
    "1e309",
    "\u{202e}",
    "\u{feff}",
    "\"type\":",
    "- [ ] ",
    "```",
    ": ",
];

pub fn run(name: &str, target: fn(&[u8])) -> ExitCode {
    let (mut places, mut time, mut seed) = (Vec::new(), Duration::ZERO, 1);
    let mut words = std::env::args().skip(1);
    while let Some(word) = words.next() {
        match (word.as_str(), words.next()) {
            ("--for", Some(secs)) => time = Duration::from_secs(secs.parse().expect("seconds")),
            ("--seed", Some(number)) => seed = number.parse().expect("a number"),
            (_, next) => {
                places.push(PathBuf::from(&word));
                places.extend(next.map(PathBuf::from));
            }
        }
    }
    let corpus: Vec<Vec<u8>> = places.iter().flat_map(|place| files(place)).collect();
    let (began, mut tried, mut chance) = (Instant::now(), 0_u64, Chance(seed));
    for input in &corpus {
        attempt(target, input);
        tried += 1;
    }
    while began.elapsed() < time && !corpus.is_empty() {
        attempt(target, &chance.changed(&corpus));
        tried += 1;
    }
    let per_second = tried as f64 / began.elapsed().as_secs_f64().max(0.001);
    println!("{name}: {tried} inputs, {per_second:.0} a second, {} in the corpus", corpus.len());
    ExitCode::SUCCESS
}

/// Keeps the input of a panic, so that it can be given again.
fn attempt(target: fn(&[u8]), input: &[u8]) {
    let began = Instant::now();
    let kept = Kept(input);
    target(input);
    assert!(began.elapsed() < TOO_LONG, "{} bytes took {:?}", input.len(), began.elapsed());
    drop(kept);
}

struct Kept<'a>(&'a [u8]);

impl Drop for Kept<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            let sum = self.0.iter().fold(14_695_981_039_346_656_037_u64, |sum, byte| {
                (sum ^ u64::from(*byte)).wrapping_mul(1_099_511_628_211)
            });
            let file = format!("fuzz-{sum:016x}");
            match std::fs::write(&file, self.0) {
                Ok(()) => eprintln!("the input is kept in {file}"),
                Err(error) => eprintln!("the input cannot be kept: {error}"),
            }
        }
    }
}

fn files(place: &Path) -> Vec<Vec<u8>> {
    if place.is_dir() {
        let mut all: Vec<_> =
            std::fs::read_dir(place).expect("a folder").flatten().map(|e| e.path()).collect();
        all.sort();
        return all.iter().flat_map(|path| files(path)).collect();
    }
    vec![std::fs::read(place).unwrap_or_else(|error| panic!("{}: {error}", place.display()))]
}

/// xorshift: enough to be different each time, and the same for the same seed.
struct Chance(u64);

impl Chance {
    fn below(&mut self, end: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 >> 11).unwrap_or(0) % end.max(1)
    }

    fn changed(&mut self, corpus: &[Vec<u8>]) -> Vec<u8> {
        let mut input = corpus[self.below(corpus.len())].clone();
        for _ in 0..=self.below(6) {
            let at = self.below(input.len() + 1);
            let end = (at + self.below(32)).min(input.len());
            match self.below(6) {
                0 if at < input.len() => input[at] ^= 1 << self.below(8),
                1 => drop(input.drain(at..end)),
                2 => {
                    let piece = input[at..end].to_vec();
                    let to = self.below(input.len() + 1);
                    input.splice(to..to, piece);
                }
                3 => {
                    let other = &corpus[self.below(corpus.len())];
                    let from = self.below(other.len() + 1);
                    input.truncate(at);
                    input.extend_from_slice(&other[from..]);
                }
                4 => drop(input.splice(at..at, WORDS[self.below(WORDS.len())].bytes())),
                _ => drop(input.splice(at..at, [self.below(256) as u8])),
            }
        }
        input.truncate(INPUT_MAX);
        input
    }
}
