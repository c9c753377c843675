//! Which pieces the view is made of, in the order in which they are laid: from the top down, so that what lies deeper is laid
//! upon what lies above it.

use std::fs::DirBuilder;
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};

use super::sockets::{self, Known};
use super::{Seen, mounts};
use crate::sandbox::readable::names_of;
use crate::sandbox::spec::{BINDS_MAX, SandboxSpec};

/// Where sockets and files of everybody lie: the program gets empty ones of its own.
const SHARED: [&str; 4] = ["/run", "/var/run", "/tmp", "/var/tmp"];

/// In the run's own temporary folder: what the program sees as the machine's, and its changes to what it may not change.
const OWN: &str = ".view";

pub struct Piece {
    pub target: PathBuf,
    rank: Rank,
    pub what: What,
}

/// Of two pieces at the same place the later one counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Rank {
    Covered,
    Visible,
    Layered,
    Hidden,
    Writable,
    Bound,
    Closed,
}

pub enum What {
    /// `must`: without it the program is not started.
    Tree {
        tree: OwnedFd,
        read_only: bool,
        is_dir: bool,
        must: bool,
    },
    Memory {
        mode: &'static str,
    },
    Nothing,
    /// `missing`: what must not be seen there, should it ever come to be in `lower`.
    Layered {
        lower: OwnedFd,
        own: PathBuf,
        missing: Vec<PathBuf>,
    },
    Link {
        to: PathBuf,
    },
    /// What was made there stays as it is.
    Closed,
}

/// Everything that is laid, its sources held. `known`: the sockets of this machine.
pub fn pieces(spec: &SandboxSpec, known: &Known, seen: &mut Seen) -> Result<Vec<Piece>, String> {
    if spec.binds.len() > BINDS_MAX {
        return Err(format!("{} places are to be bound, and {BINDS_MAX} can be", spec.binds.len()));
    }
    let own =
        spec.tmp.canonicalize().map_err(|error| format!("cannot find {}: {error}", spec.tmp.display()))?;
    let own = own.join(OWN);
    let cannot_make = |error: io::Error| format!("cannot make a folder of the program's own: {error}");
    own_folder(&own).map_err(cannot_make)?;
    let mut plan = Plan { pieces: Vec::new(), seen };
    let writable = existing(spec.writable_places());
    let visible = existing(spec.visible_places());
    let covered = covered(&writable, &visible);
    let seen_again = existing(visible.iter().filter_map(|place| seen_again(place, &covered)).collect());
    plan.cover(&covered, &own, &seen_again)
        .map_err(|error| format!("cannot make a temporary folder: {error}"))?;
    for place in &seen_again {
        plan.tree(place, place, true, Rank::Visible);
    }
    for (number, cache) in existing(spec.caches.clone()).into_iter().enumerate() {
        let changes = own.join(format!("cache-{number}"));
        own_folder(&changes).map_err(cannot_make)?;
        plan.layered(cache, changes, &spec.masked);
    }
    let masked = existing(spec.masked.clone());
    for place in masked.iter().cloned().chain(existing(spec.covered.clone())) {
        plan.push(place, Rank::Hidden, What::Nothing);
    }
    for place in &writable {
        plan.tree(place, place, false, Rank::Writable);
    }
    for bind in &spec.binds {
        let source = bind.source.canonicalize();
        let source = source.map_err(|error| format!("cannot bind {}: {error}", bind.source.display()))?;
        plan.tree(&source, &bind.target, bind.read_only, Rank::Bound);
    }
    // By its own name too: what is looked through for sockets has no links on the way.
    let hidden = spec.hidden.iter().cloned().chain(existing(spec.hidden.clone()));
    let open: Vec<PathBuf> = writable.iter().cloned().chain(hidden).collect();
    let skip = |path: &Path| {
        let is_gone = covered.iter().any(|above| path.starts_with(above))
            && !seen_again.iter().any(|seen| path.starts_with(seen));
        is_gone || open.iter().any(|open| path.starts_with(open))
    };
    for socket in sockets::named(known, &near(spec, &masked), &skip) {
        plan.push(socket, Rank::Hidden, What::Nothing);
    }
    // It lies where the program may write, and the next program of the run is given what is found there: a link in its
    // place would lead that one to whatever the person has.
    plan.push(own, Rank::Closed, What::Nothing);
    let mut pieces = plan.pieces;
    pieces.sort_by_key(|piece| (piece.rank == Rank::Closed, piece.target.components().count(), piece.rank));
    Ok(pieces)
}

