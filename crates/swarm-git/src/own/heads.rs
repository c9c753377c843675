//! Where the agent's own repository stands: two plain names of objects, or nothing.

use std::path::Path;

use swarm_protocol::ids::Oid;

use super::OwnRepository;
use super::beneath::Beneath;

/// A ref is one line.
pub(super) const REF_BYTES_MAX: u64 = 512;
pub(super) const PACKED_BYTES_MAX: u64 = 16 << 20;

/// What the agent's refs say, as far as they are plain.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Heads {
    /// Of the task's branch.
    pub branch: Option<Oid>,
    /// Of what is checked out.
    pub head: Option<Oid>,
    /// HEAD stands on the task's branch.
    pub on_branch: bool,
}

impl Heads {
    /// The commits that they name, each once.
    pub fn all(&self) -> Vec<&Oid> {
        let mut all: Vec<&Oid> = self.branch.iter().collect();
        all.extend(self.head.iter().filter(|head| Some(*head) != self.branch.as_ref()));
        all
    }
}

impl OwnRepository {
    /// None where there is no such repository.
    pub fn heads(&self) -> Option<Heads> {
        Some(read(&Beneath::open(&self.dir).ok()?, &self.branch()))
    }
}

pub(super) fn read(own: &Beneath, branch: &str) -> Heads {
    let text = own.read(Path::new("HEAD"), REF_BYTES_MAX).unwrap_or_default();
    let text = String::from_utf8(text).unwrap_or_default();
    let name = text.strip_prefix("ref:").map(str::trim);
    let head = match name {
        // A name that leads elsewhere is no branch of this repository.
        Some(name) if name.starts_with("refs/heads/") => value(own, name),
        Some(_) => None,
        None => oid(text.trim()),
    };
    Heads { branch: value(own, branch), head, on_branch: name == Some(branch) }
}

/// A ref that stands for another one has no value here: what an agent links together is not looked into.
fn value(own: &Beneath, name: &str) -> Option<Oid> {
    if name.split('/').any(|part| part.is_empty() || part == "." || part == "..") {
        return None;
    }
    if own.is_there(Path::new(name)) {
        return oid(String::from_utf8(own.read(Path::new(name), REF_BYTES_MAX)?).ok()?.trim());
    }
    let packed = own.read(Path::new("packed-refs"), PACKED_BYTES_MAX)?;
    let packed = String::from_utf8_lossy(&packed);
    packed.lines().find_map(|line| {
        let (oid_text, its_name) = line.split_once(' ')?;
        (its_name.trim_end() == name).then(|| oid(oid_text)).flatten()
    })
}

pub(super) fn oid(text: &str) -> Option<Oid> {
    Oid::new(text).ok().filter(|oid| oid.as_str().bytes().any(|byte| byte != b'0'))
}
