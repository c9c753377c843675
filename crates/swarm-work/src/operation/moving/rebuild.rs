//! Trunk without some commits and with others again, in the object database: what an operation publishes, and what its
//! preview tries.
//!
//! What does not fit when it is taken back commit by commit climbs the ladder of merges: all commits that follow one another
//! as a whole, which decides nothing about lines, then the rules. Files that commands make again are made between two tries: this
//! says which are missing, and finds them when it is asked again.

use std::path::{Path, PathBuf};

use swarm_git::revert::{Carried, Carry, Stretch, pick, revert};
use swarm_git::{Git, GitError, Merged, RefChange, RefOutcome};
use swarm_protocol::config::Regenerate;
use swarm_protocol::conflict::{Resolved, Way};
use swarm_protocol::ids::Oid;

use crate::resolve::{Resolution, resolve};

/// Files that commands of the project make again.
#[derive(Debug, Clone, Copy)]
pub enum Making<'a> {
    /// Nobody makes them now: they count as made.
    Supposed(&'a [Regenerate]),
    /// What was made is kept under this word, so that whoever is asked again comes to the same.
    Kept { rules: &'a [Regenerate], word: &'a str },
}

impl<'a> Making<'a> {
    fn rules(self) -> &'a [Regenerate] {
        match self {
            Self::Supposed(rules) | Self::Kept { rules, .. } => rules,
        }
    }

    /// What was made before for the commits that end here, or what an agent has said. It holds whatever the rules say by now.
    async fn kept(self, git: &Git, newest: &Oid) -> Result<Option<(Oid, Way)>, GitError> {
        let Self::Kept { word, .. } = self else { return Ok(None) };
        for (name, way) in
            [(resolved_ref(word, newest), Way::ByAgent), (made_ref(word, newest), Way::Regenerated)]
        {
            if let Some(kept) = git.ref_value(&name).await? {
                return Ok(Some((kept, way)));
            }
        }
        Ok(None)
    }
}

/// Commits taken back but for the files that commands are to make.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unmade {
    /// Shows what is decided so far. No ref holds it yet.
    pub commit: Oid,
    pub resolution: Resolution,
    stretch: Stretch,
    asked: Carry,
}

/// Commits that do not fit when they are taken back, and are not for rules.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Open {
    pub(super) stretch: Stretch,
    pub(super) asked: Carry,
}

/// What became of it. No ref has moved.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Rebuilt {
    /// `brought`: commits that were picked, with their new names. `resolved`: what conflicted and was decided.
    Built { tip: Oid, made: Vec<Oid>, brought: Vec<(Oid, Oid)>, resolved: Vec<Resolved> },
    /// This commit does not fit what is there. `open`: what an agent could be asked about it.
    Conflict { commit: Oid, paths: Vec<String>, open: Option<Box<Open>> },
    /// These files come first: [`keep_made`].
    Unmade(Box<Unmade>),
}

/// Takes back the first ones, newest first, then brings the others, oldest first.
pub async fn rebuild(
    git: &Git,
    onto: &Oid,
    (undone, picked): (&[Oid], &[Oid]),
    at_secs: i64,
    because: Option<String>,
    making: Making<'_>,
) -> Result<Rebuilt, GitError> {
    let (mut tip, mut made, mut brought, mut resolved) = (onto.clone(), Vec::new(), Vec::new(), Vec::new());
    for is_pick in [false, true] {
        let commits = if is_pick { picked } else { undone }.to_vec();
        let asked = Carry { onto: tip.clone(), commits, at_secs, because: because.clone() };
        let carried = if is_pick { pick(git, &asked).await? } else { revert(git, &asked).await? };
        match carried {
            Carried::Built { result, commits, of } => {
                if is_pick {
                    brought.extend(of.into_iter().zip(commits.iter().cloned()));
                }
                made.extend(commits);
                tip = result;
            }
            Carried::Nothing => {}
            Carried::Conflict { commit, paths } => {
                let climbed = if is_pick { Top::NoWay(None) } else { climb(git, &asked, making).await? };
                let climbed = match climbed {
                    Top::Reached(climbed) => climbed,
                    Top::Unmade(unmade) => return Ok(Rebuilt::Unmade(unmade)),
                    Top::NoWay(open) => {
                        let paths = paths.iter().map(|path| path.display().to_string()).collect();
                        return Ok(Rebuilt::Conflict { commit, paths, open });
                    }
                };
                made.extend(climbed.made);
                resolved.extend(climbed.resolved);
                tip = climbed.tip;
            }
        }
    }
    Ok(Rebuilt::Built { tip, made, brought, resolved })
}

struct Climbed {
    tip: Oid,
    made: Vec<Oid>,
    resolved: Vec<Resolved>,
}

enum Top {
    Reached(Climbed),
    Unmade(Box<Unmade>),
    NoWay(Option<Box<Open>>),
}

