//! Spans as the JSON of OTLP: one `ExportTraceServiceRequest`, as a collector takes it and its file exporter writes it.

use serde_json::{Value as Json, json};

use super::names;
use super::span::{Span, Value};

/// Nothing is a server or a client here: what goes over the network does so inside an agent's program.
const INTERNAL: u8 = 1;
const ERROR: u8 = 2;

/// `version`: of the program that says this.
pub fn request(spans: &[Span], ledger: &str, version: &str) -> String {
    let resource = [
        attribute("service.name", &"swarm".into()),
        attribute("service.version", &version.into()),
        attribute(names::LEDGER_ID, &ledger.into()),
    ];
    let scope = json!({
        "name": "swarm",
        "version": version,
        "attributes": [attribute(names::CONVENTIONS_VERSION, &names::CONVENTIONS.into())],
    });
    let spans: Vec<Json> = spans.iter().map(of_span).collect();
    json!({
        "resourceSpans": [{
            "resource": { "attributes": resource },
            "scopeSpans": [{ "scope": scope, "spans": spans }],
        }],
    })
    .to_string()
}

fn of_span(span: &Span) -> Json {
    let attributes: Vec<Json> = span.attributes.iter().map(|(name, value)| attribute(name, value)).collect();
    let nanos = |ms: u64| (u128::from(ms) * 1_000_000).to_string();
    let mut out = json!({
        "traceId": span.trace.hex(),
        "spanId": span.id.hex(),
        "name": span.name,
        "kind": INTERNAL,
        "startTimeUnixNano": nanos(span.start.0),
        "endTimeUnixNano": nanos(span.end.0),
        "attributes": attributes,
        "status": {},
    });
    if let Some(parent) = span.parent {
        out["parentSpanId"] = Json::from(parent.hex());
    }
    if let Some(error) = span.error {
        out["status"] = json!({ "code": ERROR, "message": error });
    }
    out
}

/// Whole numbers are text in the JSON of protocol buffers, because they may have 64 bits.
fn attribute(name: &str, value: &Value) -> Json {
    let value = match value {
        Value::Text(text) => json!({ "stringValue": text }),
        Value::Whole(number) => json!({ "intValue": number.to_string() }),
        Value::Real(number) => json!({ "doubleValue": number }),
        Value::Yes => json!({ "boolValue": true }),
    };
    json!({ "key": name, "value": value })
}
