//! Programs that git starts on its own where it reads or writes the files of a worktree: the person's filters. They run in
//! the worktree, and some find their code there: what an agent wrote. So where a filter is configured, git is told to
//! start it behind walls. Files of a person's own checkout are read and written as the person's own git does it.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex as StdMutex, PoisonError};
use std::time::{Duration, Instant};

use swarm_process::launcher::{FilterCommand, FilterLetter, FilterSpec};
use swarm_process::{Call, Limits, ProcessError};
use swarm_protocol::config::Config;
use tokio::sync::Mutex;

use super::call::{Git, GitError, failed};
use super::guard::Guard;

/// What is asked of the configuration.
pub(super) const ASKED: &str = r"filter\..*\.(clean|smudge|process)|hook\..*|lfs\.storage";

/// The person may configure a filter while a swarm runs.
const GOOD_FOR: Duration = Duration::from_secs(2);

/// Hands on what it is given, and is no code of anybody's.
const HANDS_ON: &[u8] = b"cat";

/// What stands in the place of a filter where nobody can put up walls.
const REFUSED: &str = "echo 'no walls can be put up by this program' >&2; exit 1";

/// How the person's filters are run on files of agents.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FilterRule {
    /// As configured: the person wants no walls around what agents write.
    Free,
    Walled {
        network: bool,
        /// Places of the person that cannot be read.
        masked: Vec<PathBuf>,
    },
}

impl Default for FilterRule {
    /// Where nobody has said anything.
    fn default() -> Self {
        let home = std::env::var_os("HOME").map(PathBuf::from).unwrap_or_default();
        let place =
            |name: String| name.strip_prefix("~/").map_or_else(|| (&name).into(), |below| home.join(below));
        Self::Walled { network: false, masked: Config::default().hide.into_iter().map(place).collect() }
    }
}

/// What all calls on one repository know together.
#[derive(Debug, Default)]
pub(crate) struct Known {
    rule: StdMutex<FilterRule>,
    last: StdMutex<Option<(Instant, Arc<Programs>)>>,
    /// Asked by one at a time.
    asking: Mutex<()>,
}

/// What the configuration makes git start.
#[derive(Debug, Default, PartialEq, Eq)]
struct Programs {
    filters: Vec<Filter>,
    /// Names of hooks that are configured, and not files of a folder.
    hooks: BTreeSet<OsString>,
    lfs_storage: Option<PathBuf>,
}

#[derive(Debug, PartialEq, Eq)]
struct Filter {
    key: OsString,
    text: Vec<u8>,
}

impl Filter {
    /// A long-running one is told the paths as it goes.
    fn takes_path(&self) -> bool {
        !self.key.as_bytes().ends_with(b".process")
    }
}

impl Programs {
    /// Reads `key LF value NUL` entries; of several values of a key the last one counts, as in git.
    fn read(told: &[u8]) -> Self {
        let (mut programs, mut filters) = (Self::default(), BTreeMap::new());
        for entry in told.split(|byte| *byte == 0) {
            let Some(end) = entry.iter().position(|byte| *byte == b'\n') else { continue };
            let (key, value) = (&entry[..end], &entry[end + 1..]);
            if key.starts_with(b"filter.") && !key.ends_with(b".required") {
                filters.insert(OsString::from_vec(key.to_vec()), value.to_vec());
            } else if let Some(rest) = key.strip_prefix(b"hook.") {
                let name = rest.iter().rposition(|byte| *byte == b'.').map(|dot| rest[..dot].to_vec());
                programs.hooks.extend(name.map(OsString::from_vec));
            } else if key == b"lfs.storage" {
                programs.lfs_storage = Some(OsString::from_vec(value.to_vec()).into());
            }
        }
        let runs = |text: &Vec<u8>| !text.is_empty() && text != HANDS_ON;
        programs.filters = filters
            .into_iter()
            .filter(|(_, text)| runs(text))
            .map(|(key, text)| Filter { key, text })
            .collect();
        programs
    }
}

/// Whether this is git-lfs as it configures itself. It keeps what it has cleaned in the git directory, and nowhere else.
fn is_lfs(text: &[u8]) -> bool {
    let plain = |byte: &u8| byte.is_ascii_alphanumeric() || b" -_%".contains(byte);
    text.iter().all(plain) && (text.starts_with(b"git-lfs ") || text.starts_with(b"git lfs "))
}

