//! A SHA-256 in the form the ledger writes it: 64 lower-case hex digits.
//!
//! It is kept as text because the ledger only compares and prints it; decoding two of them for
//! every line of a replay would cost more than everything else the parser does.

use std::fmt;
use std::str::FromStr;

use sha2::{Digest, Sha256};

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Hash([u8; 64]);

impl Hash {
    pub fn of(bytes: &[u8]) -> Self {
        Self::from_digest(&Sha256::digest(bytes))
    }

    /// Takes 64 bytes of lower-case hex as they stand in a line.
    pub fn from_hex(hex: &[u8]) -> Option<Self> {
        let digits: [u8; 64] = hex.try_into().ok()?;
        // Without an early exit the compiler checks sixteen digits at a time; this runs twice per line.
        let other = |d: u8| u8::from(d.wrapping_sub(b'0') > 9) & u8::from(d.wrapping_sub(b'a') > 5);
        let others = digits.iter().fold(0, |found, digit| found | other(*digit));
        (others == 0).then_some(Self(digits))
    }

    pub fn as_str(&self) -> &str {
        std::str::from_utf8(&self.0).expect("a hash is made of hex digits only")
    }

    pub fn as_bytes(&self) -> &[u8; 64] {
        &self.0
    }

    fn from_digest(digest: &[u8]) -> Self {
        const DIGITS: &[u8; 16] = b"0123456789abcdef";
        let mut hex = [0; 64];
        for (pair, byte) in hex.chunks_exact_mut(2).zip(digest) {
            pair[0] = DIGITS[usize::from(byte >> 4)];
            pair[1] = DIGITS[usize::from(byte & 15)];
        }
        Self(hex)
    }
}

/// A hash over bytes that come in pieces.
#[derive(Default)]
pub struct Hasher(Sha256);

impl Hasher {
    pub fn update(&mut self, bytes: &[u8]) {
        self.0.update(bytes);
    }

    pub fn finish(self) -> Hash {
        Hash::from_digest(&self.0.finalize())
    }
}

impl fmt::Display for Hash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl fmt::Debug for Hash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Hash({})", &self.as_str()[..12])
    }
}

/// The text was not 64 lower-case hex digits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("not a SHA-256 in 64 lower-case hex digits")]
pub struct NotAHash;

impl FromStr for Hash {
    type Err = NotAHash;

    fn from_str(text: &str) -> Result<Self, NotAHash> {
        Self::from_hex(text.as_bytes()).ok_or(NotAHash)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_hash_of_abc_is_the_published_one() {
        let abc = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
        assert_eq!(Hash::of(b"abc").as_str(), abc);
        assert_eq!(abc.parse::<Hash>(), Ok(Hash::of(b"abc")));
        assert_eq!(abc.to_uppercase().parse::<Hash>(), Err(NotAHash));
    }
}
