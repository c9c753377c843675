//! Tools that look.

use serde_json::{Map, Value, json};
use swarm_protocol::api::{ApiError, LogPage, Seen};
use swarm_protocol::event::{line, line_at};
use swarm_protocol::ids::TaskId;
use swarm_protocol::record::event_of;
use swarm_server::ledger::Look;

use super::{Caller, Told, members};
use crate::arguments::{AtArgs, DiffArgs, HistoryArgs, LogArgs, PreviewArgs, TaskArgs, TasksArgs};
use crate::limits::{LINES_MAX, RESULT_MAX, ROWS_MAX};
use crate::told::{self, fitting};
use crate::wish::{self, bad, read};

/// Rows of a list where nobody says how many.
const ROWS: usize = 50;

/// Members of a task in a list; the rest is one call away.
const ROW: [&str; 10] =
    ["id", "title", "status", "stage", "word", "detail", "depends", "tags", "agent", "attempts"];

impl Caller {
    pub(super) async fn look(&self, tool: &str, arguments: Map<String, Value>) -> Result<Told, ApiError> {
        match tool {
            "swarm_status" => self.status(read(arguments)?).await,
            "swarm_attention" => self.attention(read(arguments)?).await,
            "get_approved_plan" => {
                let AtArgs { at } = read(arguments)?;
                let seen = self.source.look(Look::ApprovedPlan, at).await?;
                let text = match (seen.view["approved"].as_bool(), seen.view["drifted"].as_bool()) {
                    (Some(true), Some(true)) => "The plan was approved and has drifted since",
                    (Some(true), _) => "The plan is the approved one",
                    _ => "Nobody has approved the plan",
                };
                Ok((text.into(), at_record(seen)))
            }
            "swarm_tasks" => self.tasks(read(arguments)?).await,
            "swarm_task" => {
                let TaskArgs { task, at } = read(arguments)?;
                let seen = self.source.look(Look::Task(task.clone()), at).await?;
                let word = |name: &str| seen.view[name].as_str().unwrap_or_default().to_owned();
                let text = format!("{task} {}: {}", word("title"), word("stage"));
                Ok((text, at_record(seen)))
            }
            "swarm_diff" => self.diff(read(arguments)?).await,
            "swarm_log" => self.log(read(arguments)?).await,
            "swarm_history" => self.history(read(arguments)?).await,
            "swarm_preview" => self.preview(read(arguments)?).await,
            "swarm_worktree_list" => {
                let AtArgs { at } = read(arguments)?;
                if at.is_some() {
                    return Err(bad("worktrees of the past are not known"));
                }
                let list = self.source.beside(|desk| desk.worktrees()).await?;
                let count = list.as_array().map_or(0, Vec::len);
                Ok((format!("{count} worktrees"), Map::from_iter([("worktrees".to_owned(), list)])))
            }
            other => Err(ApiError::new("unknown_tool", format!("There is no tool {other:?}"), "tools/list")),
        }
    }

    async fn status(&self, args: AtArgs) -> Result<Told, ApiError> {
        let seen = self.source.look(Look::Status, args.at).await?;
        Ok((status_sentence(&seen.view), at_record(seen)))
    }

    async fn attention(&self, args: AtArgs) -> Result<Told, ApiError> {
        let Seen { seq, view } = self.source.look(Look::Attention, args.at).await?;
        let what = |entry: &Value| entry["what"].as_str().unwrap_or_default().to_owned();
        let entries: Vec<String> = view.as_array().into_iter().flatten().map(what).collect();
        let text = match entries.as_slice() {
            [] => "Nothing waits for a person".to_owned(),
            [one] => format!("1 waits for a person: {one}"),
            [first, ..] => format!("{} wait for a person, first: {first}", entries.len()),
        };
        Ok((text, Map::from_iter([("seq".to_owned(), json!(seq)), ("attention".to_owned(), view)])))
    }

    async fn tasks(&self, args: TasksArgs) -> Result<Told, ApiError> {
        let Seen { seq, view } = self.source.look(Look::Board, args.at).await?;
        let rows = view["rows"].as_array().cloned().unwrap_or_default();
        let text = args.text.as_ref().map(|text| text.to_lowercase());
        let fits = |row: &&Value| {
            let holds = |name: &str, text: &str| {
                row[name].as_str().is_some_and(|value| value.to_lowercase().contains(text))
            };
            args.status.is_none_or(|status| row["status"] == status.word())
                && args.tag.as_ref().is_none_or(|tag| {
                    row["tags"].as_array().is_some_and(|tags| tags.iter().any(|one| one == tag))
                })
                && text.as_ref().is_none_or(|text| holds("id", text) || holds("title", text))
        };
        let total = rows.iter().filter(fits).count();
        // Its place among all of them: by now it may be none of those that are looked for.
        let skip = match &args.after {
            Some(id) => 1 + place_of(&rows, id)?,
            None => 0,
        };
        let found: Vec<&Value> = rows[skip..].iter().filter(fits).collect();
        let limit = args.limit.unwrap_or(ROWS).clamp(1, ROWS_MAX);
        let mut page: Vec<Value> = found.iter().take(limit).map(|row| short_row(row)).collect();
        page.truncate(fitting(&page));
        let more = found.len() > page.len();
        let mut facts = Map::new();
        facts.insert("seq".into(), json!(seq));
        facts.insert("total".into(), json!(total));
        if let (true, Some(last)) = (more, page.last()) {
            facts.insert("next".into(), last["id"].clone());
        }
        let text = format!("{} of {}", page.len(), counted(total, "task"));
        facts.insert("tasks".into(), Value::Array(page));
        Ok((text, facts))
    }

