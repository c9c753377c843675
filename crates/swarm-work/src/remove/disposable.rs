//! What may go with a worktree although git ignores it: what tools make again. Good defaults for each ecosystem;
//! the configuration adds to them (`worktree.disposable`), or takes some of them out.

use std::path::Path;

use globset::GlobSet;

use crate::worktree::names;

/// Folders that a task leaves for the next one in the pool, and that no search for files goes into.
pub const DISPOSABLE: [&str; 14] = [
    "node_modules",
    "target",
    "dist",
    "build",
    ".venv",
    "venv",
    "__pycache__",
    "*.pyc",
    ".pytest_cache",
    ".mypy_cache",
    ".next",
    ".cache",
    "coverage",
    ".DS_Store",
];

/// Names that tools make and make again, by ecosystem. Only what git ignores is ever compared with them.
const DEFAULTS: &[&[&str]] = &[
    &DISPOSABLE,
    // JavaScript and TypeScript
    &[
        ".nuxt",
        ".output",
        ".svelte-kit",
        ".astro",
        ".turbo",
        ".vite",
        ".parcel-cache",
        ".angular",
        ".expo",
        ".yarn",
        ".pnpm-store",
        ".npm",
        ".eslintcache",
        ".stylelintcache",
        "*.tsbuildinfo",
        ".nyc_output",
        "storybook-static",
        "playwright-report",
        "test-results",
    ],
    // Rust
    &["*.rs.bk", "*.profraw", "*.profdata"],
    // Python
    &[
        "*.pyo",
        "*.pyd",
        "*.egg-info",
        ".eggs",
        "*.egg",
        ".ruff_cache",
        ".tox",
        ".nox",
        ".coverage",
        ".coverage.*",
        "coverage.xml",
        "htmlcov",
        ".hypothesis",
        ".ipynb_checkpoints",
        ".pytype",
        ".pyre",
        "__pypackages__",
        "pip-wheel-metadata",
    ],
    // Go
    &["*.test", "*.prof"],
    // The JVM: Gradle, Maven, Kotlin, Scala
    &[
        ".gradle",
        ".kotlin",
        "out",
        "*.class",
        "hs_err_pid*",
        ".bloop",
        ".metals",
        ".bsp",
        ".scala-build",
        "dependency-reduced-pom.xml",
    ],
    // .NET
    &["bin", "obj", "TestResults", ".vs", "*.user", "*.suo"],
    // Ruby
    &[".bundle", ".yardoc", ".rspec_status", "rspec_status"],
    // PHP, and what others vendor
    &[
        "vendor",
        ".phpunit.result.cache",
        ".phpunit.cache",
        ".php-cs-fixer.cache",
        ".php_cs.cache",
        ".phpstan",
    ],
    // Swift and Xcode
    &[".build", ".swiftpm", "DerivedData", "xcuserdata", "*.xcuserstate", "Pods", "Carthage"],
    // Elixir and Erlang
    &["_build", "deps", "cover", "*.beam", "*.ez", "erl_crash.dump", ".elixir_ls"],
    // C and C++, and others that compile
    &[
        "*.o",
        "*.obj",
        "*.gcda",
        "*.gcno",
        "CMakeFiles",
        "CMakeCache.txt",
        "cmake-build-*",
        ".ccache",
        ".zig-cache",
        "zig-cache",
        "zig-out",
        "dist-newstyle",
        ".stack-work",
        ".dart_tool",
        ".terraform",
        "bazel-*",
    ],
    // Editors and systems
    &[".idea", ".vscode", ".history", "*.iml", "*.swp", "*.swo", "*~", "Thumbs.db", "desktop.ini"],
    // Anybody
    &["*.log", "*.log.*", "*.pid", "*.tmp", "*.bak"],
];

