//! What the binary is built of: a bill of materials (CycloneDX), and the licences that come with it.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::path::Path;

use anyhow::{Context, Result};
use serde_json::{Value, json};

use super::{Release, output};
use crate::workspace::Workspace;

/// Something that is compiled or bundled into the binary.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Material {
    name: String,
    version: String,
    licence: String,
    /// As a package URL: `pkg:cargo/serde@1.0.0`.
    purl: String,
    sha256: Option<String>,
    /// Where its own files are, for the texts of its licence.
    folder: Option<String>,
}

pub fn write(workspace: &Workspace, release: &Release) -> Result<String> {
    let components: Vec<Value> = materials(workspace)?
        .iter()
        .map(|one| {
            let mut component = json!({
                "type": "library", "bom-ref": one.purl, "name": one.name, "version": one.version,
                "licenses": [{ "expression": one.licence }], "purl": one.purl,
            });
            if let Some(sum) = &one.sha256 {
                component["hashes"] = json!([{ "alg": "SHA-256", "content": sum }]);
            }
            component
        })
        .collect();
    let bom = json!({
        "bomFormat": "CycloneDX", "specVersion": "1.5", "version": 1,
        "metadata": { "component": {
            "type": "application", "name": "swarm", "version": release.version,
            "licenses": [{ "expression": "MIT OR Apache-2.0" }],
        } },
        "components": components,
    });
    let file = format!("{}.cdx.json", release.name());
    let text = serde_json::to_string_pretty(&bom).context("Cannot write the bill of materials")? + "\n";
    std::fs::write(release.out.join(&file), text).context("Cannot write the bill of materials")?;
    Ok(file)
}

/// All licences, each text once, with the names of those that come under it.
pub fn licences(workspace: &Workspace) -> Result<String> {
    let mut text = String::from(
        "Swarm is built of these libraries, each under the terms that are named. The texts follow.\n\n",
    );
    let mut texts: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for one in materials(workspace)? {
        let _ = writeln!(text, "{} {}: {}", one.name, one.version, one.licence);
        for found in one.folder.iter().flat_map(|folder| texts_in(Path::new(folder))) {
            texts.entry(found).or_default().insert(format!("{} {}", one.name, one.version));
        }
    }
    for (licence, names) in texts {
        let names: Vec<_> = names.into_iter().collect();
        let _ = write!(text, "\n{}\n{}\n\n{}\n", "=".repeat(72), names.join(", "), licence.trim_end());
    }
    Ok(text)
}

fn texts_in(folder: &Path) -> Vec<String> {
    let Ok(entries) = std::fs::read_dir(folder) else { return vec![] };
    let is_one = |name: &str| ["license", "licence", "copying", "notice"].iter().any(|w| name.starts_with(w));
    let mut texts: Vec<String> = entries
        .flatten()
        .filter(|entry| entry.file_name().to_str().is_some_and(|name| is_one(&name.to_lowercase())))
        .filter_map(|entry| std::fs::read_to_string(entry.path()).ok())
        .collect();
    texts.sort();
    texts
}

fn materials(workspace: &Workspace) -> Result<BTreeSet<Material>> {
    let mut all = crates(workspace)?;
    all.extend(pages(workspace)?);
    Ok(all)
}

