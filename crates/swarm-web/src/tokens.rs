//! Tokens of programs that have no browser: made by a person, shown once, and kept as hashes in a file that no agent sees.
//! Whoever asks is looked up in the file each time, so that one which is revoked ends at once.

use std::fs::{File, OpenOptions};
use std::io::{self, Read, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use rustix::fs::OFlags;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use swarm_server::peer::Role;

use crate::sessions::{hex, secret};

/// With it a token can be recognised where it should not be.
const BEGINS: &str = "swarm-token-";

/// Tokens at once, and bytes of their file.
const TOKENS_MAX: usize = 32;
const FILE_MAX: u64 = 64 * 1024;

/// Letters of a name.
const NAME_MAX: usize = 60;

/// As it stands in the file.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Kept {
    id: String,
    name: String,
    operator: bool,
    hash: String,
    /// Seconds since 1970.
    made: u64,
}

/// One token as the command line lists it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TokenView {
    pub id: String,
    pub name: String,
    pub role: String,
    /// Seconds since it was made.
    pub age: u64,
}

/// A token that was just made: the only time that it is shown.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct NewToken {
    pub id: String,
    pub role: String,
    pub token: String,
}

/// The tokens of one swarm.
#[derive(Debug, Clone)]
pub struct Tokens {
    run: PathBuf,
}

impl Tokens {
    pub fn new(run: &Path) -> Self {
        Self { run: run.to_owned() }
    }

    fn file(&self) -> PathBuf {
        self.run.join("tokens.json")
    }

    /// Makes one for a viewer or an operator.
    pub fn make(&self, role: Role, name: &str) -> io::Result<NewToken> {
        let name: String = name.chars().filter(|c| !c.is_control()).take(NAME_MAX).collect();
        let token = format!("{BEGINS}{}", secret()?);
        let id = hex(&Sha256::digest(format!("id {token}"))[..4]);
        let operator = role == Role::Operator;
        let made = now();
        let kept = Kept { id: id.clone(), name, operator, hash: hash_of(&token), made };
        self.change(|all| {
            if all.len() >= TOKENS_MAX {
                let why = format!("there are {TOKENS_MAX} tokens already: revoke one that nobody uses");
                return Err(io::Error::other(why));
            }
            all.push(kept);
            Ok(())
        })?;
        Ok(NewToken { id, role: word(operator), token })
    }

    pub fn list(&self) -> io::Result<Vec<TokenView>> {
        let now = now();
        let view = |kept: Kept| TokenView {
            age: now.saturating_sub(kept.made),
            role: word(kept.operator),
            id: kept.id,
            name: kept.name,
        };
        Ok(self.read()?.into_iter().map(view).collect())
    }

    /// How many ended; none: all of them.
    pub fn revoke(&self, id: Option<&str>) -> io::Result<usize> {
        self.change(|all| {
            let before = all.len();
            all.retain(|kept| id.is_some_and(|id| id != kept.id));
            Ok(before - all.len())
        })
    }

    /// As whom somebody comes who shows this; none: as nobody.
    pub fn role_of(&self, shown: &str) -> io::Result<Option<Role>> {
        let hash = hash_of(shown);
        let found = self.read()?.into_iter().find(|kept| same(&kept.hash, &hash));
        Ok(found.map(|kept| if kept.operator { Role::Operator } else { Role::Viewer }))
    }

    fn read(&self) -> io::Result<Vec<Kept>> {
        // Not through a link: what is read here opens the door.
        let nofollow = OFlags::NOFOLLOW.bits().cast_signed();
        let file = match OpenOptions::new().read(true).custom_flags(nofollow).open(self.file()) {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(vec![]),
            Err(error) => return Err(error),
        };
        let mut text = String::new();
        file.take(FILE_MAX).read_to_string(&mut text)?;
        Ok(serde_json::from_str(&text)?)
    }

