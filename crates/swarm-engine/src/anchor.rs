//! The head of the ledger, anchored in git: a witness outside `.swarm` that knows how far it reached.
//!
//! `refs/swarm/ledger` names a small blob `{"seq":…,"hash":"…"}`. Set at clean exits and checkpoints;
//! a ledger that ends before it was cut by somebody.

use serde::{Deserialize, Serialize};
use swarm_ledger::{Head, Witness};
use swarm_protocol::ids::Oid;

use swarm_git::{Git, GitError, RefChange, RefOutcome};
use swarm_process::Input;

pub const ANCHOR: &str = "refs/swarm/ledger";

#[derive(Debug, Serialize, Deserialize)]
struct Anchor {
    #[serde(rename = "ledgerId")]
    ledger_id: String,
    seq: u64,
    hash: String,
}

/// Anchors this head. The blob is made first; the ref names a whole one or the one before.
pub async fn set(git: &Git, ledger_id: &str, head: Head) -> Result<(), GitError> {
    let anchor = Anchor { ledger_id: ledger_id.into(), seq: head.seq, hash: head.hash.to_string() };
    let text = serde_json::to_vec(&anchor).expect("plain data serialises");
    let blob = git.call(["hash-object", "-w", "--stdin"]).stdin(Input::Bytes(text)).line().await?;
    let new = Oid::new(&blob)
        .map_err(|e| GitError::Unreadable { command: "hash-object".into(), what: e.to_string() })?;
    let old = git.ref_value(ANCHOR).await?;
    if old.as_ref() == Some(&new) {
        return Ok(());
    }
    let change = RefChange { name: ANCHOR.into(), old, new: Some(new) };
    match git.update_refs(&[change], "swarm: ledger anchored").await? {
        // Lost only to another process of ours, whose anchor is as good.
        RefOutcome::Changed | RefOutcome::Lost { .. } => Ok(()),
    }
}

/// Lets go of the anchor of a ledger that was closed: its archive stands for itself.
pub async fn clear(git: &Git) -> Result<(), GitError> {
    let Some(old) = git.ref_value(ANCHOR).await? else { return Ok(()) };
    let change = RefChange { name: ANCHOR.into(), old: Some(old), new: None };
    git.update_refs(&[change], "swarm: ledger archived").await.map(drop)
}

/// What the anchor knows, for the recovery of the ledger; nothing where there is none or it cannot be read.
pub async fn witnesses(git: &Git) -> Result<Vec<Witness>, GitError> {
    let Some(blob) = git.ref_value(ANCHOR).await? else { return Ok(vec![]) };
    let Ok(text) = git.call(["cat-file", "blob", blob.as_str()]).ok().await else { return Ok(vec![]) };
    let Ok(anchor) = serde_json::from_slice::<Anchor>(&text) else { return Ok(vec![]) };
    let hash = anchor.hash.parse().ok();
    Ok(vec![Witness { seq: anchor.seq, hash, ledger_id: Some(anchor.ledger_id), source: ANCHOR.into() }])
}
