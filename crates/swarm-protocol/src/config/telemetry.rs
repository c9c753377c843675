//! Where the swarm tells what it does while it does it.

use std::fmt;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

#[cfg(feature = "schema")]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The port of OTLP over HTTP.
const PORT: u16 = 4318;

/// Where a collector takes spans, below the base that is configured.
const TRACES: &str = "/v1/traces";

/// For whoever watches from outside.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(deny_unknown_fields, default, rename_all = "camelCase")]
pub struct Telemetry {
    /// A collector of OpenTelemetry on this machine that gets the spans of every run, like `http://127.0.0.1:4318`; it forwards them to other machines.
    pub otlp: Option<Collector>,
}

/// `http://HOST[:PORT][/PATH]` on this machine: nothing that goes out is encrypted by us, so it does not leave the machine.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Collector {
    text: String,
    pub address: SocketAddr,
    /// As it names itself to whoever answers.
    pub host: String,
    pub path: String,
}

impl Collector {
    pub fn parse(text: &str) -> Result<Self, String> {
        let bad = |why: &str| format!("{text:?} is not the address of a collector: {why}");
        let Some(rest) = text.strip_prefix("http://") else {
            return Err(bad("it begins with http://; a collector on this machine forwards over TLS"));
        };
        let (host, path) = rest.find('/').map_or((rest, ""), |at| rest.split_at(at));
        let (name, port) = match host.rsplit_once(':') {
            Some((name, port)) if !port.ends_with(']') => {
                (name, port.parse().map_err(|_| bad("the port is no number"))?)
            }
            _ => (host, PORT),
        };
        let ip = match name {
            "localhost" => Some(IpAddr::V4(Ipv4Addr::LOCALHOST)),
            "[::1]" => Some(IpAddr::V6(Ipv6Addr::LOCALHOST)),
            name => name.parse::<Ipv4Addr>().ok().filter(Ipv4Addr::is_loopback).map(IpAddr::V4),
        };
        let Some(ip) = ip.filter(|_| port != 0) else {
            return Err(bad("only this machine is allowed: 127.0.0.1, localhost or [::1]"));
        };
        let plain = |c: char| c.is_ascii_alphanumeric() || "/-._~".contains(c);
        if !path.chars().all(plain) || text.len() > 256 {
            return Err(bad("the path has letters, digits and -._~ only"));
        }
        let path = format!("{}{TRACES}", path.trim_end_matches('/'));
        Ok(Self { text: text.into(), address: SocketAddr::new(ip, port), host: host.into(), path })
    }
}

impl TryFrom<String> for Collector {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        Self::parse(&text)
    }
}

impl From<Collector> for String {
    fn from(collector: Collector) -> Self {
        collector.text
    }
}

impl fmt::Display for Collector {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

#[cfg(feature = "schema")]
impl JsonSchema for Collector {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Collector".into()
    }
    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({ "type": "string", "pattern": "^http://" })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_collector_is_on_this_machine() {
        for (text, address, path) in [
            ("http://127.0.0.1", "127.0.0.1:4318", "/v1/traces"),
            ("http://localhost:9/", "127.0.0.1:9", "/v1/traces"),
            ("http://[::1]:4318/otlp", "[::1]:4318", "/otlp/v1/traces"),
            ("http://127.1.2.3:80/a/b/", "127.1.2.3:80", "/a/b/v1/traces"),
        ] {
            let collector = Collector::parse(text).expect(text);
            assert_eq!((collector.address.to_string().as_str(), collector.path.as_str()), (address, path));
            assert_eq!(String::from(collector), text);
        }
        for text in [
            "https://127.0.0.1:4318",
            "127.0.0.1:4318",
            "http://collector.example:4318",
            "http://10.0.0.1:4318",
            "http://0.0.0.0:4318",
            "http://127.0.0.1.example",
            "http://user@127.0.0.1",
            "http://127.0.0.1:0",
            "http://127.0.0.1:70000",
            "http://127.0.0.1:",
            "http://127.0.0.1/a?b",
            "http://127.0.0.1/a b",
            "http://127.0.0.1/\r\nX: y",
            "http://",
            "",
        ] {
            assert!(Collector::parse(text).is_err(), "{text}");
        }
    }
}