    /// One at a time; after a crash there is the old file or the new one.
    fn change<T>(&self, change: impl FnOnce(&mut Vec<Kept>) -> io::Result<T>) -> io::Result<T> {
        let lock =
            File::options().create(true).append(true).mode(0o600).open(self.run.join("tokens.lock"))?;
        lock.lock()?;
        let mut all = self.read()?;
        let changed = change(&mut all)?;
        let temporary = self.run.join("tokens.json.tmp");
        match std::fs::remove_file(&temporary) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
        let mut file = OpenOptions::new().create_new(true).write(true).mode(0o600).open(&temporary)?;
        file.write_all(&serde_json::to_vec(&all)?)?;
        file.sync_all()?;
        std::fs::rename(&temporary, self.file())?;
        File::open(&self.run)?.sync_all()?;
        Ok(changed)
    }
}

fn hash_of(token: &str) -> String {
    hex(&Sha256::digest(token.as_bytes()))
}

/// To the end, so that the time it takes says nothing.
fn same(one: &str, other: &str) -> bool {
    one.len() == other.len()
        && one.bytes().zip(other.bytes()).fold(0, |differs, (a, b)| differs | (a ^ b)) == 0
}

fn word(operator: bool) -> String {
    if operator { Role::Operator.word().into() } else { Role::Viewer.word().into() }
}

fn now() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs())
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    #[test]
    fn a_token_is_shown_once_kept_as_a_hash_and_nobody_else_reads_the_file() {
        let dir = tempfile::tempdir().expect("a folder");
        let tokens = Tokens::new(dir.path());
        assert_eq!(tokens.role_of("").expect("no file"), None);
        let made = tokens.make(Role::Viewer, "my \u{1b}[2Jlaptop").expect("made");
        let operator = tokens.make(Role::Operator, "").expect("made");
        let file = std::fs::read_to_string(dir.path().join("tokens.json")).expect("written");
        let hidden = made.token.strip_prefix(BEGINS).expect("it can be recognised");
        assert!(!file.contains(hidden) && hidden.len() == 64, "{file}");
        let mode = std::fs::metadata(dir.path().join("tokens.json")).expect("there").permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
        assert_eq!(tokens.role_of(&made.token).expect("read"), Some(Role::Viewer));
        assert_eq!(tokens.role_of(&operator.token).expect("read"), Some(Role::Operator));
        assert_eq!(tokens.role_of(&file).expect("read"), None);
        let names: Vec<String> = tokens.list().expect("read").into_iter().map(|one| one.name).collect();
        assert_eq!(names, ["my [2Jlaptop", ""]);
    }

    #[test]
    fn one_that_is_revoked_is_nobody_and_there_is_a_bound() {
        let dir = tempfile::tempdir().expect("a folder");
        let tokens = Tokens::new(dir.path());
        let made: Vec<NewToken> =
            (0..TOKENS_MAX).map(|_| tokens.make(Role::Operator, "").expect("made")).collect();
        assert!(tokens.make(Role::Viewer, "").expect_err("full").to_string().contains("revoke one"));
        assert_eq!(tokens.revoke(Some(&made[3].id)).expect("written"), 1);
        assert_eq!(tokens.role_of(&made[3].token).expect("read"), None);
        assert_eq!(tokens.role_of(&made[4].token).expect("read"), Some(Role::Operator));
        assert_eq!(tokens.revoke(None).expect("written"), TOKENS_MAX - 1);
        assert_eq!(tokens.role_of(&made[4].token).expect("read"), None);
    }

    #[test]
    fn a_file_that_is_a_link_or_damaged_opens_nothing() {
        let dir = tempfile::tempdir().expect("a folder");
        let tokens = Tokens::new(dir.path());
        let made = tokens.make(Role::Operator, "").expect("made");
        let (file, aside) = (dir.path().join("tokens.json"), dir.path().join("aside"));
        std::fs::rename(&file, &aside).expect("moved");
        std::os::unix::fs::symlink(&aside, &file).expect("linked");
        assert!(tokens.role_of(&made.token).is_err());
        std::fs::remove_file(&file).expect("gone");
        std::fs::write(&file, "[{\"id\":").expect("written");
        assert!(tokens.role_of(&made.token).is_err());
    }
}
