//! Who has come in: keys that open the door once, and the sessions they became. Time is an argument.
//!
//! Only hashes are kept. What is compared is the hash of what somebody shows, bit by bit to the end, so that the time
//! it takes says nothing.

use std::io::Read;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use swarm_server::peer::Role;
use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;

use crate::limits::{Limits, SESSIONS_MAX};

/// Tells the time; tests have one of their own.
pub type Clock = Arc<dyn Fn() -> Instant + Send + Sync>;

pub type Hash = [u8; 32];

/// One session as the command line lists it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SessionView {
    pub id: String,
    pub role: String,
    /// Seconds since it began, and since it was last used.
    pub age: u64,
    pub idle: u64,
}

/// Somebody who has come in.
#[derive(Debug, Clone)]
pub struct Session {
    pub id: String,
    pub role: Role,
    /// Cancelled when it is over: its live connections end with it.
    pub end: CancellationToken,
    /// Live connections that it may still open.
    pub live: Arc<Semaphore>,
    hash: Hash,
    began: Instant,
    used: Instant,
}

struct Key {
    role: Role,
    hash: Hash,
    until: Instant,
}

#[derive(Default)]
struct Known {
    keys: Vec<Key>,
    sessions: Vec<Session>,
}

pub struct Sessions {
    known: Mutex<Known>,
    key_for: Duration,
    idle: Duration,
    live: usize,
}

/// 256 bits that nobody can guess, as text.
pub fn secret() -> std::io::Result<String> {
    let mut bytes = [0; 32];
    std::fs::File::open("/dev/urandom")?.read_exact(&mut bytes)?;
    Ok(hex(&bytes))
}

pub fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

pub fn hash_of(text: &str) -> Hash {
    Sha256::digest(text.as_bytes()).into()
}

pub fn same(one: &Hash, other: &Hash) -> bool {
    one.iter().zip(other).fold(0, |differing, (a, b)| differing | (a ^ b)) == 0
}

impl Sessions {
    pub fn new(limits: &Limits) -> Self {
        let Limits { key_for, session_idle: idle, live_per_session: live, .. } = *limits;
        Self { known: Mutex::default(), key_for, idle, live }
    }

    fn known(&self) -> MutexGuard<'_, Known> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A key that opens the door once. One for the same role that nobody has used is void from now on.
    pub fn new_key(&self, role: Role, now: Instant) -> std::io::Result<String> {
        let key = secret()?;
        let mut known = self.known();
        known.keys.retain(|other| other.role != role);
        known.keys.push(Key { role, hash: hash_of(&key), until: now + self.key_for });
        Ok(key)
    }

    /// Turns a key into a session; what is returned is the secret that the browser keeps.
    pub fn enter(&self, key: &str, now: Instant) -> std::io::Result<Option<String>> {
        let hash = hash_of(key);
        let mut known = self.known();
        known.keys.retain(|key| key.until > now);
        let Some(at) = known.keys.iter().position(|known| same(&known.hash, &hash)) else { return Ok(None) };
        let role = known.keys.remove(at).role;
        let secret = secret()?;
        let id = hex(&hash_of(&format!("id {secret}"))[..4]);
        if known.sessions.len() >= SESSIONS_MAX
            && let Some(oldest) = (0..known.sessions.len()).min_by_key(|at| known.sessions[*at].used)
        {
            known.sessions.remove(oldest).end.cancel();
        }
        known.sessions.push(Session {
            id,
            role,
            end: CancellationToken::new(),
            live: Arc::new(Semaphore::new(self.live)),
            hash: hash_of(&secret),
            began: now,
            used: now,
        });
        Ok(Some(secret))
    }

    /// Whether this is the secret of a session, which is not used by being asked for.
    pub fn knows(&self, secret: &str) -> bool {
        let hash = hash_of(secret);
        self.known().sessions.iter().any(|session| same(&session.hash, &hash))
    }

    /// Whose secret this is.
    pub fn of(&self, secret: &str, now: Instant) -> Option<Session> {
        let hash = hash_of(secret);
        let mut known = self.known();
        self.forget_unused(&mut known, now);
        let session = known.sessions.iter_mut().find(|session| same(&session.hash, &hash))?;
        session.used = now;
        Some(session.clone())
    }