/// Around the filters of one call. Lives until git has ended.
pub(super) struct Walled {
    programs: Arc<Programs>,
    letter: Option<FilterLetter>,
}

impl Known {
    pub fn learn(&self, told: &[u8]) {
        let known = Some((Instant::now(), Arc::new(Programs::read(told))));
        *self.last.lock().unwrap_or_else(PoisonError::into_inner) = known;
    }

    fn fresh(&self) -> Option<Arc<Programs>> {
        let last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        last.as_ref().filter(|(at, _)| at.elapsed() < GOOD_FOR).map(|(_, programs)| programs.clone())
    }

    fn rule(&self) -> FilterRule {
        self.rule.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

impl Git {
    /// How filters are run on files of agents from now on. Until this is said they are walled, and without a network.
    pub fn run_filters(&self, rule: FilterRule) {
        *self.shared.filters.rule.lock().unwrap_or_else(PoisonError::into_inner) = rule;
    }
}

impl Guard {
    /// What stands around the filters of a call with these variables; none where there are none.
    pub(super) async fn walled(
        &self,
        env: &BTreeMap<OsString, OsString>,
        work_tree: &Path,
    ) -> Result<Option<Walled>, GitError> {
        let FilterRule::Walled { network, masked } = self.shared.filters.rule() else { return Ok(None) };
        let programs = self.programs(env).await?;
        if programs.filters.is_empty() {
            let hooks = !programs.hooks.is_empty();
            return Ok(hooks.then_some(Walled { programs, letter: None }));
        }
        let home = env.get(OsStr::new("HOME")).map(PathBuf::from);
        let spec = FilterSpec {
            nonce: format!("filter-{}", ulid::Ulid::generate()),
            commands: programs.filters.iter().map(|filter| self.command(filter, &programs, env)).collect(),
            masked,
            hidden: vec![self.main_checkout.join(".swarm/run")],
            visible: [self.common_dir.clone(), work_tree.to_owned()].into_iter().chain(home).collect(),
            network,
            limits: limits(),
        };
        let letter =
            FilterLetter::write(&spec).map_err(GitError::io("make walls for filters in", work_tree))?;
        Ok(Some(Walled { programs, letter: Some(letter) }))
    }

    fn command(
        &self,
        filter: &Filter,
        programs: &Programs,
        env: &BTreeMap<OsString, OsString>,
    ) -> FilterCommand {
        let path = env.get(OsStr::new("PATH")).cloned().unwrap_or_default();
        // Else the agent could put a program of that name into its folder.
        let found_elsewhere = std::env::split_paths(&path).all(|folder| folder.is_absolute());
        let storage = programs.lfs_storage.as_deref().unwrap_or(Path::new("lfs"));
        let lfs = (is_lfs(&filter.text) && found_elsewhere).then(|| self.common_dir.join(storage));
        FilterCommand {
            text: filter.text.clone(),
            takes_path: filter.takes_path(),
            writable: lfs.into_iter().collect(),
        }
    }

    async fn programs(&self, env: &BTreeMap<OsString, OsString>) -> Result<Arc<Programs>, GitError> {
        let known = &self.shared.filters;
        let _one = known.asking.lock().await;
        if let Some(programs) = known.fresh() {
            return Ok(programs);
        }
        let mut git_dir = OsString::from("--git-dir=");
        git_dir.push(&self.common_dir);
        let asked = format!("^({ASKED})$");
        let mut call = Call::new("git").cwd(&self.common_dir).arg(git_dir);
        call = call.args(["config", "--null", "--get-regexp", &asked]);
        call.env = env.clone();
        let ended = match call.run().await {
            Err(ProcessError::NotFound { .. }) => return Err(GitError::Missing),
            ended => ended?,
        };
        // Exit code 1: nothing of it is configured.
        if !matches!(ended.status.code(), Some(0 | 1)) {
            return Err(failed("config".into(), &ended));
        }
        known.learn(&ended.stdout);
        known.fresh().ok_or_else(|| GitError::Unreadable { command: "config".into(), what: "late".into() })
    }

    /// What is to be known of how the filters of a call have ended.
    pub(super) fn filters_ended(&self, walled: &Walled) -> Result<(), GitError> {
        let Some(letter) = &walled.letter else { return Ok(()) };
        if let Some(why) = letter.trouble() {
            return Err(GitError::NoWalls { why });
        }
        let keys: BTreeSet<&OsStr> = letter
            .failed()
            .into_iter()
            .filter_map(|number| Some(walled.programs.filters.get(number)?.key.as_os_str()))
            .collect();
        for key in keys {
            let key = key.to_string_lossy();
            self.shared.notice(
                None,
                format!(
                    "the program of `{key}` ended with an error: on files of agents it runs behind walls, and can write nothing and reach nobody; `git config --get {key}` shows it"
                ),
            );
        }
        Ok(())
    }
}

impl Walled {
    /// Tells git what to start instead: by variables that count more than every file, and take any name.
    pub fn around(&self, call: &mut Call) {
        let mut settings: Vec<(OsString, OsString)> = Vec::new();
        for (number, filter) in self.programs.filters.iter().enumerate() {
            let words = self.letter.as_ref().and_then(|letter| letter.words(number, filter.takes_path()));
            if words.is_none() {
                // Git would go on without one that fails.
                settings.push((with_last(&filter.key, "required"), "true".into()));
            }
            settings.push((filter.key.clone(), words.unwrap_or_else(|| REFUSED.into())));
        }
        for name in &self.programs.hooks {
            let mut key = OsString::from("hook.");
            key.push(name);
            key.push(".enabled");
            settings.push((key, "false".into()));
        }
        call.env.insert("GIT_CONFIG_COUNT".into(), settings.len().to_string().into());
        for (n, (key, value)) in settings.into_iter().enumerate() {
            call.env.insert(format!("GIT_CONFIG_KEY_{n}").into(), key);
            call.env.insert(format!("GIT_CONFIG_VALUE_{n}").into(), value);
        }
    }
}

/// Another variable of the same filter.
fn with_last(key: &OsStr, last: &str) -> OsString {
    let bytes = key.as_bytes();
    let dot = bytes.iter().rposition(|byte| *byte == b'.').map_or(0, |dot| dot + 1);
    OsString::from_vec([&bytes[..dot], last.as_bytes()].concat())
}

/// Those that programs of a run have where nobody has set any.
fn limits() -> Limits {
    let usual = Config::default().limits;
    Limits {
        memory_bytes: Some(usual.memory << 20),
        processes: Some(usual.processes),
        open_files: Some(usual.open_files),
        ..Limits::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_git_would_start_is_read_from_its_configuration() {
        let told = b"filter.a b.clean\nold\0filter.a b.clean\nnew -- %f\0filter.x=y.smudge\ncat\0filter.x=y.clean\n\0\
            filter.lfs.process\ngit-lfs filter-process\0filter.none.clean\0hook.lint.all.event\npost-index-change\0\
            lfs.storage\n/big\0user.name\nPat\0";
        let programs = Programs::read(told);
        let filter = |key: &str, text: &str| Filter { key: key.into(), text: text.into() };
        let expected =
            [filter("filter.a b.clean", "new -- %f"), filter("filter.lfs.process", "git-lfs filter-process")];
        assert_eq!(programs.filters, expected);
        assert_eq!(programs.hooks, BTreeSet::from(["lint.all".into()]));
        assert_eq!(programs.lfs_storage, Some("/big".into()));
        assert_eq!(with_last(OsStr::new("filter.a.b.clean"), "required"), "filter.a.b.required");
        assert_eq!(Programs::read(b""), Programs::default());
    }

    #[test]
    fn only_git_lfs_as_it_configures_itself_may_write_where_it_keeps_files() {
        for text in ["git-lfs clean -- %f", "git-lfs filter-process --skip", "git lfs smudge -- %f"] {
            assert!(is_lfs(text.as_bytes()), "{text}");
        }
        for text in [
            "git-lfs clean -- %f; ./x",
            "./git-lfs clean",
            "git-lfs-x clean",
            "python3 -m lfs",
            "git-lfs $(x)",
        ] {
            assert!(!is_lfs(text.as_bytes()), "{text}");
        }
    }
}