    async fn diff(&self, args: DiffArgs) -> Result<Told, ApiError> {
        let diff = self.source.diff(args.task.clone()).await?;
        let patch = match &args.file {
            Some(part) => files_of(&diff.patch).filter(|file| head(file).contains(part.as_str())).collect(),
            None => diff.patch.clone(),
        };
        let from = boundary(&patch, args.cursor.unwrap_or(0));
        // The patch stands in the result twice, once escaped; what is left of it goes to the members around it.
        let mut to = boundary(&patch, from.saturating_add(RESULT_MAX / 2));
        while !told::fits(&patch[from..to]) {
            to = boundary(&patch, from + (to - from) / 2);
        }
        let files = files_of(&patch).count();
        let mut facts = Map::new();
        facts.insert("from".into(), json!(diff.from));
        facts.insert("to".into(), json!(diff.to));
        facts.insert("patch".into(), json!(&patch[from..to]));
        if to < patch.len() {
            facts.insert("cursor".into(), json!(to));
        }
        if diff.cut {
            facts.insert("incomplete".into(), json!(true));
        }
        Ok((format!("{} changes {}", args.task, counted(files, "file")), facts))
    }

    async fn log(&self, args: LogArgs) -> Result<Told, ApiError> {
        let from = args.from.unwrap_or(0);
        let mut page = self.lines(args.run.clone(), from, LINES_MAX).await?;
        let fits = |line: &&Value| args.contains.as_ref().is_none_or(|part| line.to_string().contains(part));
        let mut lines: Vec<Value> = page.lines.iter().filter(fits).cloned().collect();
        let whole = fitting(&lines);
        let places = page.lines.iter().enumerate().filter(|(_, line)| fits(line));
        let cut = places.map(|(at, _)| at).nth(whole);
        // Read again up to the line that does not fit: then the cursor stands before it.
        if let Some(at) = cut {
            page = self.lines(page.run.to_string(), from, at).await?;
            lines.truncate(whole);
        }
        let text = format!("{} of {}", counted(lines.len(), "line"), page.run);
        let facts = json!({ "run": page.run, "lines": lines, "cursor": page.cursor, "end": page.end });
        Ok((text, members(facts)))
    }

    async fn lines(&self, who: String, from: u64, most: usize) -> Result<LogPage, ApiError> {
        self.source.beside(move |desk| desk.log(&who, from, most)).await
    }

    async fn history(&self, args: HistoryArgs) -> Result<Told, ApiError> {
        let limit = args.limit.unwrap_or(ROWS).clamp(1, ROWS_MAX);
        let from = match args.from {
            Some(from) => from.max(1),
            None => {
                let last = self.source.look(Look::Attention, None).await?.seq;
                let back = if args.task.is_some() { LINES_MAX } else { limit };
                last.saturating_sub(back as u64 - 1).max(1)
            }
        };
        let page = self.source.history(from, LINES_MAX).await?;
        let task = args.task.as_ref().map(|task| task.as_str());
        let mut rows: Vec<Value> = Vec::new();
        let mut next = page.next;
        for record in &page.records {
            let row = record_row(record);
            if task.is_some_and(|task| row["task"] != task) {
                continue;
            }
            if rows.len() == limit {
                next = record["seq"].as_u64();
                break;
            }
            rows.push(row);
        }
        let whole = fitting(&rows);
        if let Some(row) = rows.get(whole) {
            next = row["seq"].as_u64();
        }
        rows.truncate(whole);
        let text = format!("{} from {from} on", counted(rows.len(), "record"));
        let mut facts = members(json!({ "seq": page.seq, "records": rows }));
        if let Some(next) = next {
            facts.insert("next".into(), json!(next));
        }
        Ok((text, facts))
    }

    async fn preview(&self, args: PreviewArgs) -> Result<Told, ApiError> {
        let asked = wish::wish(&args.tool, args.arguments)?;
        let asked = asked.ok_or_else(|| bad(format!("{} changes nothing", args.tool)))?;
        let (text, preview) = self.would(&asked).await?;
        Ok((text, preview))
    }
}

