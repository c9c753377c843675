//! Each kind of bad weather: how it is played, how it has to be taken, and until when it lasts.

/// How the fault is played.
#[derive(Clone, Copy)]
pub enum Fault {
    /// The service answers by this scenario of `fake_model.py`.
    Service(&'static str),
    /// The name of the service is not known.
    Nameless,
    /// Nobody listens where the service should be.
    Refused,
    /// The program is started with an argument that it does not know.
    Flag,
    /// The program is killed while a tool runs.
    Kill,
}

/// What ends the weather.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Until {
    /// An iteration has failed.
    Met,
    /// So has a probe.
    Probed,
    /// A person has done what stands on the attention list.
    Helped,
}

pub struct Kind {
    pub name: &'static str,
    pub fault: Fault,
    /// The classes that it may be taken for.
    pub classes: &'static [&'static str],
    pub lasts: Until,
    /// A person is asked.
    pub asks: bool,
    /// So many work at the same time.
    pub agents: &'static str,
}

const fn kind(name: &'static str, fault: Fault, classes: &'static [&'static str], lasts: Until) -> Kind {
    Kind { name, fault, classes, lasts, asks: false, agents: "1" }
}

/// The same, and nothing but a person helps.
const fn for_a_person(
    name: &'static str,
    fault: Fault,
    classes: &'static [&'static str],
    lasts: Until,
) -> Kind {
    Kind { name, fault, classes, lasts, asks: true, agents: "1" }
}

/// An iteration that ended well and brought nothing: not every program tells what its service said.
pub const UNSEEN: &str = "unseen";

use Fault::{Flag, Kill, Nameless, Refused, Service};
use Until::{Helped, Met, Probed};

/// The weathers of agents/weather.txt, whose recordings are made of the same faults; after them, what else services do.
pub const KINDS: &[Kind] = &[
    kind("server_error", Service("server_error"), &["overloaded", "network"], Met),
    kind("dns", Nameless, &["network"], Met),
    kind("conn_refused", Refused, &["network"], Met),
    kind("rate_limit", Service("rate_limit"), &["throttled", "overloaded"], Met),
    kind("quota", Service("quota"), &["quota", "throttled"], Met),
    // Where nobody says until when, a service that words it like throttling is believed.
    kind("quota_plain", Service("quota_plain"), &["quota", "throttled"], Met),
    for_a_person("auth", Service("auth"), &["key"], Probed),
    for_a_person("billing", Service("billing"), &["billing"], Probed),
    kind("overflow", Service("overflow"), &["overflow"], Met),
    kind("drop", Service("drop"), &["network"], Met),
    kind("hang", Service("hang"), &["stalled", "network"], Met),
    kind("loop", Service("loop"), &["looping", "own_limit"], Met),
    for_a_person("unknown_flag", Flag, &["configuration"], Helped),
    kind("killed", Kill, &["crashed"], Met),
    kind("overloaded", Service("overloaded"), &["overloaded", "network"], Met),
    kind("sse_overloaded", Service("sse_overloaded"), &["overloaded", "network"], Met),
    // A proxy in front of the service, whose own page says that it is not there.
    kind("gateway", Service("gateway"), &["overloaded", "network"], Met),
    kind("garbage", Service("garbage"), &["network", "unknown", "own_limit", "looping"], Met),
    // It says for how long it wants to be left alone.
    kind("retry_after", Service("retry_after"), &["throttled", "quota", "overloaded"], Met),
    for_a_person("forbidden", Service("forbidden"), &["key"], Probed),
    for_a_person("not_found", Service("not_found"), &["configuration"], Helped),
    kind("max_tokens", Service("max_tokens"), &["output_cut", UNSEEN], Met),
    kind("refusal", Service("refusal"), &["refused", UNSEEN], Met),
    kind("empty", Service("empty"), &["unknown", "refused", UNSEEN], Met),
    kind("hang_headers", Service("hang_headers"), &["stalled", "network"], Met),
    // Two meet it: one probe asks for both.
    Kind { agents: "2", ..kind("outage", Refused, &["network"], Probed) },
];