struct Plan<'a> {
    pieces: Vec<Piece>,
    seen: &'a mut Seen,
}

impl Plan<'_> {
    fn push(&mut self, target: PathBuf, rank: Rank, what: What) {
        self.pieces.push(Piece { target, rank, what });
    }

    /// The shared folders: temporary ones on disk beside the run's own, the others empty but for the names that are links.
    fn cover(&mut self, covered: &[PathBuf], own: &Path, seen_again: &[PathBuf]) -> io::Result<()> {
        for place in covered {
            if place.ends_with("tmp") {
                let name = place.to_string_lossy().replace('/', "_");
                let source = own.join(name.trim_start_matches('_'));
                own_folder(&source)?;
                self.tree(&source, place, false, Rank::Covered);
                // A right to all of it would be one to what is shown again in it, the swarm's secrets included.
                if !seen_again.iter().any(|again| again.starts_with(place)) {
                    self.seen.own.push(place.clone());
                }
                continue;
            }
            self.push(place.clone(), Rank::Covered, What::Memory { mode: "0755" });
            for entry in std::fs::read_dir(place)?.flatten() {
                if let Ok(to) = std::fs::read_link(entry.path()) {
                    self.push(entry.path(), Rank::Visible, What::Link { to });
                }
            }
            self.push(place.clone(), Rank::Closed, What::Closed);
        }
        Ok(())
    }

    fn tree(&mut self, source: &Path, target: &Path, read_only: bool, rank: Rank) {
        let is_dir = source.is_dir();
        match mounts::copy_of(source) {
            Ok(tree) => self.push(
                target.to_owned(),
                rank,
                What::Tree { tree, read_only, is_dir, must: rank == Rank::Bound },
            ),
            Err(error) => self.seen.missing.push(format!("{} is not there: {error}", target.display())),
        }
    }

    fn layered(&mut self, cache: PathBuf, own: PathBuf, masked: &[PathBuf]) {
        match mounts::opened(&cache) {
            Ok(lower) if cache.is_dir() => {
                let names = masked.iter().flat_map(|place| names_of(place));
                let not_there = names.filter(|name| std::fs::symlink_metadata(name).is_err());
                let missing = not_there.filter_map(|name| Some(name.strip_prefix(&cache).ok()?.to_owned()));
                let missing = missing.collect();
                self.push(cache, Rank::Layered, What::Layered { lower, own, missing });
            }
            Ok(_) => {}
            Err(error) => self.seen.missing.push(format!("{} can only be read: {error}", cache.display())),
        }
    }
}

/// Made if it is not there. What an earlier program of the run has put in its place is not followed.
fn own_folder(path: &Path) -> io::Result<()> {
    match DirBuilder::new().mode(0o700).create(path) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
        made => return made,
    }
    match std::fs::symlink_metadata(path)?.is_dir() {
        true => Ok(()),
        false => Err(io::Error::other(format!("{} is no folder of ours any more", path.display()))),
    }
}

/// Where people have their things: the home folder, where something is hidden, and the checkout.
fn near(spec: &SandboxSpec, masked: &[PathBuf]) -> Vec<PathBuf> {
    let above = |place: &PathBuf| place.parent().map(Path::to_path_buf);
    let checkout = spec.git.iter().filter_map(|git| above(&git.common_dir));
    let home = std::env::var_os("HOME").map(PathBuf::from).filter(|home| home.is_absolute());
    let all = masked.iter().filter_map(above).chain(checkout).chain(home);
    existing(all.filter(|place| place != Path::new("/")).collect())
}

