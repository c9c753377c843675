//! Opening a ledger: prove what is there, repair what can be repaired, lose nothing silently.
//!
//! 1. Walk the chain over the ledger and its second copy to the last complete batch.
//! 2. Lines taken from the copy are put back into the ledger (damaged bytes kept first).
//! 3. What lies behind the last complete batch is a torn tail, or damage if anything proves that
//!    more had been durable. A torn tail goes to quarantine. Damage goes there too, with a note,
//!    or is left alone until a person says so.
//!
//! Reading access does none of the writing. Writing access assumes the locks are held. Dying at any
//! point leaves bytes twice rather than not at all, and the next recovery ends in the same place.

use std::io;
use std::path::PathBuf;
use std::sync::Arc;

use crate::batch::Head;
use crate::evidence::Behind;
use crate::finding::{Finding, Mark, Witness};
use crate::frame::Line;
use crate::genesis::{FORMAT, Genesis};
use crate::missing;
use crate::note::{self, LossNote};
use crate::open_error::OpenError;
use crate::paths::{LedgerPaths, parent};
use crate::recovered::Recovered;
use crate::repair::Repair;
use crate::scan::{Patch, Walk, Walker, genesis_of};
use crate::source::Source;
use crate::vfs::{Open, Vfs, VfsFile};

/// What happens to damage that the second copy cannot repair.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OnDamage {
    /// Move the suffix aside, note the loss, go on.
    Quarantine,
    /// Open for reading only until a person decides.
    Ask,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Access {
    Read,
    Write,
}

/// A record a snapshot covers, and where the snapshot believes its line starts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Base {
    pub seq: u64,
    pub hash: crate::hash::Hash,
    pub offset: u64,
}

/// What is asked of a recovery.
pub struct Recovery<'a> {
    pub vfs: &'a Arc<dyn Vfs>,
    pub paths: &'a LedgerPaths,
    pub witnesses: &'a [Witness],
    /// Tried in order; the first that lies on the ledger saves the walk up to it.
    pub bases: &'a [Base],
    pub on_damage: OnDamage,
    pub access: Access,
}

/// Proves the ledger and shows every record of complete batches behind the base that was accepted
/// (the first line shown tells: its seq is the base's plus one, or 1).
pub fn recover(request: &Recovery<'_>, visit: &mut dyn FnMut(&Line<'_>)) -> Result<Recovered, OpenError> {
    let path = &request.paths.main;
    // The copy's length is taken before the ledger's: it is always behind, so a reader that looks
    // in this order never sees it ahead while somebody writes.
    let (mut copy, copy_error) = open_copy(request);
    let how = if request.access == Access::Write { Open::Write } else { Open::Read };
    let file = match request.vfs.open(path, how) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            return missing::recover_from_copy(request, copy, visit);
        }
        Err(source) if is_read_only(&source) && how == Open::Write => {
            return Err(OpenError::ReadOnly { path: path.clone(), source });
        }
        Err(source) => return Err(OpenError::Io { doing: "open", path: path.clone(), source }),
    };
    if request.access == Access::Write {
        // What a writer that died left in the cache becomes durable before it is believed.
        file.sync_data().map_err(|source| OpenError::SyncFailed { path: path.clone(), source })?;
        // So does its name: whoever made or restored the ledger may have died before the directory
        // was synced, and everything answered from now on would go with the name.
        for dir in [request.paths.dir(), parent(request.paths.dir())] {
            request.vfs.sync_dir(dir).map_err(OpenError::io("make durable the name of", path))?;
        }
    }
    let mut main = Source::new(file.clone()).map_err(OpenError::io("read", path))?;
    refuse_other(request, &mut main, copy.as_mut())?;
    let (walk, base) = prove(request, &mut main, copy.as_mut(), visit);
    let genesis = walk.genesis.clone().or_else(|| known_to_the_base(request, base.as_ref()?));
    let (Some(head), Some(genesis)) = (walk.head, genesis) else {
        return Err(nothing_there(request, main, copy_error));
    };
    let (notes, unread) = note::read_all(&**request.vfs, request.paths, &genesis.ledger_id)
        .map_err(OpenError::io("list quarantine files of", path))?;
    let opened = Opened { request, file, main, copy, copy_error, head, genesis, base };
    let mut recovered = opened.settle(walk, notes)?;
    recovered.findings.extend(unread);
    Ok(recovered)
}

/// A ledger whose chain has been walked.
struct Opened<'a> {
    request: &'a Recovery<'a>,
    file: Arc<dyn VfsFile>,
    main: Source,
    copy: Option<Source>,
    /// Why there is a copy that could not be opened.
    copy_error: Option<io::Error>,
    head: Head,
    genesis: Genesis,
    base: Option<Head>,
}

