//! The log as lines of JSON, for programs that collect logs: the same lines, each a whole object of bounded length.

use std::fmt;

use serde_json::{Map, Value};
use swarm_engine::clock::wall_clock;
use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Subscriber};
use tracing_subscriber::Layer;
use tracing_subscriber::layer::Context;
use tracing_subscriber::registry::LookupSpan;

use super::line::fit;
use super::queue::{Message, say};

/// Bytes of a line; beyond them the longest texts are shortened.
const LINE_MAX: usize = 4 << 10;
/// What a text is cut to where the line is too long.
const SHORT: usize = 200;

pub struct Json;

/// What a span was given, for the lines inside it.
struct Given(Map<String, Value>);

impl<S: Subscriber + for<'a> LookupSpan<'a>> Layer<S> for Json {
    fn on_new_span(&self, attributes: &Attributes<'_>, id: &Id, context: Context<'_, S>) {
        let mut given = Map::new();
        attributes.record(&mut Fields(&mut given));
        if let Some(span) = context.span(id) {
            span.extensions_mut().insert(Given(given));
        }
    }

    fn on_record(&self, id: &Id, values: &Record<'_>, context: Context<'_, S>) {
        if let Some(span) = context.span(id)
            && let Some(Given(given)) = span.extensions_mut().get_mut::<Given>()
        {
            values.record(&mut Fields(given));
        }
    }

    fn on_event(&self, event: &Event<'_>, context: Context<'_, S>) {
        let mut line = Map::new();
        line.insert("ts".into(), wall_clock().to_string().into());
        line.insert("level".into(), event.metadata().level().as_str().into());
        line.insert("target".into(), event.metadata().target().into());
        // From outside to inside, so that the nearest counts.
        for span in context.event_scope(event).into_iter().flat_map(|scope| scope.from_root()) {
            if let Some(Given(given)) = span.extensions().get::<Given>() {
                line.extend(given.clone());
            }
        }
        event.record(&mut Fields(&mut line));
        say(|| Message::Fitted(bounded(line)));
    }
}

/// Each value without secrets and without what a terminal would obey.
struct Fields<'a>(&'a mut Map<String, Value>);

impl Visit for Fields<'_> {
    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        self.0.insert(field.name().to_owned(), fit(&format!("{value:?}")).into());
    }

    fn record_str(&mut self, field: &Field, value: &str) {
        self.0.insert(field.name().to_owned(), fit(value).into());
    }

    fn record_u64(&mut self, field: &Field, value: u64) {
        self.0.insert(field.name().to_owned(), value.into());
    }

    fn record_i64(&mut self, field: &Field, value: i64) {
        self.0.insert(field.name().to_owned(), value.into());
    }

    fn record_bool(&mut self, field: &Field, value: bool) {
        self.0.insert(field.name().to_owned(), value.into());
    }
}

/// One line, still an object: texts are shortened, and left out where that does not help.
fn bounded(mut line: Map<String, Value>) -> String {
    let text = Value::Object(line.clone()).to_string();
    if text.len() <= LINE_MAX {
        return text;
    }
    for value in line.values_mut() {
        if let Value::String(text) = value
            && text.len() > SHORT
        {
            text.truncate(text.floor_char_boundary(SHORT));
            text.push_str(" … (cut)");
        }
    }
    let text = Value::Object(line.clone()).to_string();
    if text.len() <= LINE_MAX {
        return text;
    }
    line.retain(|name, _| ["ts", "level", "target", "message"].contains(&name.as_str()));
    Value::Object(line).to_string()
}

#[cfg(test)]
mod tests {
    use serde_json::{Map, Value, json};

    use super::{LINE_MAX, bounded};

    #[test]
    fn a_line_stays_an_object_whatever_was_said_and_below_its_bound() {
        let said = |many: usize, length: usize| -> Map<String, Value> {
            let of = |n| (format!("field-{n}"), json!("\"\u{1}ä".repeat(length)));
            let fixed = ["ts", "level", "target", "message"].map(|name| (name.to_owned(), json!(name)));
            (0..many).map(of).chain(fixed).collect()
        };
        for (many, length) in [(0, 0), (3, 5), (1, 10_000), (5, 3000), (500, 50)] {
            let text = bounded(said(many, length));
            assert!(text.len() <= LINE_MAX && !text.contains('\n'), "{} bytes", text.len());
            let read: Value = serde_json::from_str(&text).expect("JSON");
            assert_eq!(read["message"], "message");
        }
    }
}