    /// A session with an open page is in use though it asks for nothing.
    pub fn touch(&self, id: &str, now: Instant) {
        if let Some(session) = self.known().sessions.iter_mut().find(|session| session.id == id) {
            session.used = now;
        }
    }

    pub fn list(&self, now: Instant) -> Vec<SessionView> {
        let mut known = self.known();
        self.forget_unused(&mut known, now);
        let view = |session: &Session| SessionView {
            id: session.id.clone(),
            role: session.role.word().into(),
            age: now.saturating_duration_since(session.began).as_secs(),
            idle: now.saturating_duration_since(session.used).as_secs(),
        };
        known.sessions.iter().map(view).collect()
    }

    /// Ends one session, or all of them and every unused key; how many sessions that were.
    pub fn revoke(&self, id: Option<&str>) -> usize {
        let mut known = self.known();
        if id.is_none() {
            known.keys.clear();
        }
        let before = known.sessions.len();
        known.sessions.retain(|session| {
            let goes = id.is_none_or(|id| session.id == id);
            if goes {
                session.end.cancel();
            }
            !goes
        });
        before - known.sessions.len()
    }

    fn forget_unused(&self, known: &mut Known, now: Instant) {
        known.sessions.retain(|session| {
            let stays = now.saturating_duration_since(session.used) < self.idle;
            if !stays {
                session.end.cancel();
            }
            stays
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_opens_once_and_not_for_long() {
        let (sessions, now) = (Sessions::new(&Limits::default()), Instant::now());
        let key = sessions.new_key(Role::Operator, now).expect("a key");
        assert_eq!(key.len(), 64);
        assert!(sessions.enter("0", now).expect("random").is_none());
        let late = now + Duration::from_secs(300);
        assert!(sessions.enter(&key, late).expect("random").is_none(), "five minutes are over");
        assert!(sessions.enter(&key, now).expect("random").is_none(), "and over they are");
        let key = sessions.new_key(Role::Viewer, now).expect("a key");
        let secret = sessions.enter(&key, late - Duration::from_secs(1)).expect("random").expect("in time");
        assert!(sessions.enter(&key, now).expect("random").is_none(), "once");
        assert_eq!(sessions.of(&secret, now).expect("in").role, Role::Viewer);
        assert!(sessions.of(&key, now).is_none(), "a key is no session");
    }

    #[test]
    fn a_new_key_voids_the_unused_one_of_its_role_and_revoking_ends_live_connections() {
        let (sessions, now) = (Sessions::new(&Limits::default()), Instant::now());
        let first = sessions.new_key(Role::Operator, now).expect("a key");
        let viewer = sessions.new_key(Role::Viewer, now).expect("a key");
        let second = sessions.new_key(Role::Operator, now).expect("a key");
        assert!(sessions.enter(&first, now).expect("random").is_none());
        let secrets: Vec<String> =
            [viewer, second].iter().filter_map(|key| sessions.enter(key, now).expect("random")).collect();
        assert_eq!(secrets.len(), 2);
        let (one, other) =
            (sessions.of(&secrets[0], now).expect("in"), sessions.of(&secrets[1], now).expect("in"));
        assert_eq!(sessions.revoke(Some(&one.id)), 1);
        assert!(one.end.is_cancelled() && !other.end.is_cancelled());
        assert!(sessions.of(&secrets[0], now).is_none() && sessions.of(&secrets[1], now).is_some());
        assert_eq!(sessions.revoke(None), 1);
        assert!(sessions.list(now).is_empty());
    }

    #[test]
    fn sessions_are_bounded_and_end_when_nobody_uses_them() {
        let (sessions, now) = (Sessions::new(&Limits::default()), Instant::now());
        let mut secrets = Vec::new();
        for nth in 0..=SESSIONS_MAX as u64 {
            let now = now + Duration::from_secs(nth);
            let key = sessions.new_key(Role::Operator, now).expect("a key");
            secrets.push(sessions.enter(&key, now).expect("random").expect("in"));
        }
        let later = now + Duration::from_secs(100);
        assert_eq!(sessions.list(later).len(), SESSIONS_MAX);
        assert!(sessions.of(&secrets[0], later).is_none(), "the oldest made room");
        let much_later = later + Limits::default().session_idle;
        assert!(sessions.of(&secrets[5], much_later).is_none());
    }
}
