//! The one list of variables that a daemon, and so its programs, get from us. Everything else stays
//! here: what a person has in the shell for other purposes is no business of an agent.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};

/// Variables by name: who and where we are, how to speak, how to reach the network, where tools keep
/// their things. None of them holds a secret.
const NAMES: &[&str] = &[
    // who and where
    "PATH",
    "HOME",
    "USER",
    "LOGNAME",
    "SHELL",
    "LANG",
    "LANGUAGE",
    "TZ",
    "TMPDIR",
    "TERM",
    "COLORTERM",
    "NO_COLOR",
    "CLICOLOR",
    "FORCE_COLOR",
    "LD_LIBRARY_PATH",
    "CI",
    "XDG_CONFIG_HOME",
    "XDG_CACHE_HOME",
    "XDG_DATA_HOME",
    "XDG_STATE_HOME",
    "XDG_RUNTIME_DIR",
    "XDG_DATA_DIRS",
    "XDG_CONFIG_DIRS",
    // git
    "GIT_CONFIG_GLOBAL",
    "GIT_CONFIG_SYSTEM",
    "GIT_CONFIG_NOSYSTEM",
    "GIT_EXEC_PATH",
    "GIT_SSL_CAINFO",
    // the way to the network
    "http_proxy",
    "https_proxy",
    "ftp_proxy",
    "all_proxy",
    "no_proxy",
    "HTTP_PROXY",
    "HTTPS_PROXY",
    "FTP_PROXY",
    "ALL_PROXY",
    "NO_PROXY",
    "SSL_CERT_FILE",
    "SSL_CERT_DIR",
    "CURL_CA_BUNDLE",
    "REQUESTS_CA_BUNDLE",
    "NODE_EXTRA_CA_CERTS",
    // tools
    "CARGO_HOME",
    "RUSTUP_HOME",
    "RUSTUP_TOOLCHAIN",
    "RUSTUP_DIST_SERVER",
    "RUSTUP_UPDATE_ROOT",
    "NVM_DIR",
    "NVM_BIN",
    "NVM_INC",
    "NODE_PATH",
    "NODE_OPTIONS",
    "VOLTA_HOME",
    "FNM_DIR",
    "PNPM_HOME",
    "BUN_INSTALL",
    "DENO_DIR",
    "COREPACK_HOME",
    "NPM_CONFIG_CACHE",
    "NPM_CONFIG_PREFIX",
    "NPM_CONFIG_REGISTRY",
    "NPM_CONFIG_USERCONFIG",
    "npm_config_cache",
    "npm_config_prefix",
    "npm_config_registry",
    "npm_config_userconfig",
    "YARN_CACHE_FOLDER",
    "PLAYWRIGHT_BROWSERS_PATH",
    "PYENV_ROOT",
    "VIRTUAL_ENV",
    "CONDA_PREFIX",
    "UV_CACHE_DIR",
    "UV_INDEX_URL",
    "UV_DEFAULT_INDEX",
    "PIP_INDEX_URL",
    "PIP_CACHE_DIR",
    "PIP_CERT",
    "POETRY_HOME",
    "POETRY_CACHE_DIR",
    "GOPATH",
    "GOROOT",
    "GOCACHE",
    "GOMODCACHE",
    "GOPROXY",
    "GOFLAGS",
    "GONOSUMDB",
    "GOPRIVATE",
    "JAVA_HOME",
    "GRADLE_USER_HOME",
    "MAVEN_OPTS",
    "SDKMAN_DIR",
    "ANDROID_HOME",
    "ANDROID_SDK_ROOT",
    "RBENV_ROOT",
    "GEM_HOME",
    "GEM_PATH",
    "BUNDLE_PATH",
    "ASDF_DIR",
    "ASDF_DATA_DIR",
    "MISE_DATA_DIR",
    "HOMEBREW_PREFIX",
    "NIX_PATH",
    "NIX_PROFILES",
    "NIX_SSL_CERT_FILE",
    "DOTNET_ROOT",
    "CCACHE_DIR",
    "SCCACHE_DIR",
];

