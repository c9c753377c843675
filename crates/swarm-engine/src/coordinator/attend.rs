//! Staying with a daemon for its whole life: started or adopted, its end waited for, what it left unsaid handed on.

use std::time::Duration;

use swarm_protocol::channel::FromDaemon;
use swarm_protocol::outcome::Ended;
use tokio::sync::watch;

use super::executors::{ExecutorContext, FromExecutor, describe, report_of};
use swarm_work::daemon::{DaemonSpec, RunFiles};
use swarm_work::supervisor::{
    DaemonEnd, Found, SILENT_AFTER, cannot_reconnect, ensure_daemon, knock, secret_of, watch_daemon,
};

/// Between two looks whether a daemon without a connection says that it cannot come back.
const LOOK_EVERY: Duration = Duration::from_secs(1);

/// Between two looks whether a daemon with a connection is stopped by a signal.
const LOOK_IF_STOPPED_EVERY: Duration = Duration::from_secs(2);

/// So many looks in a row find it stopped before it is given up. Looks and no time: of these there are none while we are
/// stopped ourselves, or the machine sleeps.
const STOPPED_LOOKS: u64 = SILENT_AFTER.as_secs() / LOOK_IF_STOPPED_EVERY.as_secs();

/// Between two knocks at a daemon that has not said hello.
const KNOCK_EVERY: Duration = Duration::from_secs(3);

pub enum Attended {
    Cancelled,
    Ended { how: Ended },
}

pub async fn attend(context: &ExecutorContext, spec: &DaemonSpec) -> Result<Attended, String> {
    let secret = secret_of(&context.world.key, &spec.run, &spec.nonce);
    let found = ensure_daemon(spec, &secret, &context.world.launch).await.map_err(describe)?;
    match found {
        Found::Ended(exit) => {
            hand_on(context, spec, exit.unacknowledged).await;
            return Ok(Attended::Ended { how: exit.how });
        }
        Found::Died(death) => {
            hand_on(context, spec, death.unacknowledged).await;
            return Ok(Attended::Ended { how: found_dead(context.inherited, death.text) });
        }
        Found::Foreign(owner) => {
            return Ok(Attended::Ended { how: Ended::Orphaned { text: owner.to_string() } });
        }
        Found::Adopted | Found::Spawned => {}
    }
    let files = spec.files();
    tokio::select! {
        end = watch_daemon(&files, &spec.nonce, spec.stop_grace()) => Ok(match end {
            DaemonEnd::LastWord(exit) => {
                hand_on(context, spec, exit.unacknowledged).await;
                Attended::Ended { how: exit.how }
            }
            DaemonEnd::Died(death) => {
                hand_on(context, spec, death.unacknowledged).await;
                Attended::Ended { how: Ended::Lost { text: death.text } }
            }
        }),
        why = given_up(context.connected.clone(), spec) => {
            Ok(Attended::Ended { how: Ended::Lost { text: why.into() } })
        }
        () = context.cancel.cancelled() => Ok(Attended::Cancelled),
    }
}

/// An orphan was dead before we came; what dies under our eyes is a crash.
fn found_dead(inherited: bool, text: String) -> Ended {
    if inherited { Ended::Orphaned { text } } else { Ended::Lost { text } }
}

/// Comes back when nothing more is to be expected of a daemon that lives: it never said hello, or it says that
/// it cannot reach us and does not come although we called. It is ended and begun again then.
async fn given_up(mut connected: watch::Receiver<bool>, spec: &DaemonSpec) -> &'static str {
    let files = spec.files();
    if !comes_when_called(&mut connected, &files).await {
        return "its daemon does not answer";
    }
    tokio::select! {
        why = unreachable(&mut connected, &files) => why,
        // It has its connection and can say nothing, and whoever waits for its end waits for ever.
        () = stays_stopped(LOOK_IF_STOPPED_EVERY, || files.stopped_daemon().is_some()) => {
            "its daemon was stopped by a signal and did not go on"
        }
    }
}

/// Comes back when it cannot come back by itself, nor when it is called.
async fn unreachable(connected: &mut watch::Receiver<bool>, files: &RunFiles) -> &'static str {
    loop {
        turns(connected, false).await;
        // It tries by itself, longer and longer apart. Only one that complains is called.
        let complaint = async {
            while !cannot_reconnect(files) {
                tokio::time::sleep(LOOK_EVERY).await;
            }
        };
        let called = tokio::select! {
            () = turns(connected, true) => false,
            () = complaint => {
                knock(files);
                true
            }
        };
        if called && !comes(connected, SILENT_AFTER).await {
            return "its daemon cannot reach the coordinator";
        }
    }
}

/// Comes back when so many looks in a row have found it stopped.
async fn stays_stopped(every: Duration, is_stopped: impl Fn() -> bool) {
    let mut in_a_row = 0;
    while in_a_row < STOPPED_LOOKS {
        tokio::time::sleep(every).await;
        in_a_row = if is_stopped() { in_a_row + 1 } else { 0 };
    }
}

/// Called again and again: it may hold on to an older coordinator that is stopped, or not have heard.
async fn comes_when_called(connected: &mut watch::Receiver<bool>, files: &RunFiles) -> bool {
    let end = tokio::time::Instant::now() + SILENT_AFTER;
    while tokio::time::Instant::now() < end {
        if comes(connected, KNOCK_EVERY).await {
            return true;
        }
        knock(files);
    }
    false
}

async fn comes(connected: &mut watch::Receiver<bool>, within: Duration) -> bool {
    tokio::time::timeout(within, turns(connected, true)).await.is_ok()
}

/// Waits for the connection to come or go. It is told no more when the run is over: then nobody waits for us.
async fn turns(connected: &mut watch::Receiver<bool>, to: bool) {
    let told = connected.wait_for(|now| *now == to).await.is_ok();
    if !told {
        std::future::pending::<()>().await;
    }
}

/// Reports that the daemon could not deliver, in their order. What the core knows already changes nothing.
async fn hand_on(context: &ExecutorContext, spec: &DaemonSpec, unsaid: Vec<(u64, FromDaemon)>) {
    for (_, said) in unsaid {
        if let Some(report) = report_of(&spec.run, spec.kind, &spec.task, said) {
            let _ = context.out.send(FromExecutor::News(report)).await;
        }
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::*;

    #[tokio::test]
    async fn a_daemon_is_given_up_only_when_it_stays_stopped() {
        let looks = Cell::new(0);
        let stopped_but_once = || {
            looks.set(looks.get() + 1);
            looks.get() != STOPPED_LOOKS
        };
        stays_stopped(Duration::from_millis(1), stopped_but_once).await;
        assert_eq!(looks.get(), 2 * STOPPED_LOOKS, "whoever goes on in between is waited for anew");
    }
}