/// As if it had been removed from the layer below. Where an earlier program of the run has put something of its own in the
/// place of a folder on the way, that is all there is to see.
pub fn removed(upper: &Path, name: &Path) -> io::Result<()> {
    let mut folder = upper.to_owned();
    for part in name.parent().into_iter().flatten() {
        folder.push(part);
        if let Err(error) = DirBuilder::new().mode(0o755).create(&folder) {
            match error.kind() {
                io::ErrorKind::AlreadyExists if std::fs::symlink_metadata(&folder)?.is_dir() => {}
                io::ErrorKind::AlreadyExists => return Ok(()),
                _ => return Err(error),
            }
        }
    }
    mounts::nothing(&upper.join(name))
}

/// Those of the shared folders that the program does not live in.
fn covered(writable: &[PathBuf], visible: &[PathBuf]) -> Vec<PathBuf> {
    let shared = SHARED
        .iter()
        .map(PathBuf::from)
        .filter(|place| place.canonicalize().is_ok_and(|real| real == *place));
    let lived_in = |place: &PathBuf| {
        writable.iter().chain(visible).any(|needed| place.starts_with(needed) && needed != Path::new("/"))
    };
    shared.filter(|place| place.is_dir() && !lived_in(place)).collect()
}

/// What is shown again of a place below a covered folder. Below a temporary one it is the whole folder of whoever works
/// there, below the others nothing but the place.
fn seen_again(place: &Path, covered: &[PathBuf]) -> Option<PathBuf> {
    let above = covered.iter().find(|above| place.starts_with(above))?;
    let first = place.strip_prefix(above).ok()?.components().next()?;
    Some(if above.ends_with("tmp") { above.join(first) } else { place.to_owned() })
}

/// By their own names, each once, those that are there.
fn existing(places: Vec<PathBuf>) -> Vec<PathBuf> {
    let mut all: Vec<PathBuf> = places.into_iter().filter_map(|place| place.canonicalize().ok()).collect();
    all.sort();
    all.dedup();
    all
}

/// Whether something can be mounted there; made where that is possible.
pub fn has_point(target: &Path, is_dir: bool) -> bool {
    match std::fs::symlink_metadata(target) {
        Ok(meta) => meta.is_dir() == is_dir && !meta.is_symlink(),
        Err(_) if is_dir => std::fs::create_dir_all(target).is_ok(),
        Err(_) => {
            let parent = target.parent().is_some_and(|parent| std::fs::create_dir_all(parent).is_ok());
            parent && std::fs::File::create_new(target).is_ok()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_link_that_a_program_left_is_no_folder_of_ours() {
        let dir = tempfile::tempdir().expect("a folder");
        let (own, link) = (dir.path().join("own"), dir.path().join("link"));
        own_folder(&own).expect("made");
        own_folder(&own).expect("there");
        std::os::unix::fs::symlink(&own, &link).expect("linked");
        own_folder(&link).expect_err("it leads elsewhere");
    }

    #[test]
    fn what_must_not_come_to_be_in_a_cache_is_removed_and_no_link_is_followed() {
        use std::os::unix::fs::FileTypeExt;
        let dir = tempfile::tempdir().expect("a folder");
        let (upper, mine) = (dir.path().join("upper"), dir.path().join("mine"));
        for made in [&upper, &mine] {
            std::fs::create_dir(made).expect("made");
        }
        removed(&upper, Path::new("a/key")).expect("removed");
        removed(&upper, Path::new("a/key")).expect("removed already");
        let mark = std::fs::symlink_metadata(upper.join("a/key")).expect("a mark");
        assert!(mark.file_type().is_char_device());
        std::os::unix::fs::symlink(&mine, upper.join("link")).expect("linked");
        removed(&upper, Path::new("link/key")).expect("it is the program's own");
        assert!(!mine.join("key").exists());
    }

    #[test]
    fn what_is_the_programs_own_is_covered_last() {
        let dir = tempfile::tempdir().expect("a folder");
        let tmp = dir.path().canonicalize().expect("a path");
        let pieces = pieces(&SandboxSpec::of_a_trial(tmp.clone()), &Known::default(), &mut Seen::default());
        let pieces = pieces.expect("pieces");
        let covers = |piece: &Piece| piece.target == tmp.join(OWN) && matches!(piece.what, What::Nothing);
        let at = pieces.iter().position(covers).expect("covered");
        assert!(pieces[at..].iter().all(|piece| piece.rank == Rank::Closed));
    }
}
