//! What `swarm init` proposes for a repository, from the files it finds. Only looks; a person decides.

use std::path::Path;

/// Values for the configuration. Command lines are words, never for a shell.
#[derive(Debug, Clone, Default, PartialEq, Eq, serde::Serialize)]
pub struct Proposal {
    /// `worktree.setup`
    pub setup: Option<Vec<String>>,
    /// `worktree.setupWhen`
    pub setup_when: Vec<String>,
    /// `worktree.copy`
    pub copy: Vec<String>,
    /// `check.commands`
    pub check: Vec<Vec<String>>,
    /// What it was proposed from, for the person.
    pub because: Vec<String>,
}

/// A kind of project: the file that shows it, how it is set up, what decides over the set-up.
struct Kind {
    file: &'static str,
    setup: Option<&'static str>,
    when: &'static [&'static str],
    check: &'static [&'static str],
}

const fn kind(
    file: &'static str,
    setup: Option<&'static str>,
    when: &'static [&'static str],
    check: &'static [&'static str],
) -> Kind {
    Kind { file, setup, when, check }
}

/// The first of a group that is found counts: a lock file says more than the list it was made from.
const KINDS: [&[Kind]; 6] = [
    &[
        kind("pnpm-lock.yaml", Some("pnpm install --frozen-lockfile"), &["pnpm-lock.yaml"], &[]),
        kind("yarn.lock", Some("yarn install --frozen-lockfile"), &["yarn.lock"], &[]),
        kind("bun.lock", Some("bun install --frozen-lockfile"), &["bun.lock"], &[]),
        kind("bun.lockb", Some("bun install --frozen-lockfile"), &["bun.lockb"], &[]),
        kind("package-lock.json", Some("npm ci"), &["package-lock.json"], &[]),
        kind("npm-shrinkwrap.json", Some("npm ci"), &["npm-shrinkwrap.json"], &[]),
        kind("package.json", Some("npm install"), &["package.json"], &[]),
    ],
    &[
        kind("uv.lock", Some("uv sync --frozen"), &["uv.lock"], &["uv run pytest"]),
        kind("poetry.lock", Some("poetry install"), &["poetry.lock"], &["poetry run pytest"]),
        kind("Pipfile.lock", Some("pipenv sync --dev"), &["Pipfile.lock"], &["pipenv run pytest"]),
        // How its environment is made is not written down in it: only the check can be proposed.
        kind("pyproject.toml", None, &[], &["python3 -m pytest"]),
        kind("requirements.txt", None, &[], &["python3 -m pytest"]),
    ],
    // Fetched once for all worktrees by its own tool, so nothing has to be set up.
    &[kind("Cargo.toml", None, &[], &["cargo test"])],
    &[kind("go.mod", None, &[], &["go test ./..."])],
    &[kind("Gemfile.lock", Some("bundle install"), &["Gemfile.lock"], &[])],
    &[kind("composer.lock", Some("composer install"), &["composer.lock"], &[])],
];

/// Files that a checkout needs and git does not have.
const LOCAL_FILES: [&str; 5] = [".env", ".env.local", ".env.development.local", ".env.test.local", ".npmrc"];

pub fn propose(root: &Path) -> Proposal {
    let mut proposal = Proposal::default();
    for group in KINDS {
        if let Some(kind) = group.iter().find(|kind| root.join(kind.file).is_file()) {
            take(&mut proposal, kind);
        }
    }
    scripts_of_npm(root, &mut proposal);
    target_of_make(root, &mut proposal);
    let local = LOCAL_FILES.iter().filter(|name| root.join(name).is_file());
    proposal.copy.extend(local.map(|name| (*name).to_owned()));
    proposal
}

fn words(line: &str) -> Vec<String> {
    line.split(' ').map(str::to_owned).collect()
}

