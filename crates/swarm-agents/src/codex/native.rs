//! The real program behind the launcher that npm installs. A killed launcher leaves the real one running,
//! with its tools; a killed native program leaves nothing.

use std::path::{Path, PathBuf};

/// The native program for an executable that was found, or the executable itself.
pub fn native_binary(found: &Path) -> PathBuf {
    native(found).unwrap_or_else(|| found.to_owned())
}

fn native(found: &Path) -> Option<PathBuf> {
    let launcher = found.canonicalize().ok()?;
    // .../node_modules/@openai/codex/bin/codex.js
    let package = launcher.parent()?.parent()?;
    if launcher.extension()? != "js" || !package.ends_with("@openai/codex") {
        return None;
    }
    let (platform, triple) = match std::env::consts::ARCH {
        "x86_64" => ("codex-linux-x64", "x86_64-unknown-linux-musl"),
        "aarch64" => ("codex-linux-arm64", "aarch64-unknown-linux-musl"),
        _ => return None,
    };
    let places = [
        package.parent()?.join(platform),
        package.join("node_modules/@openai").join(platform),
        package.to_owned(),
    ];
    places
        .iter()
        .flat_map(|place| {
            let vendor = place.join("vendor").join(triple);
            [vendor.join("bin/codex"), vendor.join("codex/codex")]
        })
        .find(|file| file.is_file())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_launcher_of_npm_leads_to_the_native_program_and_any_other_to_itself() {
        let dir = tempfile::tempdir().expect("folder");
        let root = dir.path().canonicalize().expect("real path");
        let make = |path: &str| {
            let file = root.join(path);
            std::fs::create_dir_all(file.parent().expect("parent")).expect("folders");
            std::fs::write(&file, "").expect("file");
            file
        };
        make("node_modules/@openai/codex/bin/codex.js");
        let arch = if std::env::consts::ARCH == "aarch64" {
            ("codex-linux-arm64", "aarch64")
        } else {
            ("codex-linux-x64", "x86_64")
        };
        let vendor = format!("vendor/{}-unknown-linux-musl/bin/codex", arch.1);
        let real = make(&format!("node_modules/@openai/{}/{vendor}", arch.0));
        let bin = root.join("bin");
        std::fs::create_dir(&bin).expect("folder");
        let link = bin.join("codex");
        std::os::unix::fs::symlink(root.join("node_modules/@openai/codex/bin/codex.js"), &link)
            .expect("link");
        assert_eq!(native_binary(&link), real);
        let other = make("opt/codex");
        assert_eq!(native_binary(&other), other);
    }
}
