//! What a daemon proves itself by: derived from one key and the run's nonce, so nothing has to be
//! remembered and a coordinator that comes later knows it too.

use std::fs::OpenOptions;
use std::io::{self, Read, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::Path;

use sha2::{Digest, Sha256};
use swarm_protocol::ids::RunId;

const KEY_FILE: &str = "secret.key";

/// The key of this swarm, `run/secret.key`; made on first use, from then on the same for all.
pub fn secret_key(run_dir: &Path) -> io::Result<[u8; 32]> {
    let path = run_dir.join(KEY_FILE);
    if let Some(key) = read_key(&path)? {
        return Ok(key);
    }
    std::fs::DirBuilder::new().recursive(true).mode(0o700).create(run_dir)?;
    let temporary = run_dir.join(format!("{KEY_FILE}.{}.tmp", ulid::Ulid::generate()));
    let mut key = [0; 32];
    std::fs::File::open("/dev/urandom")?.read_exact(&mut key)?;
    let mut file = OpenOptions::new().create_new(true).write(true).mode(0o600).open(&temporary)?;
    file.write_all(&key)?;
    file.sync_all()?;
    // A link, not a rename: of two that come at once, one makes the key and both read it.
    let linked = std::fs::hard_link(&temporary, &path);
    std::fs::remove_file(&temporary)?;
    match linked {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(error),
        _ => std::fs::File::open(run_dir)?.sync_all()?,
    }
    read_key(&path)?.ok_or_else(|| io::Error::other(format!("{} vanished", path.display())))
}

fn read_key(path: &Path) -> io::Result<Option<[u8; 32]>> {
    match std::fs::read(path) {
        Ok(bytes) => {
            let damaged =
                || io::Error::other(format!("{} is damaged: stop all daemons and delete it", path.display()));
            Ok(Some(bytes.try_into().map_err(|_| damaged())?))
        }
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

/// The secret of one run: HMAC-SHA-256 of its name and nonce under the key.
pub fn secret_of(key: &[u8; 32], run: &RunId, nonce: &str) -> [u8; 32] {
    hmac(key, format!("{run}\n{nonce}").as_bytes())
}

/// RFC 2104 for a key that is shorter than a block.
fn hmac(key: &[u8; 32], message: &[u8]) -> [u8; 32] {
    let mut block = [0u8; 64];
    block[..32].copy_from_slice(key);
    let inner = Sha256::new().chain_update(block.map(|byte| byte ^ 0x36)).chain_update(message).finalize();
    Sha256::new().chain_update(block.map(|byte| byte ^ 0x5c)).chain_update(inner).finalize().into()
}

/// Whether the text a daemon sent is the secret; takes equally long for every wrong one.
pub fn is_secret(secret: &[u8; 32], text: &str) -> bool {
    let expected = to_hex(secret);
    let differing = expected.bytes().zip(text.bytes()).fold(0, |all, (a, b)| all | (a ^ b));
    expected.len() == text.len() && differing == 0
}

pub fn to_hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_key_is_made_once_and_readable_by_nobody_else() {
        use std::os::unix::fs::PermissionsExt;
        let dir = tempfile::tempdir().expect("a folder");
        let run = dir.path().join("run");
        let keys: Vec<_> = std::thread::scope(|scope| {
            let threads: Vec<_> = (0..4).map(|_| scope.spawn(|| secret_key(&run))).collect();
            threads.into_iter().map(|thread| thread.join().expect("no panic").expect("a key")).collect()
        });
        let key = secret_key(&run).expect("there is one");
        assert!(keys.iter().all(|other| *other == key) && key != [0; 32]);
        let mode = std::fs::metadata(run.join(KEY_FILE)).expect("there").permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
    }

    #[test]
    fn the_secret_is_the_hmac_of_the_standard() {
        // Computed with another program: HMAC-SHA-256, key 32 times 0x0b, message "Hi There".
        let mac = hmac(&[0x0b; 32], b"Hi There");
        assert_eq!(to_hex(&mac), "198a607eb44bfbc69903a0f1cf2bbdc5ba0aa3f3d9ae3c1c7a3b1696a0b68cf7");
    }

    #[test]
    fn another_run_or_nonce_has_another_secret() {
        let secret = secret_of(&[1; 32], &RunId::nth(1), "n");
        assert!(is_secret(&secret, &to_hex(&secret)));
        for other in [secret_of(&[1; 32], &RunId::nth(2), "n"), secret_of(&[1; 32], &RunId::nth(1), "m")] {
            assert!(!is_secret(&secret, &to_hex(&other)));
        }
        assert!(!is_secret(&secret, "") && !is_secret(&secret, &to_hex(&secret)[..63]));
    }
}