impl Opened<'_> {
    fn settle(mut self, walk: Walk, mut notes: Vec<LossNote>) -> Result<Recovered, OpenError> {
        let Recovery { vfs, paths, witnesses, .. } = *self.request;
        let good = Mark { seq: self.head.seq, hash: self.head.hash };
        let behind =
            Behind::look(good, self.head.end, Some(&mut self.main), self.copy.as_mut(), witnesses, &notes);
        let mut findings = walk.findings.clone();
        findings.extend(
            walk.genesis.is_none().then_some(Finding::StartDamaged { base: self.base.map_or(0, |b| b.seq) }),
        );
        // Who has been heard about a loss remembers what was lost: that was said then, and stands in the ledger.
        findings.retain(|finding| match finding {
            Finding::WitnessDisagrees { witness, .. } => !notes.iter().any(|note| note.answers(witness)),
            _ => true,
        });
        let access = match self.request.access {
            Access::Read => {
                findings.extend(told_to_a_reader(&walk, &behind, good));
                Access::Read
            }
            Access::Write => self.put_right(&walk, &behind, good, &mut findings, &mut notes)?,
        };
        Ok(Recovered {
            vfs: vfs.clone(),
            paths: paths.clone(),
            head: self.head,
            ledger_id: self.genesis.ledger_id,
            format: self.genesis.format,
            epoch: walk.epoch,
            base: self.base,
            findings,
            notes,
            access,
        })
    }

    /// Repairs what the copy holds, then deals with what lies behind the last complete batch.
    fn put_right(
        &mut self,
        walk: &Walk,
        behind: &Behind,
        good: Mark,
        findings: &mut Vec<Finding>,
        notes: &mut Vec<LossNote>,
    ) -> Result<Access, OpenError> {
        let Recovery { vfs, paths, on_damage, witnesses, .. } = *self.request;
        let path = &paths.main;
        let unreadable = self.unreadable();
        let repair = Repair { vfs: &**vfs, paths, main: &*self.file, end: self.head.end };
        findings
            .extend(repair.patch(&walk.patches, self.copy.as_ref()).map_err(OpenError::io("repair", path))?);
        match (behind.loss(good), unreadable) {
            (Some(loss), _) if on_damage == OnDamage::Ask => {
                findings.push(Finding::Damage(loss));
                return Ok(Access::Read);
            }
            // What cannot be read cannot be kept, so it is not cut either; and a copy that cannot be
            // read just now may be able to repair everything the next time.
            (loss, Some((path, source))) if behind.bytes > 0 || loss.is_some() => {
                return Err(OpenError::Io { doing: "read", path, source });
            }
            (Some(loss), _) => {
                let heard: Vec<&Witness> = witnesses.iter().filter(|w| w.seq > good.seq).collect();
                let io = OpenError::io("move the damaged end into quarantine of", path);
                let noted =
                    repair.lose(loss, self.copy.as_ref(), &self.genesis.ledger_id, &heard).map_err(io)?;
                findings.push(Finding::Loss(noted.loss.clone()));
                if !notes.contains(&noted) {
                    notes.push(noted);
                }
            }
            (None, _) => {
                let io = OpenError::io("cut the unfinished end of", path);
                findings.extend(repair.cut_torn(good).map_err(io)?);
            }
        }
        self.ask_the_device(walk.unproven_from)?;
        Ok(Access::Write)
    }

    /// The file that could not be read through, and why.
    fn unreadable(&mut self) -> Option<(PathBuf, io::Error)> {
        let paths = self.request.paths;
        let of_copy = |error| paths.copy.clone().map(|path| (path, error));
        let main = self.main.read_error.take().map(|error| (paths.main.clone(), error));
        let copy = self.copy.as_mut().and_then(|copy| copy.read_error.take());
        main.or_else(|| self.copy_error.take().or(copy).and_then(of_copy))
    }

    /// Reads again, from the device, what no later record proves durable: after a failed sync the
    /// cache shows bytes the device never took, and a chain must not go on from them.
    fn ask_the_device(&self, from: u64) -> Result<(), OpenError> {
        let path = &self.request.paths.main;
        self.file.drop_cached(from).map_err(OpenError::io("read", path))?;
        let mut again = Source::new(self.file.clone()).map_err(OpenError::io("read", path))?;
        let mut offset = from;
        let mut last = None;
        while let Some(line) = again.line_at(offset, offset) {
            last = Some(line.hash);
            offset += line.bytes.len() as u64;
        }
        let same = offset == self.head.end && last.is_none_or(|hash| hash == self.head.hash);
        if same { Ok(()) } else { Err(OpenError::Unstable(path.clone())) }
    }
}

