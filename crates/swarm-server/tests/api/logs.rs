//! Journals by byte, and as they grow.

use swarm_agents::journal::{Journal, Stream};
use swarm_protocol::api::GivenPrompt;
use swarm_protocol::ids::{AgentId, RunId};
use swarm_protocol::time::Timestamp;
use swarm_work::daemon::RunFiles;

use super::served::Served;
use crate::world::within;

fn journal(served: &Served, run: u64) -> Journal {
    let path = served.paths.agents.join("ed-001/logs").join(format!("r{run}.jsonl"));
    Journal::open(&path, 1 << 30).expect("a journal")
}

fn texts(lines: &[serde_json::Value]) -> Vec<String> {
    lines.iter().map(|line| line["text"].as_str().unwrap_or_default().to_owned()).collect()
}

#[tokio::test]
async fn a_journal_is_read_on_from_where_it_was_left() {
    let served = Served::start();
    let agent = AgentId::new("ed-001").expect("an agent");
    journal(&served, 9).print(Stream::Out, "old", false).expect("printed");
    let mut newest = journal(&served, 10);
    newest.print(Stream::Out, "one", false).expect("printed");
    let page = served.client.log(&agent, 0).await.expect("a page");
    assert_eq!((page.run.as_str(), texts(&page.lines), page.end), ("r10", vec!["one".to_owned()], true));
    newest.print(Stream::Err, "two", false).expect("printed");
    let page = served.client.log(&agent, page.cursor).await.expect("a page");
    assert_eq!(texts(&page.lines), ["two"]);
    let old: swarm_protocol::api::LogPage = served.client.get("/v1/runs/r9/log").await.expect("a page");
    assert_eq!(texts(&old.lines), ["old"]);
}

#[tokio::test]
async fn the_prompt_of_an_iteration_is_read_and_what_is_not_kept_is_said() {
    let served = Served::start();
    let logs = served.paths.agents.join("ed-001/logs");
    std::fs::create_dir_all(&logs).expect("a folder");
    let kept = GivenPrompt {
        run: RunId::nth(3),
        iteration: 2,
        at: Timestamp(1_700_000_000_000),
        text: "Write the book".into(),
        cut: false,
    };
    std::fs::write(logs.join("r3.prompt-2.json"), serde_json::to_vec(&kept).expect("JSON")).expect("written");
    let read: GivenPrompt = served.client.get("/v1/runs/r3/prompts/2").await.expect("a prompt");
    assert_eq!(read, kept);
    for (path, status) in [("r3/prompts/1", 404), ("r4/prompts/2", 404), ("r3/prompts/..%2f2", 400)] {
        let (answered, text) = served.request("GET", &format!("/v1/runs/{path}"), "", b"").await;
        assert_eq!(u32::from(answered), status, "{path}: {text}");
    }
}

#[tokio::test]
async fn a_prompt_that_is_too_large_to_be_shown_is_not_read_to_its_end() {
    let served = Served::start();
    let logs = served.paths.agents.join("ed-001/logs");
    std::fs::create_dir_all(&logs).expect("a folder");
    let file = std::fs::File::create(logs.join("r3.prompt-1.json")).expect("made");
    file.set_len(1 << 40).expect("as long as no memory is");
    let (status, answer) = served.request("GET", "/v1/runs/r3/prompts/1", "", b"").await;
    assert_eq!((status, answer.contains("too_large")), (413, true), "{answer}");
}

#[tokio::test]
async fn pages_of_a_large_journal_are_bounded() {
    let served = Served::start();
    let mut large = journal(&served, 1);
    for _ in 0..40 {
        large.print(Stream::Out, &"x".repeat(60_000), false).expect("printed");
    }
    let page: swarm_protocol::api::LogPage = served.client.get("/v1/runs/r1/log").await.expect("a page");
    assert!(page.lines.len() < 20 && !page.end, "{}", page.lines.len());
}

#[tokio::test]
async fn a_follower_hears_lines_as_they_are_printed_until_the_run_is_over() {
    let served = Served::start();
    let run = RunId::nth(1);
    let files = RunFiles::new(&served.paths.swarm, &run);
    files.make_dir().expect("a folder");
    std::fs::write(files.record(), "{}").expect("a record");
    let mut printing = journal(&served, 1);
    printing.print(Stream::Out, "line 0", false).expect("printed");
    let mut lines = served.client.follow_log(&run, 0);
    for n in 0..5 {
        let line = within("a line", lines.next()).await.expect("a line").expect("not over");
        assert_eq!(line.kind, "line");
        assert!(line.data.contains(&format!("line {n}\"")), "{}", line.data);
        assert!(line.id.is_some_and(|cursor| cursor > 0));
        printing.print(Stream::Out, &format!("line {}", n + 1), false).expect("printed");
    }
    std::fs::remove_file(files.record()).expect("the run is over");
    // Whatever wakes it, it sees that the run is over.
    printing.note("the end").expect("printed");
    let mut last = String::new();
    while let Some(line) = within("the end", lines.next()).await.expect("a line") {
        last = line.data;
    }
    assert!(last.contains("the end"), "{last}");
}
