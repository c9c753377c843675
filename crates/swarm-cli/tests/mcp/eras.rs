//! Frames of both eras, as clients send them: with a handshake, without one, and with one where none is needed.

use serde_json::{Value, json};

use crate::arena::Arena;
use crate::ground::{arena_with, task};
use crate::pipe::{Pipe, meta};

fn planned() -> Arena {
    let arena = arena_with(json!({}));
    arena.plan_in_phases(&[vec![task("1.1", &[], "complete"), task("1.2", &["1.1"], "complete")]]);
    arena.is_judged();
    arena
}

#[test]
fn the_older_era_begins_with_a_handshake() {
    let arena = planned();
    for (asked, spoken) in [
        ("2024-11-05", "2024-11-05"),
        ("2025-06-18", "2025-06-18"),
        ("2025-11-25", "2025-11-25"),
        // One that has no handshake gets the newest that has one.
        ("2026-07-28", "2025-11-25"),
        ("1999-01-01", "2025-11-25"),
    ] {
        let mut pipe = Pipe::open(&arena, &[]);
        let hello = json!({ "protocolVersion": asked, "capabilities": {}, "clientInfo": { "name": "c", "version": "1" } });
        let answer = pipe.ask("initialize", hello);
        let result = &answer["result"];
        assert_eq!(result["protocolVersion"], spoken, "{answer}");
        assert_eq!(result["serverInfo"]["name"], "swarm", "{answer}");
        for capability in ["tools", "resources", "prompts", "completions"] {
            assert!(result["capabilities"][capability].is_object(), "{answer}");
        }
        pipe.send(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }));
        let status = pipe.ok("swarm_status", json!({}));
        assert_eq!(status["counts"]["total"], 2, "{status}");
        let listed = pipe.ask("tools/list", json!({}));
        assert_eq!(listed["result"]["tools"].as_array().map(Vec::len), Some(27));
        // Members of the newer era would be strange to it.
        assert!(
            listed["result"].get("ttlMs").is_none() && listed["result"].get("resultType").is_none(),
            "{listed}"
        );
        assert!(pipe.close().success());
    }
}

#[test]
fn the_newer_era_needs_no_handshake_and_keeps_no_session() {
    let arena = planned();
    let mut pipe = Pipe::newer(&arena, &[]);
    let found = pipe.ask("server/discover", json!({}));
    let versions = found["result"]["supportedVersions"].as_array().expect("versions").clone();
    assert!(versions.contains(&json!("2026-07-28")) && versions.contains(&json!("2025-11-25")), "{found}");
    let listed = pipe.ask("tools/list", json!({}));
    assert!(
        listed["result"]["ttlMs"].is_u64() && listed["result"]["cacheScope"].is_string(),
        "{}",
        cut(&listed)
    );
    let result = pipe.call("swarm_status", json!({}));
    assert_eq!(result["resultType"], "complete", "{result}");
    assert_eq!(result["structuredContent"]["counts"]["total"], 2);
    // A version that nobody speaks is refused by name.
    let mut strange = meta();
    strange["io.modelcontextprotocol/protocolVersion"] = json!("2031-01-01");
    pipe.send(
        &json!({ "jsonrpc": "2.0", "id": "x", "method": "tools/list", "params": { "_meta": strange } }),
    );
    let refused = pipe.next();
    assert_eq!((&refused["id"], refused["error"].is_object()), (&json!("x"), true), "{refused}");
}

#[test]
fn a_client_may_shake_hands_after_a_discovery_and_again() {
    let arena = planned();
    let mut pipe = Pipe::newer(&arena, &[]);
    pipe.ask("server/discover", json!({}));
    let hello = json!({ "jsonrpc": "2.0", "id": 90, "method": "initialize", "params": {
        "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": { "name": "c", "version": "1" } } });
    for _ in 0..2 {
        pipe.send(&hello);
        let answer = pipe.next();
        assert_eq!(answer["result"]["protocolVersion"], "2025-06-18", "{answer}");
    }
    pipe.send(&json!({ "jsonrpc": "2.0", "id": 91, "method": "ping" }));
    assert!(pipe.next()["result"].is_object());
    assert_eq!(pipe.ok("swarm_tasks", json!({}))["total"], 2);
}

