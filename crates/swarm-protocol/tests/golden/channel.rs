//! What daemons write and say, as version 1 does: a newer coordinator adopts them, and an older one is met by newer daemons.

use std::collections::BTreeSet;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use swarm_protocol::channel::{DaemonRecord, Downward, ExitRecord, FromDaemon, Order, Upward};

/// One line of the file, which is never written again: a newer version only adds another one.
#[derive(Deserialize)]
#[serde(rename_all = "lowercase")]
enum Line {
    Up(Value),
    Down(Value),
    Daemon(Value),
    Exit(Value),
}

/// Read, and written again with all that it had: a member that is dropped would be lost to the other side.
fn kept<T: DeserializeOwned + Serialize>(old: &Value) -> T {
    let read: T = serde_json::from_value(old.clone()).unwrap_or_else(|error| panic!("{error}: {old}"));
    let again = serde_json::to_value(&read).expect("JSON");
    has_all_of(old, &again, old);
    read
}

fn has_all_of(old: &Value, new: &Value, whole: &Value) {
    match (old, new) {
        // Left out is what is not there.
        (Value::Null, _) => {}
        (Value::Object(old), Value::Object(new)) => {
            for (name, value) in old {
                has_all_of(value, new.get(name).unwrap_or(&Value::Null), whole);
            }
        }
        (Value::Array(old), Value::Array(new)) => {
            assert_eq!(old.len(), new.len(), "{whole}");
            old.iter().zip(new).for_each(|(old, new)| has_all_of(old, new, whole));
        }
        (old, new) => assert_eq!(old, new, "{whole}"),
    }
}

#[test]
fn what_daemons_of_earlier_versions_say_and_leave_behind_stays_readable() {
    let (mut reports, mut orders, mut files) = (BTreeSet::new(), BTreeSet::new(), 0);
    for line in include_str!("channel-v1.jsonl").lines() {
        match serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}")) {
            Line::Up(old) => {
                if let Upward::Report { report, .. } = kept(&old) {
                    reports.insert(word(&report, "frame"));
                }
            }
            Line::Down(old) => {
                if let Downward::Order { order, .. } = kept::<Downward>(&old) {
                    orders.insert(word::<Order>(&order, "order"));
                }
            }
            Line::Daemon(old) => {
                kept::<DaemonRecord>(&old);
                files += 1;
            }
            Line::Exit(old) => {
                let exit: ExitRecord = kept(&old);
                files += usize::from(exit.unacknowledged.iter().all(|(_, report)| is_known(report)));
            }
        }
    }
    assert_eq!((reports.len(), orders.len(), files), (8, 8, 6), "{reports:?} {orders:?}");
}

fn word<T: Serialize>(of: &T, tag: &str) -> String {
    serde_json::to_value(of).expect("JSON")[tag].as_str().expect("a tag").to_owned()
}

fn is_known(report: &FromDaemon) -> bool {
    matches!(report, FromDaemon::Boundary { .. } | FromDaemon::Ended { .. })
}