fn take(proposal: &mut Proposal, kind: &Kind) {
    proposal.because.push(kind.file.to_owned());
    // Two kinds that both need a set-up cannot share one command line: the first stays, the person sees why.
    if let (None, Some(setup)) = (&proposal.setup, kind.setup) {
        proposal.setup = Some(words(setup));
    }
    proposal.setup_when.extend(kind.when.iter().map(|name| (*name).to_owned()));
    proposal.check.extend(kind.check.iter().map(|line| words(line)));
}

/// `npm test`, where package.json has a test that is one.
fn scripts_of_npm(root: &Path, proposal: &mut Proposal) {
    let Ok(text) = std::fs::read(root.join("package.json")) else { return };
    let Ok(package) = serde_json::from_slice::<serde_json::Value>(&text) else { return };
    let test = package["scripts"]["test"].as_str().unwrap_or_default();
    if !test.is_empty() && !test.contains("no test specified") {
        let runner = proposal.setup.as_ref().and_then(|words| words.first()).cloned();
        let runner = runner.filter(|name| ["npm", "pnpm", "yarn", "bun"].contains(&name.as_str()));
        proposal.check.push(vec![runner.unwrap_or_else(|| "npm".into()), "test".into()]);
    }
}

/// `make check` or `make test`, when nothing better is known.
fn target_of_make(root: &Path, proposal: &mut Proposal) {
    let names = ["Makefile", "makefile", "GNUmakefile"];
    let Some(name) = names.into_iter().find(|name| root.join(name).is_file()) else { return };
    let text = std::fs::read_to_string(root.join(name)).unwrap_or_default();
    let has =
        |target: &str| text.lines().any(|line| line.split(':').next() == Some(target) && line.contains(':'));
    let target = ["check", "test"].into_iter().find(|target| has(target));
    if let (true, Some(target)) = (proposal.check.is_empty(), target) {
        proposal.check.push(vec!["make".into(), target.into()]);
        proposal.because.push(name.to_owned());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(files: &[(&str, &str)], setup: &str, when: &[&str], copy: &[&str], checks: &[&str]) {
        let dir = tempfile::tempdir().unwrap();
        for (name, text) in files {
            std::fs::write(dir.path().join(name), text).unwrap();
        }
        let found = propose(dir.path());
        assert_eq!(found.setup.unwrap_or_default().join(" "), setup, "{files:?}");
        assert_eq!((found.setup_when, found.copy), (owned(when), owned(copy)), "{files:?}");
        let found: Vec<String> = found.check.iter().map(|line| line.join(" ")).collect();
        assert_eq!(found, checks, "{files:?}");
    }

    fn owned(words: &[&str]) -> Vec<String> {
        words.iter().map(|word| (*word).to_owned()).collect()
    }

    #[test]
    fn what_is_found_is_proposed_and_nothing_else() {
        check(&[], "", &[], &[], &[]);
        check(&[("Cargo.toml", "")], "", &[], &[], &["cargo test"]);
        let package = r#"{"scripts":{"test":"node --test"}}"#;
        check(
            &[("package.json", package), ("package-lock.json", "{}"), (".env", "A=1\n")],
            "npm ci",
            &["package-lock.json"],
            &[".env"],
            &["npm test"],
        );
        check(
            &[("package.json", package), ("pnpm-lock.yaml", "")],
            "pnpm install --frozen-lockfile",
            &["pnpm-lock.yaml"],
            &[],
            &["pnpm test"],
        );
        let untested = r#"{"scripts":{"test":"echo \"Error: no test specified\" && exit 1"}}"#;
        check(&[("package.json", untested)], "npm install", &["package.json"], &[], &[]);
        check(&[("package.json", "not json")], "npm install", &["package.json"], &[], &[]);
        check(&[("uv.lock", "")], "uv sync --frozen", &["uv.lock"], &[], &["uv run pytest"]);
        check(&[("Makefile", "all: x\ncheck: all\n\t./run\n")], "", &[], &[], &["make check"]);
        check(&[("go.mod", ""), ("Makefile", "test:\n")], "", &[], &[], &["go test ./..."]);
    }
}
