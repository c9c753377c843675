//! The files of the archive, as a folder: what a person unpacks.

use std::path::Path;

use anyhow::{Context, Result};

use super::{Release, materials, output};
use crate::workspace::Workspace;

/// Where each shell looks for completions, below a prefix.
pub const COMPLETIONS: [(&str, &str); 3] = [
    ("bash", "share/bash-completion/completions/swarm"),
    ("zsh", "share/zsh/site-functions/_swarm"),
    ("fish", "share/fish/vendor_completions.d/swarm.fish"),
];

/// What stands beside the program, and where it comes from.
const PAGES: [&str; 4] = ["README.md", "CHANGELOG.md", "LICENSE-MIT", "LICENSE-APACHE"];

/// `bin`, `share/man/man1`, completions and the licences, so that the folder can be unpacked over a prefix.
pub fn write(workspace: &Workspace, release: &Release) -> Result<()> {
    let top = &release.contents;
    put(&top.join("bin/swarm"), &std::fs::read(&release.binary.file).context("Cannot read the binary")?)?;
    executable(&top.join("bin/swarm"))?;
    let program = top.join("bin/swarm");
    let program = program.to_str().context("The folder of the packages has a name that is not UTF-8")?;
    let man = top.join("share/man/man1");
    std::fs::create_dir_all(&man).context("Cannot make the folder of the man pages")?;
    output(release.command(program).arg("man").arg(&man))?;
    for (shell, path) in COMPLETIONS {
        let script = output(release.command(program).args(["completions", shell]))?;
        put(&top.join(path), script.as_bytes())?;
    }
    let doc = top.join("share/doc/swarm");
    for page in PAGES {
        put(&doc.join(page), workspace.read(page)?.as_bytes())?;
    }
    put(&doc.join("THIRD-PARTY.txt"), materials::licences(workspace)?.as_bytes())
}

pub fn put(path: &Path, bytes: &[u8]) -> Result<()> {
    let parent = path.parent().context("A file of a package lies in no folder")?;
    std::fs::create_dir_all(parent).with_context(|| format!("Cannot make {}", parent.display()))?;
    std::fs::write(path, bytes).with_context(|| format!("Cannot write {}", path.display()))
}

pub fn executable(path: &Path) -> Result<()> {
    use std::os::unix::fs::PermissionsExt as _;
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o755))
        .with_context(|| format!("Cannot make {} executable", path.display()))
}
