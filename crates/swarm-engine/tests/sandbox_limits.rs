//! A run that takes more of the machine than it may is ended, and it is told which limit it passed.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::bench::{Bench, nets};
use swarm_process::sandbox::doctor;

fn run(bench: &Bench, net: &str, text: &str, limits: &Value) -> Value {
    let place = bench.path().canonicalize().expect("a path");
    let [work, tmp, own, common] = ["work", "tmp", "own", "common"].map(|name| place.join(name));
    for folder in [&work, &tmp, &own, &common] {
        std::fs::create_dir_all(folder).expect("made");
    }
    let text = text.replace("TOP", &place.display().to_string());
    let walls = json!({
        "worktree": work, "git": { "common_dir": common, "own": own }, "tmp": tmp, "network": true,
        "best_effort": false, "limits": limits,
    });
    bench.sh(net, &text, json!({ "cwd": work, "sandbox": walls }))
}

#[test]
fn a_run_that_passes_a_limit_is_ended_and_the_limit_is_named() {
    if !doctor().is_ok_and(|status| status.abi > 0) {
        return eprintln!("skipped: no walls on this machine");
    }
    let memory = "head -c 300000000 /dev/zero | tail -c 300000000 | sleep 600";
    let processes = "for n in $(seq 30); do sleep 600 & done; wait";
    // No two of these are too much, and neither of the next two.
    let disk = "for place in work tmp own; do head -c 4000000 /dev/zero > TOP/$place/large; done; sleep 600";
    let shared = "head -c 60000000 /dev/zero > /dev/shm/large && head -c 30000000 /dev/zero | tail -c 30000000 | sleep 600";
    let all = nets();
    // Elsewhere nobody may write into shared memory by name.
    let own_view = |net: &str| net != "group" && all.iter().any(|net| net.starts_with("pidns"));
    for net in all.iter().copied() {
        let tried = [
            (memory, json!({ "memory_bytes": 64 << 20 }), "limits.memory"),
            (shared, json!({ "memory_bytes": 64 << 20 }), "limits.memory"),
            (processes, json!({ "processes": 10 }), "limits.processes"),
            (disk, json!({ "worktree_bytes": 8 << 20 }), "limits.worktree"),
        ];
        for (text, limits, said) in tried.into_iter().filter(|(text, ..)| *text != shared || own_view(net)) {
            let bench = Bench::new();
            let begun = Instant::now();
            let told = run(&bench, net, text, &limits);
            let limit = told["ran"]["limit"].as_str().unwrap_or_default();
            assert!(limit.contains(said), "{net}: {said}: {told}");
            assert_eq!(told["ran"]["left"], json!([]), "{net}: {told}");
            assert!(begun.elapsed() < Duration::from_secs(60), "{net}: {said}: {:?}", begun.elapsed());
        }
        let bench = Bench::new();
        let told = run(&bench, net, "ulimit -n; exit 3", &json!({ "open_files": 123, "processes": 10 }));
        assert_eq!(told["heard"]["kept"], json!(["123"]), "{net}: {told}");
        assert_eq!(told["ran"]["limit"], Value::Null, "{net}: {told}");
    }
}
