//! Errors of the crates below, in the words of the command line.

use swarm_engine::by_hand::{ByHandError, Said, SaidHint, SaidKind};
use swarm_engine::doctor::HEAD_SAYS;
use swarm_engine::session::SessionError;
use swarm_engine::settings::SettingsError;
use swarm_engine::store::{StoreError, stopped_hint};
use swarm_git::GitError;
use swarm_git::trunk::TrunkError;
use swarm_ledger::{AppendError, OpenError};
use swarm_protocol::refusal::Refusal;

use crate::error::CliError;

/// Adds a hint: as a command when it is one, as a sentence when it has words.
fn hinted(error: CliError, hint: &str) -> CliError {
    match hint {
        "" => error,
        command if command.starts_with("swarm ") => error.run_instead(command),
        sentence => error.say(sentence),
    }
}

impl From<StoreError> for CliError {
    fn from(error: StoreError) -> Self {
        let hint = error.hint();
        match error {
            StoreError::Refused(refusal) => refusal.into(),
            // Damage that waits for a person: the same refusal that a running coordinator would give.
            StoreError::Open(OpenError::ReadOnlyUntilSalvage(_)) => {
                Refusal::ReadOnly { why: "it is damaged; look at it first".into() }.into()
            }
            StoreError::Open(error) => hinted(Self::environment(error.to_string()), &hint),
            other => {
                let replaced = matches!(
                    &other,
                    StoreError::Fatal(
                        // Bytes of somebody who holds no lock are another matter: the next one puts them aside and goes on.
                        AppendError::NotOwner(_) | AppendError::Replaced(_) | AppendError::StaleEpoch { .. }
                    )
                );
                let words = other.to_string();
                let mut whole = if replaced { Self::replaced(words) } else { Self::environment(words) };
                if let Some(source) = std::error::Error::source(&other) {
                    whole = whole.because_of(source);
                }
                hinted(whole, &hint)
            }
        }
    }
}

impl From<SettingsError> for CliError {
    fn from(error: SettingsError) -> Self {
        let SettingsError { place, why, hint } = error;
        hinted(Self::environment(format!("Cannot use the configuration at {place}")).because(why), &hint)
    }
}

impl From<GitError> for CliError {
    fn from(error: GitError) -> Self {
        match error {
            GitError::Missing => {
                Self::environment("git is not installed, or not in PATH").say("Install git 2.38 or newer")
            }
            GitError::TooOld { found } => {
                Self::environment(format!("git {found} is too old")).say("Install git 2.38 or newer")
            }
            GitError::NotARepository { path, said } => {
                let path = path.canonicalize().unwrap_or(path);
                Self::environment(format!("This is not a git repository: {}", path.display()))
                    .because(said)
                    .say("Go to your repository, name it with `-C DIR`, or make one with `git init`")
            }
            error @ GitError::Damaged { .. } => {
                Self::environment(capital(&error.to_string())).say(capital(HEAD_SAYS))
            }
            GitError::NoCommits { path } => {
                Self::environment(format!("The repository has no commit yet: {}", path.display()))
                    .say("Make one first: `git commit --allow-empty -m start`")
            }
            GitError::Bare { path } => {
                let clone = format!("git clone {} DIR", path.display());
                Self::environment(format!("This repository is bare: {}", path.display()))
                    .say(format!("Swarm needs a repository with a checkout: `{clone}`"))
            }
            GitError::NoMainCheckout { common_dir } => {
                Self::environment(format!("The main checkout of {} cannot be found", common_dir.display()))
                    .say("Run the command inside it, or name it with `-C DIR`")
            }
            GitError::Reftable { path } => Self::environment(format!(
                "The repository keeps its refs in the reftable format: {}",
                path.display()
            ))
            .because("a power cut can lose all refs of that format")
            .say("Convert it: `git refs migrate --ref-format=files`"),
            other if other.is_shortage() => {
                Self::environment("This machine has no resources left to run git").because_of(&other).say(
                    "Try again when other programs have ended; `ulimit -n` says how many files may be open",
                )
            }
            other => Self::environment("git could not be used").because_of(&other),
        }
    }
}

impl From<ByHandError> for CliError {
    fn from(error: ByHandError) -> Self {
        let Said { kind, message, causes, hint } = match error {
            ByHandError::Git(error) => return error.into(),
            ByHandError::Store(error) => return error.into(),
            ByHandError::Settings(error) => return error.into(),
            ByHandError::Refused(refusal) => return refusal.into(),
            ByHandError::Said(said) => said,
        };
        let error = match kind {
            SaidKind::Usage => Self::usage(message),
            SaidKind::Environment => Self::environment(message),
            SaidKind::NothingThere => Self::refused_now(message),
            SaidKind::ChangedMeanwhile => Self::changed_meanwhile(message),
            SaidKind::Untrusted => Self::untrusted(message),
        };
        let error = causes.into_iter().fold(error, |error, cause| error.because(cause));
        match hint {
            Some(SaidHint::Run(command)) => error.run_instead(command),
            Some(SaidHint::Say(sentence)) => error.say(sentence),
            None => error,
        }
    }
}

impl From<TrunkError> for CliError {
    fn from(error: TrunkError) -> Self {
        match error {
            TrunkError::Git(error) => error.into(),
            error => Self::usage(error.to_string()).run_instead("swarm run --trunk BRANCH"),
        }
    }
}

impl From<SessionError> for CliError {
    fn from(error: SessionError) -> Self {
        let text = error.to_string();
        match error {
            SessionError::Git(error) => error.into(),
            SessionError::Store(error) => error.into(),
            SessionError::Settings(error) => error.into(),
            SessionError::Refused(refusal) => refusal.into(),
            SessionError::Trunk(error) => error.into(),
            SessionError::Untrusted(_) => Self::untrusted(text),
            SessionError::NoProfile(text) => {
                Self::usage("The agent is not known").because(text).run_instead("swarm config show")
            }
            SessionError::NotReady { agent, why, hint } => {
                Self::environment(format!("The agent {agent} cannot be used")).because(why).run_instead(hint)
            }
            SessionError::TooFewFiles { needed, .. } => {
                Self::environment(text).run_instead(format!("ulimit -n {}", needed.max(1024)))
            }
            SessionError::Busy(owner) => match owner.filter(|owner| owner.is_stopped()) {
                Some(stopped) => Self::owned(text).say(stopped_hint(stopped.pid)),
                None => Self::owned(text).run_instead("swarm status --watch"),
            },
            SessionError::NoBranch => Self::environment(text).run_instead("swarm run --trunk BRANCH"),
            SessionError::NoCommit { .. } => {
                Self::environment(text).run_instead("git commit --allow-empty --message start")
            }
            SessionError::TrunkGone { way_back, .. } => Self::environment(text).say(capital(&way_back)),
            SessionError::Prompts(text) => {
                Self::environment(text).say("Fix the template, or delete the file to use the built-in one")
            }
            SessionError::Io { source, .. } => Self::environment(text).because(source),
        }
    }
}

fn capital(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}
