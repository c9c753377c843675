//! A project as people have it: packages to install by a lock file, and an ignored `.env` that its tests need.

use serde_json::json;

use crate::arena::Arena;
use crate::ground::{arena_with, task};

const TEST: &str = r#"
const fs = require("fs");
const wanted = Object.keys(require("./package.json").dependencies);
for (const name of wanted) {
  if (require(name) !== name) throw new Error(`${name} is not itself`);
}
if (!fs.readFileSync(".env", "utf8").includes("TOKEN=of-the-person")) throw new Error("no .env");
console.log("tested with", wanted.join(" "));
"#;

/// `package.json` and its lock file with these packages, which lie in the repository: no network needed.
fn manifest(packages: &[&str]) -> (String, String) {
    let wanted: serde_json::Map<_, _> =
        packages.iter().map(|name| ((*name).to_owned(), json!(format!("file:vendor/{name}")))).collect();
    let manifest = json!({
        "name": "shop", "version": "1.0.0", "scripts": { "test": "node test.js" }, "dependencies": wanted,
    });
    let mut locked = serde_json::Map::new();
    locked.insert(String::new(), json!({ "name": "shop", "version": "1.0.0", "dependencies": wanted }));
    for name in packages {
        let place = format!("vendor/{name}");
        locked.insert(format!("node_modules/{name}"), json!({ "resolved": place, "link": true }));
        locked.insert(place, json!({ "version": "1.0.0" }));
    }
    let lock = json!({
        "name": "shop", "version": "1.0.0", "lockfileVersion": 3, "requires": true, "packages": locked,
    });
    (manifest.to_string(), lock.to_string())
}

fn package(arena: &Arena, name: &str) {
    arena.write(
        &format!("vendor/{name}/package.json"),
        &json!({ "name": name, "version": "1.0.0" }).to_string(),
    );
    arena.write(&format!("vendor/{name}/index.js"), &format!("module.exports = {name:?};\n"));
}

#[test]
fn an_npm_project_with_an_ignored_env_passes_its_checks_everywhere_also_when_the_lock_file_changes() {
    let arena = arena_with(json!({
        "worktree": {
            "setup": "npm ci --offline --no-audit --no-fund", "setupWhen": ["package-lock.json"], "copy": [".env"],
        },
        "check": { "commands": ["npm test"] },
    }));
    let (manifest_of_one, lock_of_one) = manifest(&["first"]);
    for (name, text) in [
        (".gitignore", "node_modules\n.env\n"),
        ("test.js", TEST),
        ("package.json", &manifest_of_one),
        ("package-lock.json", &lock_of_one),
    ] {
        arena.write(name, text);
    }
    package(&arena, "first");
    package(&arena, "second");
    arena.git(&["add", "."]);
    arena.git(&["commit", "--quiet", "--message", "person: a shop"]);
    arena.write(".env", "TOKEN=of-the-person\n");
    let (manifest_of_two, lock_of_two) = manifest(&["first", "second"]);
    let adds = format!(
        "write package.json {manifest_of_two}\nwrite package-lock.json {lock_of_two}\ncommit feat: second package\ncomplete"
    );
    let changes = |id: &str| format!("write notes/{id}.md {id}\ncommit docs: {id}\ncomplete");
    arena.plan_in_phases(&[vec![
        task("1.1", &[], &changes("1.1")),
        // Nobody but the set-up installs the new package: the check of 1.2, the verification of its
        // merge and the worktree of 1.3 are green only if it ran again.
        task("1.2", &["1.1"], &adds),
        task("1.3", &["1.2"], &changes("1.3")),
        task("1.4", &["1.2"], &changes("1.4")),
    ]]);
    // The configuration is in git: whoever clones it agrees to it once.
    arena.ok(&["trust", "--yes"]);
    let (code, said) = arena.run(&["--agents", "2"]);
    assert_eq!(code, 0, "{said}\n{}", arena.printed());
    for id in ["1.1", "1.2", "1.3", "1.4"] {
        arena.assert_proven(id, "main");
        assert_eq!(arena.starts(id), 1, "{id}: {said}");
    }
    assert!(arena.printed().contains("tested with first second"), "{}", arena.printed());
    // What is the person's stays the person's: not committed, not removed.
    assert_eq!(std::fs::read_to_string(arena.root.join(".env")).expect("it"), "TOKEN=of-the-person\n");
    assert_eq!(arena.git(&["ls-files", ".env", "node_modules"]), "");
    arena.assert_tidy();
}
