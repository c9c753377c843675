//! The description: printed from the code, complete, and true.

use std::path::Path;

use super::schemas::description;
use super::served::Served;
use serde_json::Value;

fn document(name: &str) -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/reference").join(name)
}

#[test]
fn printed_openapi() {
    let printed = serde_json::to_string_pretty(&description()).expect("JSON") + "\n";
    let path = document("openapi.json");
    if std::env::var_os("SWARM_GEN").is_some() {
        std::fs::write(&path, &printed).expect("written");
    }
    let kept = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(
        kept == printed,
        "docs/reference/openapi.json is not what the code prints: run `cargo xtask gen`"
    );
}

#[test]
fn every_schema_that_is_named_is_there() {
    let description = description();
    let text = description.to_string();
    let names = text.split("#/components/schemas/").skip(1).filter_map(|rest| rest.split('"').next());
    let mut count = 0;
    for name in names {
        assert!(description["components"]["schemas"][name].is_object(), "{name}");
        count += 1;
    }
    assert!(count > 50 && !text.contains("$defs"), "{count}");
}

#[tokio::test]
async fn every_route_in_the_description_answers() {
    let served = Served::start();
    served.plan(2).await;
    let description: Value = served.client.get("/v1/openapi.json").await.expect("described");
    let paths = description["paths"].as_object().expect("paths");
    assert!(paths.len() >= 17, "{}", paths.len());
    for (path, methods) in paths {
        for method in methods.as_object().expect("methods").keys() {
            let filled = path.replace("{id}", "t1").replace("{agent}", "ed-001");
            let filled = filled.replace("{run}", "r1").replace("{iteration}", "1");
            if filled == "/v1/events" {
                continue; // does not end by itself; its own tests read it
            }
            let (status, answer) = served
                .request(&method.to_uppercase(), &filled, "Content-Type: application/json\r\n", b"")
                .await;
            let documented = &methods[method]["responses"][status.to_string()];
            assert!(documented.is_object(), "{method} {path} gave {status}: {answer}");
        }
    }
}

/// The examples of the document are run as they stand there, with real curl.
#[tokio::test]
async fn the_examples_of_the_document_work() {
    if std::process::Command::new("curl").arg("--version").output().is_err() {
        return;
    }
    let text = std::fs::read_to_string(document("api.md")).expect("the document");
    let served = Served::start();
    served.plan(2).await;
    let blocks = text.split("```sh\n").skip(1).filter_map(|rest| rest.split("```").next());
    let examples: Vec<&str> = blocks.filter(|block| block.contains("curl")).collect();
    assert!(examples.len() >= 5, "{}", examples.len());
    for example in examples {
        let (example, root) = (example.to_owned(), served.dir.path().to_owned());
        let running = tokio::task::spawn_blocking(move || {
            let mut shell = std::process::Command::new("sh");
            // A stream goes on until somebody has seen enough.
            let limited = example.replace("curl -sN", "curl --max-time 2 -sN");
            shell.arg("-ec").arg(limited).current_dir(root);
            (shell.output().expect("sh runs"), example)
        });
        let (output, example) = running.await.expect("no panic");
        let said = String::from_utf8_lossy(&output.stdout);
        // 28: the time was over.
        let code = output.status.code();
        assert!(code == Some(0) || (code == Some(28) && example.contains("-sN")), "{example}\n{said}");
        assert!(!said.contains("\"error\"") || example.contains("refused"), "{example}\n{said}");
    }
}
