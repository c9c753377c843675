//! The script in `docs/reference/ledger-format.md` checks a real ledger, and notices damage to any part of it.

use crate::world;

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use world::World;

fn script(dir: &Path) -> PathBuf {
    let doc = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/reference/ledger-format.md");
    let text = std::fs::read_to_string(doc).expect("the page");
    let (_, rest) = text.split_once("```python\n").expect("a script");
    let (script, _) = rest.split_once("```").expect("its end");
    let lines = script.lines().count();
    assert!(lines <= 10, "{lines} lines are more than a stranger wants to read");
    let path = dir.join("verify.py");
    std::fs::write(&path, script).expect("written");
    path
}

fn run(script: &Path, ledger: &Path) -> Output {
    Command::new("python3").arg(script).arg(ledger).output().expect("python3 runs")
}

#[test]
fn the_documented_script_accepts_a_ledger_and_finds_damage() {
    let world = World::empty().with(&[1, 3, 1]);
    let script = script(world.dir.path());
    let good = world.main();
    let head = world.read().head;

    let output = run(&script, &world.paths.main);
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    assert_eq!(said.trim(), format!("6 records, last hash {}", head.hash));

    let lines = world.lines();
    world.set_main(&good[..lines[3].end]);
    let output = run(&script, &world.paths.main);
    assert_eq!(String::from_utf8_lossy(&output.stdout).trim(), "2 records, then an unfinished batch");

    let mut swapped = good[..lines[1].start].to_vec();
    swapped.extend_from_slice(&good[lines[2].clone()]);
    let flip = |at: usize| {
        let mut bad = good.clone();
        bad[at] ^= 1;
        bad
    };
    let text = String::from_utf8(good.clone()).expect("UTF-8");
    let renamed = text.replace("ledger-a", "ledger-b").into_bytes();
    let cases =
        [flip(lines[0].end - 200), flip(lines[2].start + 9), flip(lines[5].end - 10), swapped, renamed];
    for (case, bad) in cases.iter().enumerate() {
        world.set_main(bad);
        assert!(!run(&script, &world.paths.main).status.success(), "case {case} was not noticed");
    }
}
