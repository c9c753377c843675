//! What can be said about an agent program without spending anything: whether it is there, its version, and
//! whether somebody has logged in, by the files and variables that its log-in leaves behind.

use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::Serialize;
use swarm_protocol::failure::{Failure, FailureClass};

use super::invocation::Surroundings;
use super::{AgentProgram, AgentSetup};
use swarm_process::{Call, Excess};

/// `--version` of a program that hangs.
const VERSION_WITHIN: Duration = Duration::from_secs(10);

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ProgramReport {
    pub program: AgentProgram,
    /// Where PATH finds it.
    pub found: Option<PathBuf>,
    pub version: Option<String>,
    pub logged_in: LoggedIn,
    /// What helps, where something is missing.
    pub hint: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "loggedIn", rename_all = "camelCase")]
pub enum LoggedIn {
    /// By what it is seen.
    Yes {
        by: String,
    },
    No,
    Unknown {
        why: String,
    },
}

/// Programs that can be installed and looked for.
pub const KNOWN: [AgentProgram; 4] =
    [AgentProgram::Claude, AgentProgram::Codex, AgentProgram::Gemini, AgentProgram::Opencode];

/// How to get a program that is not there.
pub fn install_hint(program: AgentProgram) -> Option<String> {
    let package = match program {
        AgentProgram::Claude => "@anthropic-ai/claude-code",
        AgentProgram::Codex => "@openai/codex",
        AgentProgram::Gemini => "@google/gemini-cli",
        AgentProgram::Opencode => "opencode-ai",
        AgentProgram::Acp | AgentProgram::Exec | AgentProgram::Script => return None,
    };
    Some(format!("npm install -g {package}"))
}

/// Looks at one program.
pub async fn probe(setup: &AgentSetup, around: &Surroundings) -> ProgramReport {
    let program = setup.program;
    let name = executable(setup);
    let found = name.as_deref().and_then(|name| around.find(name));
    let version = match &found {
        Some(path) if KNOWN.contains(&program) => version(path, around).await,
        _ => None,
    };
    let logged_in = logged_in(program, around);
    let hint = match (&found, &logged_in) {
        (None, _) if program != AgentProgram::Script => install_hint(program),
        (Some(_), LoggedIn::No) => super::hint::hint(program, FailureClass::Key),
        _ => None,
    };
    ProgramReport { program, found, version, logged_in, hint }
}

/// Before anything is granted: a program that is not there, or a profile that says too little, is told at once.
pub fn ready(setup: &AgentSetup, around: &Surroundings) -> Result<(), Failure> {
    if setup.program == AgentProgram::Script {
        return Ok(());
    }
    let Some(name) = executable(setup) else {
        let text = format!("a profile with the program {} needs a command", setup.program.name());
        return Err(Failure::new(FailureClass::Configuration, text));
    };
    if around.find(&name).is_some() {
        return Ok(());
    }
    let mut failure =
        Failure::new(FailureClass::Configuration, format!("{name} is not installed or not in PATH"));
    failure.hint = install_hint(setup.program);
    Err(failure)
}

fn executable(setup: &AgentSetup) -> Option<String> {
    match setup.command.first() {
        Some(program) => Some(program.clone()),
        None if KNOWN.contains(&setup.program) => Some(setup.program.name().to_owned()),
        None => None,
    }
}

async fn version(path: &Path, around: &Surroundings) -> Option<String> {
    let mut call = Call::new(path).arg("--version");
    call.env = around.variables.iter().map(|(name, value)| (name.into(), value.into())).collect();
    call.timeout = VERSION_WITHIN;
    call.stdout_max = 64 * 1024;
    call.excess = Excess::KeepTail;
    let ended = call.run().await.ok().filter(|ended| ended.status.success())?;
    let text = String::from_utf8_lossy(&ended.stdout).into_owned();
    version_in(&text)
}

/// `2.1.325 (Claude Code)`, `codex-cli 0.166.0`, `0.61.0`, `v1.4.0-beta.2`.
fn version_in(text: &str) -> Option<String> {
    let mut words = text.split_whitespace().map(|word| word.strip_prefix('v').unwrap_or(word));
    words.find(|word| word.starts_with(|c: char| c.is_ascii_digit())).map(str::to_owned)
}