/// Each stretch of commits in the first way that fits; no way where there is a stretch without one.
async fn climb(git: &Git, asked: &Carry, making: Making<'_>) -> Result<Top, GitError> {
    let mut climbed = Climbed { tip: asked.onto.clone(), made: Vec::new(), resolved: Vec::new() };
    for stretch in git.stretches(&asked.commits).await? {
        let one = Carry { onto: climbed.tip.clone(), commits: stretch.commits.clone(), ..asked.clone() };
        match revert(git, &one).await? {
            Carried::Built { result, commits, .. } => {
                climbed.tip = result;
                climbed.made.extend(commits);
            }
            Carried::Nothing => {}
            Carried::Conflict { paths, .. } => {
                let (tree, resolved) = match decide(git, &stretch, &one, &paths, making).await? {
                    Decided::Tree(tree, resolved) => (tree, resolved),
                    Decided::Unmade(unmade) => return Ok(Top::Unmade(unmade)),
                    Decided::NotForRules => {
                        return Ok(Top::NoWay(Some(Box::new(Open { stretch, asked: one }))));
                    }
                };
                climbed.tip = git.take_back(&stretch, &tree, &one).await?;
                climbed.made.push(climbed.tip.clone());
                climbed.resolved.extend(resolved);
            }
        }
    }
    Ok(Top::Reached(climbed))
}

enum Decided {
    Tree(Oid, Vec<Resolved>),
    Unmade(Box<Unmade>),
    NotForRules,
}

/// The tree without the stretch. Where it is as with it, nothing would be taken back, and that is not for a rule to say.
async fn decide(
    git: &Git,
    stretch: &Stretch,
    asked: &Carry,
    paths: &[PathBuf],
    making: Making<'_>,
) -> Result<Decided, GitError> {
    let (Stretch { newest, before, .. }, onto) = (stretch, &asked.onto);
    let as_a_whole = |path: &PathBuf| in_way(path, Way::AsAWhole);
    let (tree, resolved) = match git.merge_commits(newest, onto, before).await? {
        Merged::Clean { tree } => (tree, paths.iter().map(as_a_whole).collect()),
        Merged::Conflict { .. } => {
            let kept = making.kept(git, newest).await?;
            let by_rules = resolve(git, newest, onto, before, making.rules()).await?;
            match (kept, by_rules) {
                (Some((kept, Way::ByAgent)), _) => {
                    let by_agent = |path: &PathBuf| in_way(path, Way::ByAgent);
                    (git.tree_of(&kept).await?, paths.iter().map(by_agent).collect())
                }
                (Some((made, _)), by_rules) => {
                    let words = by_rules.as_ref().map(with_generated);
                    let words = words.unwrap_or_else(|| paths.iter().map(|path| regenerated(path)).collect());
                    (git.tree_of(&made).await?, words)
                }
                (None, None) => return Ok(Decided::NotForRules),
                (None, Some(resolution)) if resolution.generated.is_empty() => {
                    (resolution.tree, resolution.files)
                }
                (None, Some(resolution)) => {
                    if let Making::Supposed(_) = making {
                        let resolved = with_generated(&resolution);
                        return Ok(Decided::Tree(resolution.tree, resolved));
                    }
                    let commit = git.take_back(stretch, &resolution.tree, asked).await?;
                    let (stretch, asked) = (stretch.clone(), asked.clone());
                    return Ok(Decided::Unmade(Box::new(Unmade { commit, resolution, stretch, asked })));
                }
            }
        }
    };
    match tree == git.tree_of(onto).await? {
        true => Ok(Decided::NotForRules),
        false => Ok(Decided::Tree(tree, resolved)),
    }
}

fn with_generated(resolution: &Resolution) -> Vec<Resolved> {
    resolution
        .files
        .iter()
        .cloned()
        .chain(resolution.generated.iter().map(|path| regenerated(path)))
        .collect()
}

fn regenerated(path: &Path) -> Resolved {
    in_way(path, Way::Regenerated)
}

fn in_way(path: &Path, way: Way) -> Resolved {
    Resolved { path: path.display().to_string(), way }
}

/// Where what commands made for the commits that end here is kept: it is needed as long as the operation can be asked for again.
fn made_ref(word: &str, newest: &Oid) -> String {
    format!("refs/swarm/kept/made/{word}/{newest}")
}

/// The same of what an agent has said.
pub(super) fn resolved_ref(word: &str, newest: &Oid) -> String {
    format!("{}{newest}", resolved_refs(word))
}

pub(super) fn resolved_refs(word: &str) -> String {
    format!("refs/swarm/kept/resolved/{word}/")
}

/// Keeps what was made of the files, in their order, for the next try.
pub async fn keep_made(git: &Git, word: &str, unmade: Unmade, texts: Vec<Vec<u8>>) -> Result<(), GitError> {
    let Unmade { resolution, stretch, asked, .. } = unmade;
    let tree = resolution.made(git, texts).await?.tree;
    let commit = git.take_back(&stretch, &tree, &asked).await?;
    keep_commit(git, &made_ref(word, &stretch.newest), &commit, "swarm: made again").await
}

/// Nothing else may be kept there.
pub(super) async fn keep_commit(git: &Git, name: &str, commit: &Oid, why: &str) -> Result<(), GitError> {
    match git.update_refs(&[RefChange::create(name, commit)], why).await? {
        RefOutcome::Changed => git.make_durable().await,
        RefOutcome::Lost { name, .. } => {
            let what = format!("{name} does not hold still");
            Err(GitError::Unreadable { command: "update-ref".into(), what })
        }
    }
}
