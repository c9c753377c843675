//! What a monitoring program shows to read the numbers: a token in a file that only the user can read. It opens `/metrics`
//! and nothing else, and stays the same when the door is opened anew, because such programs are configured once.

use std::fs::{File, OpenOptions};
use std::io::{self, Read, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use axum::http::{HeaderMap, header};

use crate::sessions::{Hash, hash_of, same, secret};

/// `.swarm/run/metrics.token`.
pub fn file_in(run: &Path) -> PathBuf {
    run.join("metrics.token")
}

pub struct Token(Hash);

impl Token {
    /// The token of this swarm, made on first use. To be called under the door's lock: nobody else makes one.
    pub fn of(run: &Path) -> io::Result<Self> {
        let path = file_in(run);
        if let Some(token) = read(&path)? {
            return Ok(Self(hash_of(&token)));
        }
        let token = secret()?;
        let beside = path.with_extension("token.tmp");
        match std::fs::remove_file(&beside) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
        let mut file = OpenOptions::new().create_new(true).write(true).mode(0o600).open(&beside)?;
        file.write_all(token.as_bytes())?;
        file.sync_all()?;
        std::fs::rename(&beside, &path)?;
        Ok(Self(hash_of(&token)))
    }

    /// Whether the request shows it.
    pub fn is_shown(&self, headers: &HeaderMap) -> bool {
        let mut shown = headers.get_all(header::AUTHORIZATION).iter();
        let (Some(shown), None) = (shown.next(), shown.next()) else { return false };
        let token = shown.to_str().ok().and_then(|text| text.strip_prefix("Bearer "));
        token.is_some_and(|token| same(&self.0, &hash_of(token)))
    }
}

/// One that is no token of ours, cut short for example, is as none.
fn read(path: &Path) -> io::Result<Option<String>> {
    let mut text = String::new();
    match File::open(path) {
        Ok(file) => file.take(256).read_to_string(&mut text)?,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error),
    };
    let is_whole = text.len() == 64 && text.bytes().all(|byte| byte.is_ascii_hexdigit());
    Ok(is_whole.then_some(text))
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    #[test]
    fn a_token_is_made_once_for_the_user_alone_and_a_torn_one_is_made_anew() {
        let dir = tempfile::tempdir().expect("a folder");
        let (run, file) = (dir.path(), file_in(dir.path()));
        let first = Token::of(run).expect("a token");
        assert_eq!(std::fs::metadata(&file).expect("a file").permissions().mode() & 0o777, 0o600);
        let shows = |text: &str| {
            let mut headers = HeaderMap::new();
            headers.insert(header::AUTHORIZATION, text.parse().expect("a header"));
            headers
        };
        let token = std::fs::read_to_string(&file).expect("text");
        assert!(first.is_shown(&shows(&format!("Bearer {token}"))));
        assert!(Token::of(run).expect("the same").is_shown(&shows(&format!("Bearer {token}"))));
        for wrong in ["Bearer ", &token, &format!("Basic {token}"), &format!("Bearer {token}0")] {
            assert!(!first.is_shown(&shows(wrong)), "{wrong}");
        }
        assert!(!first.is_shown(&HeaderMap::new()));
        std::fs::write(&file, &token[..20]).expect("torn");
        assert!(!Token::of(run).expect("another").is_shown(&shows(&format!("Bearer {token}"))));
    }
}