/// Crates that `swarm` is linked with on this system: neither those of tests nor those that only build others.
fn crates(workspace: &Workspace) -> Result<BTreeSet<Material>> {
    let host = output(&mut workspace.cargo(["-vV"]))?;
    let host = host.lines().find_map(|line| line.strip_prefix("host: ")).context("cargo names no host")?;
    let asked = ["metadata", "--format-version", "1", "--locked", "--filter-platform", host];
    let told: Value = serde_json::from_str(&output(&mut workspace.cargo(asked))?)
        .context("cargo metadata printed something else than JSON")?;
    let sums = checksums(&workspace.read("Cargo.lock")?);
    let list = |value: &Value| value.as_array().cloned().unwrap_or_default();
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let packages: BTreeMap<String, Value> =
        list(&told["packages"]).into_iter().map(|package| (text(&package["id"]), package)).collect();
    let nodes: BTreeMap<String, Value> =
        list(&told["resolve"]["nodes"]).into_iter().map(|node| (text(&node["id"]), node)).collect();
    let is_macro = |package: &Value| {
        list(&package["targets"]).iter().any(|target| list(&target["kind"]).contains(&json!("proc-macro")))
    };
    let first = packages.iter().find(|(_, package)| package["name"] == "swarm-cli").map(|(id, _)| id.clone());
    let mut open: Vec<String> = vec![first.context("There is no package swarm-cli")?];
    let (mut seen, mut found) = (BTreeSet::new(), BTreeSet::new());
    while let Some(id) = open.pop() {
        let Some(package) = packages.get(&id).filter(|package| !is_macro(package)) else { continue };
        if !seen.insert(id.clone()) {
            continue;
        }
        for dep in list(&nodes[&id]["deps"]) {
            // Neither of tests nor of build scripts: their kinds have names.
            if list(&dep["dep_kinds"]).iter().any(|kind| kind["kind"].is_null()) {
                open.push(text(&dep["pkg"]));
            }
        }
        if package["source"].is_null() {
            continue;
        }
        let (name, version) = (text(&package["name"]), text(&package["version"]));
        let folder = Path::new(package["manifest_path"].as_str().unwrap_or_default()).parent();
        found.insert(Material {
            purl: format!("pkg:cargo/{name}@{version}"),
            licence: text(&package["license"]).replace('/', " OR "),
            sha256: sums.get(&(name.clone(), version.clone())).cloned(),
            folder: folder.map(|folder| folder.display().to_string()),
            name,
            version,
        });
    }
    Ok(found)
}

/// What Cargo.lock says of the archives, by name and version.
fn checksums(lock: &str) -> BTreeMap<(String, String), String> {
    let value = |block: &str, key: &str| {
        let start = format!("{key} = \"");
        block.lines().find_map(|line| Some(line.strip_prefix(&start)?.trim_end_matches('"').to_owned()))
    };
    lock.split("[[package]]")
        .filter_map(|block| {
            Some(((value(block, "name")?, value(block, "version")?), value(block, "checksum")?))
        })
        .collect()
}

/// What the pages of the web UI are bundled of.
fn pages(workspace: &Workspace) -> Result<BTreeSet<Material>> {
    let lock: Value = serde_json::from_str(&workspace.read("web/package-lock.json")?)
        .context("web/package-lock.json is no JSON")?;
    let packages = lock["packages"].as_object().cloned().unwrap_or_default();
    let bundled = packages.into_iter().filter(|(_, about)| about["dev"] != true && about["optional"] != true);
    Ok(bundled
        .filter_map(|(path, about)| {
            let name = path.rsplit_once("node_modules/")?.1.to_owned();
            let version = about["version"].as_str()?.to_owned();
            Some(Material {
                purl: format!("pkg:npm/{}@{version}", name.replace('@', "%40")),
                licence: about["license"].as_str().unwrap_or("NOASSERTION").to_owned(),
                sha256: None,
                folder: Some(workspace.root().join("web").join(&path).display().to_string()),
                name,
                version,
            })
        })
        .collect())
}

#[cfg(test)]
mod tests {
    use super::checksums;

    #[test]
    fn checksums_are_read_from_the_lock_file() {
        let lock = "version = 4\n\n[[package]]\nname = \"a\"\nversion = \"1.0.0\"\nsource = \"x\"\nchecksum = \"ff\"\n\n\
                    [[package]]\nname = \"ours\"\nversion = \"0.1.0\"\n";
        let sums = checksums(lock);
        assert_eq!(sums.get(&("a".into(), "1.0.0".into())).map(String::as_str), Some("ff"));
        assert_eq!(sums.len(), 1);
    }
}
