//! Where the repository is, which files it holds, and how cargo is called in it.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};

pub struct Workspace {
    root: PathBuf,
    /// Our crates are built by the linter, which compiles as the compiler does and says what it sees on the way.
    linted: bool,
}

impl Workspace {
    /// The workspace of the running xtask.
    ///
    /// Asked of cargo at run time and not compiled in, so that a copied or moved checkout
    /// with its old `target` never checks the folder it was copied from.
    pub fn find() -> Result<Workspace> {
        let member = std::env::var_os("CARGO_MANIFEST_DIR")
            .context("Cannot find the workspace: run this as `cargo xtask COMMAND`")?;
        let root =
            Path::new(&member).parent().context("The xtask package has no parent folder")?.to_path_buf();
        Ok(Workspace { root, linted: false })
    }

    /// The same one, whose builds are linted. What is built so is not what `cargo build` would take for its own.
    pub fn linted(&self) -> Workspace {
        Workspace { root: self.root.clone(), linted: true }
    }

    /// The same commands in another checkout.
    pub fn at(&self, root: PathBuf) -> Workspace {
        Workspace { root, linted: self.linted }
    }

    pub fn root(&self) -> &Path {
        &self.root
    }

    /// Where cargo and these commands put what they make.
    pub fn target(&self) -> PathBuf {
        std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| self.root.join("target"), PathBuf::from)
    }

    /// The text of a file named by its path from the root.
    pub fn read(&self, path: &str) -> Result<String> {
        std::fs::read_to_string(self.root.join(path)).with_context(|| format!("Cannot read {path}"))
    }

    /// Files that are in the repository or about to be: tracked, or new and not ignored.
    ///
    /// New ones count because a person wants to hear of a mistake before the commit, not after it.
    pub fn files(&self) -> Result<Vec<String>> {
        let output = Command::new("git")
            .args(["ls-files", "-z", "--cached", "--others", "--exclude-standard"])
            .current_dir(&self.root)
            .output()
            .context("Cannot run git to list the files")?;
        if !output.status.success() {
            bail!("git ls-files: {}", String::from_utf8_lossy(&output.stderr).trim());
        }
        let listed = String::from_utf8(output.stdout).context("A file name is not UTF-8")?;
        let mut files: Vec<String> = listed
            .split_terminator('\0')
            // Listed, but deleted in the checkout and not yet committed.
            .filter(|path| self.root.join(path).is_file())
            .map(str::to_owned)
            .collect();
        files.sort();
        files.dedup();
        Ok(files)
    }

    /// A cargo command in the root, plain in its output when nobody watches.
    pub fn cargo<S: AsRef<OsStr>>(&self, arguments: impl IntoIterator<Item = S>) -> Command {
        let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
        command.args(arguments).current_dir(&self.root);
        command.env("CARGO_TERM_PROGRESS_WHEN", "never");
        if in_ci() {
            command.env("CARGO_TERM_COLOR", "never");
            // Nothing is built twice there, and what a second build would need takes gigabytes.
            command.env("CARGO_INCREMENTAL", "0");
            // Nobody debugs there, and a panic says its line without them.
            command.env("CARGO_PROFILE_DEV_DEBUG", "none");
        }
        if self.linted {
            command.env("RUSTC_WORKSPACE_WRAPPER", "clippy-driver");
        }
        // Ours, not the child's: cargo would hand them to the programs it starts.
        for (name, _) in std::env::vars_os() {
            let name_text = name.to_string_lossy();
            if name_text.starts_with("CARGO_PKG_") || name_text.starts_with("CARGO_MANIFEST_") {
                command.env_remove(&name);
            }
        }
        command
    }

    /// Runs a cargo command with our own output, and fails when it fails.
    pub fn run_cargo<S: AsRef<OsStr>>(&self, arguments: impl IntoIterator<Item = S>) -> Result<()> {
        run(self.cargo(arguments))
    }
}

/// Runs a command with our own output, and fails when it fails.
pub fn run(mut command: Command) -> Result<()> {
    let shown = shown(&command);
    eprintln!("$ {shown}");
    let status = command.status().with_context(|| format!("Cannot start {shown}"))?;
    if !status.success() {
        bail!("{shown} ended with {status}");
    }
    Ok(())
}

/// The command as a person would type it.
pub fn shown(command: &Command) -> String {
    let program = Path::new(command.get_program()).file_name().unwrap_or(command.get_program());
    let mut words = vec![program.to_string_lossy().into_owned()];
    words.extend(command.get_args().map(|word| word.to_string_lossy().into_owned()));
    words.join(" ")
}

/// True on a build server, by the variable that all of them set.
pub fn in_ci() -> bool {
    std::env::var("CI").is_ok_and(|value| !value.is_empty() && value != "false" && value != "0")
}
