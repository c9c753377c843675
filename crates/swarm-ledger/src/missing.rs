//! The ledger file is not there: never made, closed, or deleted under us.

use std::io;
use std::path::Path;

use crate::appender::write_all;
use crate::evidence::Behind;
use crate::finding::{Finding, Mark};
use crate::frame::Line;
use crate::genesis::Genesis;
use crate::open_error::{OpenError, Trace};
use crate::paths::parent;
use crate::quarantine::{self, for_each_chunk};
use crate::recover::{Access, Recovery, recover, refuse_newer};
use crate::recovered::Recovered;
use crate::scan::{Walk, Walker, genesis_of};
use crate::source::Source;
use crate::vfs::{Open, Vfs};

/// Goes on from the second copy if it proves itself from the first record; otherwise says what is left.
pub(crate) fn recover_from_copy(
    request: &Recovery<'_>,
    copy: Option<Source>,
    visit: &mut dyn FnMut(&Line<'_>),
) -> Result<Recovered, OpenError> {
    let Some(mut source) = copy else { return Err(nothing(request)) };
    if let Some(path) = &request.paths.copy {
        refuse_newer(path, &mut source)?;
    }
    // A plan that was closed lies in the archive; its copy must not bring it back to life.
    if was_closed(request, &mut source)? {
        return Err(nothing(request));
    }
    let mut ignored = |_: &Line<'_>| {};
    let reading = request.access == Access::Read;
    let walk = Walker { main: None, copy: Some(&mut source), witnesses: request.witnesses }
        .walk(None, if reading { visit } else { &mut ignored });
    let (Some(head), Some(genesis)) = (walk.head, &walk.genesis) else { return Err(nothing(request)) };
    let last = Mark { seq: head.seq, hash: head.hash };
    if reading {
        let behind = Behind::look(last, head.end, None, Some(&mut source), request.witnesses, &[]);
        let damage = behind.loss(last).map(Finding::Damage);
        return Ok(served_from_copy(request, &walk, last, genesis.clone(), damage));
    }
    restore(request, &source, head.end).map_err(OpenError::io("restore", &request.paths.main))?;
    let mut recovered = recover(request, visit)?;
    recovered.findings.insert(0, Finding::RestoredFromCopy { last });
    Ok(recovered)
}

fn served_from_copy(
    request: &Recovery<'_>,
    walk: &Walk,
    last: Mark,
    genesis: Genesis,
    damage: Option<Finding>,
) -> Recovered {
    Recovered {
        vfs: request.vfs.clone(),
        paths: request.paths.clone(),
        head: walk.head.expect("the caller has seen it"),
        ledger_id: genesis.ledger_id,
        format: genesis.format,
        epoch: walk.epoch,
        base: None,
        findings: [Finding::ReadFromCopy { last }].into_iter().chain(damage).collect(),
        notes: Vec::new(),
        access: Access::Read,
    }
}

/// Made beside and renamed, so that a ledger is never seen half restored.
fn restore(request: &Recovery<'_>, copy: &Source, end: u64) -> io::Result<()> {
    let Recovery { vfs, paths, .. } = request;
    let dir = paths.dir();
    vfs.create_dir_all(dir)?;
    let beside = paths.main.with_extension("jsonl.restoring");
    let file = vfs.open(&beside, Open::Create)?;
    file.set_len(0)?;
    let mut at = 0;
    for_each_chunk(copy.file(), &[(0, end)], &mut |bytes| {
        write_all(&*file, bytes, at)?;
        at += bytes.len() as u64;
        Ok(())
    })?;
    file.sync_data()?;
    vfs.rename(&beside, &paths.main)?;
    vfs.sync_dir(dir)?;
    // The directory itself may be new as well.
    vfs.sync_dir(parent(dir))
}

fn was_closed(request: &Recovery<'_>, copy: &mut Source) -> Result<bool, OpenError> {
    let Some(ours) = genesis_of(copy) else { return Ok(false) };
    for path in archives(&**request.vfs, &request.paths.archive_dir()) {
        let archived = request.vfs.open(&path, Open::Read).and_then(Source::new);
        let mut archived = archived.map_err(OpenError::io("read", &path))?;
        if genesis_of(&mut archived).is_some_and(|theirs| theirs == ours) {
            return Ok(true);
        }
    }
    Ok(false)
}

fn nothing(request: &Recovery<'_>) -> OpenError {
    let found = traces(request);
    let path = request.paths.main.clone();
    if found.is_empty() { OpenError::NoLedger(path) } else { OpenError::Missing { path, found } }
}

/// Everything that shows there was a ledger here.
pub(crate) fn traces(request: &Recovery<'_>) -> Vec<Trace> {
    let Recovery { vfs, paths, witnesses, .. } = request;
    let copy = paths.copy.iter().filter(|path| vfs.exists(path).unwrap_or(true));
    let quarantined = quarantine::list(&***vfs, paths).unwrap_or_default();
    let mut found: Vec<Trace> = copy.cloned().map(Trace::SecondCopy).collect();
    found.extend(archives(&***vfs, &paths.archive_dir()).into_iter().map(Trace::Archive));
    found.extend(quarantined.into_iter().map(|(_, path)| Trace::Quarantine(path)));
    found.extend(witnesses.iter().cloned().map(Trace::Witness));
    found
}

fn archives(vfs: &dyn Vfs, dir: &Path) -> Vec<std::path::PathBuf> {
    let names = vfs.list(dir).unwrap_or_default();
    names.into_iter().filter(|path| path.extension().is_some_and(|ext| ext == "jsonl")).collect()
}