/// A view that is an object, with the record it was read at.
fn at_record(seen: Seen<Value>) -> Map<String, Value> {
    let mut facts = members(seen.view);
    facts.insert("seq".into(), json!(seen.seq));
    facts
}

/// Whoever goes on behind a task that is gone would be given what they have read already, and never come to the end.
fn place_of(rows: &[Value], after: &TaskId) -> Result<usize, ApiError> {
    rows.iter().position(|row| row["id"] == after.as_str()).ok_or_else(|| {
        let why = format!("There is no task {after} to continue after");
        ApiError::new("unknown_task", why, "Start again without `after`")
    })
}

pub(crate) fn status_sentence(view: &Value) -> String {
    let count = |name: &str| view["counts"][name].as_u64().unwrap_or(0);
    let mut parts = vec![format!("{} of {} done", count("done"), count("total"))];
    for name in ["active", "review", "merging", "ready", "waiting", "blocked", "failed"] {
        if count(name) > 0 {
            parts.push(format!("{} {name}", count(name)));
        }
    }
    let waits = view["attention"].as_array().map_or(0, Vec::len);
    let waits = if waits > 0 { format!("; {waits} wait for a person") } else { String::new() };
    format!("{}: {}{waits}", view["goal"].as_str().unwrap_or_default(), parts.join(", "))
}

fn short_row(row: &Value) -> Value {
    let has = |name: &&str| !row[*name].is_null() && row[*name] != json!([]) && row[*name] != json!("");
    let named = ROW.iter().filter(|name| has(name));
    Value::Object(named.map(|name| ((*name).to_owned(), row[*name].clone())).collect())
}

/// A record as people read it.
pub fn record_row(record: &Value) -> Value {
    let event = event_of(body_of(record).as_bytes()).ok();
    let mut row = json!({
        "seq": record["seq"], "at": record["ts"], "by": record["by"], "type": record["type"],
    });
    if let Some(event) = &event {
        if let Some(task) = event.task() {
            row["task"] = json!(task);
        }
        let at = serde_json::from_value(record["ts"].clone()).ok();
        if let Some(text) = at.and_then(|at| line_at(event, at)).or_else(|| line(event)) {
            row["text"] = json!(text);
        }
    }
    row
}

/// The event's own members as they stand in the ledger: its type first, which says how the others are read.
fn body_of(record: &Value) -> String {
    const MARGIN: [&str; 8] = ["type", "len", "seq", "batch", "ts", "by", "prev", "hash"];
    let mut body = format!("\"type\":{}", record["type"]);
    let members = record.as_object().into_iter().flatten();
    for (name, value) in members.filter(|(name, _)| !MARGIN.contains(&name.as_str())) {
        body.push_str(&format!(",{}:{value}", Value::from(name.as_str())));
    }
    body
}

/// The parts of a patch, one for each file.
fn files_of(patch: &str) -> impl Iterator<Item = &str> {
    let mut rest = patch;
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        let end = rest[1..].find("\ndiff --git ").map_or(rest.len(), |at| at + 2);
        let (file, others) = rest.split_at(end);
        rest = others;
        Some(file)
    })
}

fn head(file: &str) -> &str {
    file.lines().next().unwrap_or_default()
}

/// The nearest place before `at` where a text may be cut.
fn boundary(text: &str, at: usize) -> usize {
    let mut at = at.min(text.len());
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    at
}

/// `1 task`, `3 tasks`.
fn counted(number: usize, one: &str) -> String {
    if number == 1 { format!("1 {one}") } else { format!("{number} {one}s") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_is_not_told_as_several() {
        assert_eq!([0, 1, 2].map(|n| counted(n, "line")), ["0 lines", "1 line", "2 lines"]);
    }

    #[test]
    fn a_patch_is_cut_into_its_files() {
        let patch = "diff --git a/ä b/ä\n+x\ndiff --git a/y b/y\n-z\n";
        let files: Vec<&str> = files_of(patch).collect();
        assert_eq!(files, ["diff --git a/ä b/ä\n+x\n", "diff --git a/y b/y\n-z\n"]);
        assert_eq!(files_of("").count(), 0);
    }

    #[test]
    fn a_record_is_a_row_with_a_sentence() {
        let record = json!({ "seq": 7, "ts": "2026-01-13T10:00:00.000Z", "type": "mode_changed",
            "data": { "mode": "autopilot" }, "by": "person:mcp" });
        let row = record_row(&record);
        assert_eq!((&row["text"], &row["by"]), (&json!("the mode is autopilot now"), &json!("person:mcp")));
        let newer = record_row(&json!({ "seq": 8, "type": "something_new", "data": {} }));
        assert_eq!(newer["type"], "something_new");
    }
}