/// What our own variables begin with. Those of a coordinator are never handed on to a program.
const OURS: &str = "SWARM_";

/// Whether everybody gets it.
pub fn is_allowed(name: &OsStr) -> bool {
    let Some(name) = name.to_str() else { return false };
    NAMES.contains(&name) || name.starts_with("LC_")
}

/// Names the span below which a program hangs its own (W3C Trace Context).
pub const TRACEPARENT: &str = "TRACEPARENT";

/// From our own environment: what everybody gets, and those named in `extra`.
pub fn allowed(extra: &[String]) -> BTreeMap<OsString, OsString> {
    let wanted = |name: &OsStr| is_allowed(name) || extra.iter().any(|extra| OsStr::new(extra) == name);
    std::env::vars_os().filter(|(name, _)| wanted(name)).collect()
}

/// The same for a program of a run, whatever a person named: what is ours stays with us.
pub fn for_program(extra: &[String]) -> BTreeMap<OsString, OsString> {
    let ours = |name: &OsStr| name.as_encoded_bytes().starts_with(OURS.as_bytes());
    allowed(extra).into_iter().filter(|(name, _)| !ours(name)).collect()
}

/// Whether the value of such a variable is nobody's business, by its name.
pub fn is_secret(name: &OsStr) -> bool {
    const WORDS: [&str; 7] = ["KEY", "TOKEN", "SECRET", "PASSWORD", "PASSWD", "CREDENTIAL", "AUTH"];
    let Some(name) = name.to_str() else { return false };
    let name = name.to_ascii_uppercase();
    // Who wrote something is no secret; whoever is authorised is.
    let named = name.replace("AUTHORI", "AUTH").replace("AUTHOR", "");
    !NAMES.contains(&name.as_str()) && WORDS.iter().any(|word| named.contains(word))
}

/// The values that stand behind a switch with the name of a secret: `--api-key VALUE`, `--token=VALUE`.
pub fn secret_arguments(words: &[String]) -> Vec<(OsString, OsString)> {
    let switches = words.iter().enumerate().filter(|(_, word)| word.starts_with('-'));
    let values = switches.filter_map(|(n, word)| {
        let (name, value) = match word.split_once('=') {
            Some((name, value)) => (name, value),
            None => (word.as_str(), words.get(n + 1)?.as_str()),
        };
        is_secret(OsStr::new(name)).then(|| (name.into(), value.into()))
    });
    values.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_that_everybody_gets_looks_like_a_secret() {
        for name in NAMES {
            let name = name.to_ascii_uppercase();
            assert!(
                !["TOKEN", "SECRET", "PASSW", "API_KEY", "AUTH"].iter().any(|word| name.contains(word)),
                "{name}"
            );
        }
    }

    #[test]
    fn names_decide_who_gets_what() {
        for (name, expected) in [
            ("PATH", true),
            ("LC_TIME", true),
            ("https_proxy", true),
            ("ANTHROPIC_API_KEY", false),
            ("SSH_AUTH_SOCK", false),
            ("SWARM_TOKEN", false),
            ("DATABASE_URL", false),
        ] {
            assert_eq!(is_allowed(OsStr::new(name)), expected, "{name}");
        }
        assert!(is_secret(OsStr::new("GH_TOKEN")) && is_secret(OsStr::new("my_secret")));
        assert!(is_secret(OsStr::new("PROXY_AUTHORIZATION")) && is_secret(OsStr::new("XAUTHORITY")));
        assert!(!is_secret(OsStr::new("HOME")) && !is_secret(OsStr::new("GIT_AUTHOR_EMAIL")));
    }

    #[test]
    fn values_behind_secret_switches_are_found_and_others_are_not() {
        let words = ["run", "--api-key", "abcdefgh", "--model", "large", "--auth-token=ijklmnop", "--key"];
        let found = secret_arguments(&words.map(str::to_owned));
        let values: Vec<_> = found.iter().map(|(_, value)| value.to_str().unwrap_or_default()).collect();
        assert_eq!(values, ["abcdefgh", "ijklmnop"]);
    }
}