fn told_to_a_reader(walk: &Walk, behind: &Behind, good: Mark) -> Vec<Finding> {
    let repairable = |p: &Patch| Finding::Repairable { first_seq: p.first_seq, last_seq: p.last_seq };
    let mut findings: Vec<Finding> = walk.patches.iter().map(repairable).collect();
    findings.extend(match behind.loss(good) {
        Some(loss) => Some(Finding::Damage(loss)),
        None if behind.bytes > 0 => Some(Finding::BeingWritten { after: good, bytes: behind.bytes }),
        None => None,
    });
    findings
}

/// Walks the chain, from a base where one is accepted.
pub(crate) fn prove(
    request: &Recovery<'_>,
    main: &mut Source,
    copy: Option<&mut Source>,
    visit: &mut dyn FnMut(&Line<'_>),
) -> (Walk, Option<Head>) {
    let mut walker = Walker { main: Some(main), copy, witnesses: request.witnesses };
    let base = request.bases.iter().find_map(|base| walker.accepts(base));
    (walker.walk(base.as_ref(), visit), base.map(|(head, _)| head))
}

/// The name of a ledger whose first record is damaged in both files, from the snapshot that the walk began behind.
fn known_to_the_base(request: &Recovery<'_>, base: &Head) -> Option<Genesis> {
    let named = request.witnesses.iter().find(|w| w.seq == base.seq && w.hash == Some(base.hash))?;
    Some(Genesis { ledger_id: named.ledger_id.clone()?, format: FORMAT })
}

/// The copy, or why it cannot be opened. An intact ledger goes on without it; the writer reports it.
fn open_copy(request: &Recovery<'_>) -> (Option<Source>, Option<io::Error>) {
    let Some(path) = &request.paths.copy else { return (None, None) };
    match request.vfs.open(path, Open::Read).and_then(Source::new) {
        Ok(source) => (Some(source), None),
        Err(error) if error.kind() == io::ErrorKind::NotFound => (None, None),
        Err(error) => (None, Some(error)),
    }
}

/// Refuses a newer format and a ledger that is not the one its surroundings belong to.
pub(crate) fn refuse_other(
    request: &Recovery<'_>,
    main: &mut Source,
    copy: Option<&mut Source>,
) -> Result<(), OpenError> {
    let path = &request.paths.main;
    let in_copy = copy.and_then(genesis_of);
    let here = genesis_of(main);
    // A first line that does not hold, beside a copy whose first line does: a flipped bit in
    // `format` is damage to repair, not a newer program.
    if here.is_some() || in_copy.is_none() {
        refuse_newer(path, main)?;
    }
    let Some(here) = here else { return Ok(()) };
    let other = |other: String, other_source: String| {
        Err(OpenError::AnotherLedger {
            path: path.clone(),
            here: here.ledger_id.clone(),
            other,
            other_source,
        })
    };
    if let Some(theirs) = in_copy.filter(|theirs| *theirs != here) {
        return other(theirs.ledger_id, "the second copy".into());
    }
    for witness in request.witnesses {
        if let Some(id) = witness.ledger_id.as_ref().filter(|id| **id != here.ledger_id) {
            return other(id.clone(), witness.source.clone());
        }
    }
    Ok(())
}

pub(crate) fn refuse_newer(path: &std::path::Path, source: &mut Source) -> Result<(), OpenError> {
    // A newer version may have changed the frame; that it is a line of JSON with a `format` it may not.
    let framed = source.framed(0, 0).map(<[u8]>::len);
    let count = framed.unwrap_or_else(|| {
        usize::try_from(source.len().min(crate::frame::LINE_MAX as u64)).expect("a line fits memory")
    });
    let Some(start) = source.bytes(0, 0, count) else { return Ok(()) };
    let line = start.split(|b| *b == b'\n').next().unwrap_or_default();
    match Genesis::from_object(line) {
        Some(Genesis { format, .. }) if format > FORMAT => {
            Err(OpenError::NewerFormat { path: path.to_path_buf(), format, known: FORMAT })
        }
        _ => Ok(()),
    }
}

fn nothing_there(request: &Recovery<'_>, main: Source, copy_error: Option<io::Error>) -> OpenError {
    let path = request.paths.main.clone();
    if let (Some(source), Some(path)) = (copy_error, request.paths.copy.clone()) {
        return OpenError::Io { doing: "open", path, source };
    }
    match main.read_error {
        Some(source) => OpenError::Io { doing: "read", path, source },
        None if main.len() == 0 => OpenError::Empty(path),
        None => OpenError::NothingValid(path),
    }
}

fn is_read_only(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem)
}