/// Keys, passwords and data: no pattern covers them, only their own name does.
const NEVER: [&str; 20] = [
    ".env",
    ".env.*",
    "*.env",
    ".envrc",
    "*.pem",
    "*.key",
    "*.p12",
    "*.pfx",
    "*.jks",
    "*.keystore",
    "id_rsa*",
    "id_ed25519*",
    ".npmrc",
    ".netrc",
    "*.db",
    "*.sqlite",
    "*.sqlite3",
    "*.dump",
    "*.sql",
    "credentials*",
];

/// The rule of one repository.
#[derive(Debug, Clone)]
pub struct Disposable {
    may_go: GlobSet,
    never: GlobSet,
    /// Names that a person has written out.
    named: Vec<String>,
}

impl Disposable {
    /// `wanted` are globs of the configuration: added to the defaults; `!name` takes one of the defaults out, `!*` all.
    pub fn new(wanted: &[String]) -> Self {
        let (without, named): (Vec<&String>, Vec<&String>) =
            wanted.iter().partition(|glob| glob.starts_with('!'));
        let out = |name: &str| without.iter().any(|glob| glob[1..] == *name || glob.as_str() == "!*");
        let defaults =
            DEFAULTS.iter().copied().flatten().filter(|name| !out(name)).map(|name| (*name).to_owned());
        let named: Vec<String> = named
            .into_iter()
            .map(|glob| glob.trim_start_matches("./").trim_end_matches('/').to_owned())
            .collect();
        let all: Vec<String> = defaults.chain(named.iter().cloned()).collect();
        let never = NEVER.map(str::to_owned);
        Self { may_go: names(&all), never: names(&never), named }
    }

    /// Whether the thing of this path may go, by its own name, that of a folder above it, or its path.
    pub fn covers(&self, path: &Path) -> bool {
        let folder = path.parent().into_iter().flat_map(Path::components);
        folder.map(|part| Path::new(part.as_os_str())).any(|part| self.may_go.is_match(part))
            || self.covers_name(path.file_name().map_or(path, Path::new))
            || (self.may_go.is_match(path) && !self.is_precious(path))
    }

    /// The same for one name, without what is above it.
    pub fn covers_name(&self, name: &Path) -> bool {
        self.may_go.is_match(name) && !self.is_precious(name)
    }

    fn is_precious(&self, path: &Path) -> bool {
        let name = path.file_name().map_or(path, Path::new);
        let written_out = |text: &String| Path::new(text) == name || Path::new(text) == path;
        self.never.is_match(name) && !self.named.iter().any(written_out)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(wanted: &[&str], path: &str, goes: bool) {
        let wanted: Vec<String> = wanted.iter().map(|glob| (*glob).to_owned()).collect();
        assert_eq!(Disposable::new(&wanted).covers(Path::new(path)), goes, "{wanted:?}: {path}");
    }

    #[test]
    fn what_tools_make_again_may_go_and_keys_and_data_may_not() {
        let made = [
            ".coverage",
            "app/debug.log",
            "tsconfig.tsbuildinfo",
            ".gradle/8.5/checksums.lock",
            "my_pkg.egg-info/PKG-INFO",
            "target/debug/x",
            "web/node_modules/left-pad/index.js",
            "node_modules/tls/test/key.pem",
            "_build/dev/lib",
            "obj/project.assets.json",
            ".idea/workspace.xml",
        ];
        made.iter().for_each(|path| check(&[], path, true));
        let precious = [
            ".env",
            "conf/.env.local",
            "server.pem",
            "tls.key",
            "app.db",
            "data/dev.sqlite3",
            "notes.txt",
            "data/x",
        ];
        precious.iter().for_each(|path| check(&[], path, false));
    }

    #[test]
    fn the_configuration_adds_to_the_defaults_and_takes_out_of_them() {
        check(&["data/cache"], "data/cache", true);
        check(&["generated-*"], "generated-1/x", true);
        check(&["!dist"], "dist/app.js", false);
        check(&["!*", "mine"], "node_modules/x", false);
        check(&["!*", "mine"], "mine/x", true);
        // A pattern takes no key along; its own name does.
        check(&["*"], "tls.key", false);
        check(&["tls.key"], "tls.key", true);
    }
}