#[test]
fn resources_prompts_and_completions_are_there_in_both() {
    let arena = planned();
    for mut pipe in [Pipe::older(&arena, &[]), Pipe::newer(&arena, &[])] {
        let all = pipe.ask("resources/list", json!({}))["result"]["resources"].clone();
        for resource in all.as_array().expect("a list") {
            let read = pipe.ask("resources/read", json!({ "uri": resource["uri"] }));
            let text = read["result"]["contents"][0]["text"].as_str().unwrap_or_else(|| panic!("{read}"));
            let view: Value = serde_json::from_str(text).expect("JSON");
            assert!(view["seq"].as_u64().is_some_and(|seq| seq > 0), "{read}");
        }
        for uri in ["swarm://tasks/1.2", "swarm://at/1/status", "swarm://at/2/tasks"] {
            let read = pipe.ask("resources/read", json!({ "uri": uri }));
            assert!(read["result"]["contents"][0]["text"].is_string(), "{uri}: {read}");
        }
        for uri in ["swarm://tasks/9.9", "swarm://nothing", "file:///etc/passwd", "swarm://tasks/../../x"] {
            let read = pipe.ask("resources/read", json!({ "uri": uri }));
            assert!(read["error"]["message"].is_string(), "{uri}: {read}");
        }
        assert_eq!(
            pipe.ask("resources/templates/list", json!({}))["result"]["resourceTemplates"]
                .as_array()
                .map(Vec::len),
            Some(5)
        );
        let prompts = pipe.ask("prompts/list", json!({}))["result"]["prompts"].clone();
        assert_eq!(prompts.as_array().map(Vec::len), Some(5));
        let got = pipe.ask("prompts/get", json!({ "name": "review-task", "arguments": { "task": "1.2" } }));
        assert!(
            got["result"]["messages"][0]["content"]["text"].as_str().is_some_and(|t| t.contains("task 1.2")),
            "{got}"
        );
        let missing = pipe.ask("prompts/get", json!({ "name": "review-task" }));
        assert!(
            missing["error"]["message"].as_str().is_some_and(|text| text.contains("`task`")),
            "{missing}"
        );
        let completed = pipe.ask("completion/complete", json!({
            "ref": { "type": "ref/prompt", "name": "review-task" }, "argument": { "name": "task", "value": "1." } }));
        assert_eq!(completed["result"]["completion"]["values"], json!(["1.1", "1.2"]), "{completed}");
    }
}

#[test]
fn annotations_say_what_each_tool_can_do_and_a_smaller_offer_is_smaller() {
    let arena = planned();
    let names = |tools: &Value| -> Vec<String> {
        tools
            .as_array()
            .into_iter()
            .flatten()
            .map(|t| t["name"].as_str().unwrap_or_default().to_owned())
            .collect()
    };
    let all = Pipe::newer(&arena, &[]).ask("tools/list", json!({}))["result"]["tools"].clone();
    for tool in all.as_array().expect("a list") {
        let notes = &tool["annotations"];
        let destroys = ["swarm_plan", "swarm_stop", "swarm_rollback", "swarm_undo"].map(|name| json!(name));
        assert_eq!(notes["destructiveHint"], json!(destroys.contains(&tool["name"])), "{tool}");
        assert_eq!(
            (&notes["idempotentHint"], &notes["openWorldHint"]),
            (&json!(true), &json!(false)),
            "{tool}"
        );
    }
    let read =
        Pipe::newer(&arena, &["--tools", "read"]).ask("tools/list", json!({}))["result"]["tools"].clone();
    assert!(read.as_array().expect("a list").iter().all(|tool| tool["annotations"]["readOnlyHint"] == true));
    assert_eq!(names(&read).len(), 11);
    let mut small = Pipe::newer(&arena, &["--tools", "read"]);
    let before = arena.json(&["status"])["seq"].clone();
    assert_eq!(small.refused("swarm_stop", json!({ "do": "pause" }))["kind"], "not_offered");
    assert_eq!(arena.json(&["status"])["seq"], before);
    let plan =
        Pipe::newer(&arena, &["--tools", "plan"]).ask("tools/list", json!({}))["result"]["tools"].clone();
    assert!(
        names(&plan).contains(&"save_plan".to_owned()) && !names(&plan).contains(&"swarm_stop".to_owned())
    );
}

fn cut(frame: &Value) -> String {
    frame.to_string().chars().take(400).collect()
}