fn logged_in(program: AgentProgram, around: &Surroundings) -> LoggedIn {
    let variables: &[&str] = match program {
        AgentProgram::Claude => &[
            "ANTHROPIC_API_KEY",
            "ANTHROPIC_AUTH_TOKEN",
            "CLAUDE_CODE_OAUTH_TOKEN",
            "CLAUDE_CODE_USE_BEDROCK",
            "CLAUDE_CODE_USE_VERTEX",
        ],
        AgentProgram::Codex => &["OPENAI_API_KEY", "CODEX_API_KEY"],
        AgentProgram::Gemini => &["GEMINI_API_KEY", "GOOGLE_API_KEY", "GOOGLE_APPLICATION_CREDENTIALS"],
        AgentProgram::Opencode => {
            &["ANTHROPIC_API_KEY", "OPENAI_API_KEY", "OPENROUTER_API_KEY", "OPENCODE_API_KEY"]
        }
        AgentProgram::Script => return LoggedIn::Yes { by: "nothing is needed".into() },
        AgentProgram::Acp | AgentProgram::Exec => {
            return LoggedIn::Unknown { why: "only the program itself knows".into() };
        }
    };
    if let Some(name) = variables.iter().find(|name| around.variable(name).is_some()) {
        return LoggedIn::Yes { by: (*name).to_owned() };
    }
    let files: Vec<PathBuf> = match program {
        AgentProgram::Claude => vec![around.folder("CLAUDE_CONFIG_DIR", ".claude").join(".credentials.json")],
        AgentProgram::Codex => vec![around.folder("CODEX_HOME", ".codex").join("auth.json")],
        AgentProgram::Gemini => vec![around.home(".gemini/oauth_creds.json")],
        _ => vec![around.folder("XDG_DATA_HOME", ".local/share").join("opencode/auth.json")],
    };
    if let Some(file) = files.iter().find(|file| file.metadata().is_ok_and(|meta| meta.len() > 2)) {
        return LoggedIn::Yes { by: file.to_string_lossy().into_owned() };
    }
    // Each of these can have a key of its own in its settings, or a provider that needs none.
    let settings = match program {
        AgentProgram::Claude => around.folder("CLAUDE_CONFIG_DIR", ".claude").join("settings.json"),
        AgentProgram::Codex => around.folder("CODEX_HOME", ".codex").join("config.toml"),
        AgentProgram::Gemini => around.home(".gemini/.env"),
        _ => around.folder("XDG_CONFIG_HOME", ".config").join("opencode/opencode.json"),
    };
    if settings.exists() {
        return LoggedIn::Unknown { why: format!("{} may hold a key", settings.display()) };
    }
    LoggedIn::No
}

#[cfg(test)]
mod tests {
    use super::*;

    fn around(home: &Path, extra: &[(&str, &str)]) -> Surroundings {
        let mut around = Surroundings::default();
        around.variables.insert("HOME".into(), home.to_string_lossy().into_owned());
        around.variables.insert("PATH".into(), home.join("bin").to_string_lossy().into_owned());
        around.variables.extend(extra.iter().map(|(name, value)| ((*name).into(), (*value).into())));
        around
    }

    fn install(home: &Path, name: &str, script: &str) {
        use std::os::unix::fs::PermissionsExt;
        let bin = home.join("bin");
        std::fs::create_dir_all(&bin).expect("folder");
        let file = bin.join(name);
        std::fs::write(&file, script).expect("script");
        std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o755)).expect("mode");
    }

    #[test]
    fn a_program_that_is_not_there_is_told_at_once_with_the_way_to_get_it() {
        let home = tempfile::tempdir().expect("home");
        let around = around(home.path(), &[]);
        let failure = ready(&AgentSetup::of(AgentProgram::Claude), &around).expect_err("not there");
        assert_eq!(failure.class, FailureClass::Configuration);
        assert_eq!(failure.hint.as_deref(), Some("npm install -g @anthropic-ai/claude-code"));
        install(home.path(), "claude", "#!/bin/sh\n");
        assert_eq!(ready(&AgentSetup::of(AgentProgram::Claude), &around), Ok(()));
        assert_eq!(ready(&AgentSetup::of(AgentProgram::Script), &around), Ok(()));
        let failure = ready(&AgentSetup::of(AgentProgram::Acp), &around).expect_err("no command");
        assert!(failure.text.contains("needs a command"), "{failure:?}");
    }

    #[test]
    fn a_version_is_read_however_the_program_decorates_it() {
        let cases = [
            ("2.1.325 (Claude Code)", "2.1.325"),
            ("codex-cli 0.166.0-alpha.3", "0.166.0-alpha.3"),
            ("opencode v1.4.0-beta.2\n", "1.4.0-beta.2"),
        ];
        for (text, version) in cases {
            assert_eq!(version_in(text).as_deref(), Some(version), "{text}");
        }
        assert_eq!(version_in("version unknown"), None);
    }

    #[tokio::test]
    async fn version_and_log_in_are_seen_without_spending() {
        let home = tempfile::tempdir().expect("home");
        install(home.path(), "codex", "#!/bin/sh\necho codex-cli 0.166.0\n");
        let bare = around(home.path(), &[]);
        let setup = AgentSetup::of(AgentProgram::Codex);
        let report = probe(&setup, &bare).await;
        assert_eq!((report.version.as_deref(), &report.logged_in), (Some("0.166.0"), &LoggedIn::No));
        assert!(report.hint.is_some_and(|hint| hint.contains("codex login")));
        let keyed = around(home.path(), &[("OPENAI_API_KEY", "dummy")]);
        assert_eq!(probe(&setup, &keyed).await.logged_in, LoggedIn::Yes { by: "OPENAI_API_KEY".into() });
        std::fs::create_dir(home.path().join(".codex")).expect("folder");
        std::fs::write(home.path().join(".codex/auth.json"), r#"{"tokens":{}}"#).expect("file");
        assert!(matches!(probe(&setup, &bare).await.logged_in, LoggedIn::Yes { .. }));
    }
}
