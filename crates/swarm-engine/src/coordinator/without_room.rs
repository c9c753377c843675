//! A turn whose records found no room on the disk.

use std::time::Duration;

use swarm_core::input::Report;
use swarm_protocol::channel::Response;
use swarm_protocol::gist::gist;
use swarm_protocol::outcome::Ended;

use super::turn::{Afterwards, has_it};
use super::{Coordinator, Told};
use crate::store::StoreError;
use swarm_work::no_room;
use tokio::time::Instant;

/// How long it waits for its agents where the disk takes neither their work nor the record of their end.
pub(super) const STOP_WITHOUT_ROOM_WITHIN: Duration = Duration::from_secs(10);

/// Whoever asked it to stop was told that this could not be recorded.
const STOPS_AFTER_ALL: &str = "it was asked to stop while nothing could be recorded";

/// The word that the disk is full, where that is why something failed.
pub(super) fn is_full(why: &str) -> Option<Report> {
    no_room::told_in(why).then(|| Report::Disk { low: true, why: gist(why) })
}

/// A daemon whose files found no room has not crashed: it begins when there is room again.
pub(super) fn not_begun(why: String) -> Result<Ended, String> {
    if no_room::told_in(&why) { Ok(Ended::NoWorkspace { text: why }) } else { Err(why) }
}

impl Coordinator {
    /// The disk is full or read-only: nothing of this turn happened. Clients are told, daemons will
    /// say it again, executors will be asked again; meanwhile the state serves reads. That it pauses is written into the
    /// room that is kept for this.
    pub(super) async fn without_room(
        &mut self,
        after: Afterwards,
        why: &str,
        tell: &mut impl FnMut(Told<'_>),
    ) -> Result<(), StoreError> {
        for (reply, _) in after.replies {
            let _ = reply.send(Response::Failed { text: why.into() });
        }
        self.links.keep_only(|_| false);
        self.store.reload()?;
        self.show(after.looks, after.deliveries);
        if self.store.ask_for_room(true)? {
            self.pause_for_room(why, tell).await?;
        }
        tokio::time::sleep(Duration::from_secs(1)).await;
        if self.store.ask_for_room(false)? && self.stops_without_room.is_some() {
            self.stop_with_room(tell).await?;
        }
        Ok(())
    }

    /// It was asked to stop and cannot record that: agents are told all the same, and it waits for them no longer than this.
    pub(super) fn stops_anyway(&mut self, asked: bool) -> bool {
        if asked {
            self.stops_without_room.get_or_insert_with(Instant::now);
        }
        self.stops_without_room.is_some_and(|since| since.elapsed() >= STOP_WITHOUT_ROOM_WITHIN)
    }

    /// Records are taken again: one that is known to stop does so in good order, in the time that this takes.
    pub(super) fn has_room_to_stop(&mut self, recorded: bool) {
        if recorded && self.store.state().draining {
            self.stops_without_room = None;
        }
    }

    async fn pause_for_room(&mut self, why: &str, tell: &mut impl FnMut(Told<'_>)) -> Result<(), StoreError> {
        let mut after = Afterwards::default();
        let why = self.world.without_root(why);
        let decided = self.report(Report::Disk { low: true, why }, &mut after);
        self.record(decided, after, tell).await
    }

    async fn stop_with_room(&mut self, tell: &mut impl FnMut(Told<'_>)) -> Result<(), StoreError> {
        let mut after = Afterwards::default();
        let decided = self.drain("swarm:coordinator", STOPS_AFTER_ALL, &mut after);
        let recorded = !after.told.is_empty();
        self.record(decided, after, tell).await?;
        // Without room after all the memory was taken back, and it does not drain.
        self.has_room_to_stop(recorded);
        Ok(())
    }

    /// What was decided beside a turn.
    async fn record(
        &mut self,
        decided: Result<(), StoreError>,
        mut after: Afterwards,
        tell: &mut impl FnMut(Told<'_>),
    ) -> Result<(), StoreError> {
        let durable = match (decided, after.disk.take()) {
            (Ok(()), Some(disk)) => has_it(disk).await,
            (decided, _) => decided,
        };
        match durable {
            Ok(()) => {
                self.feed.durable(super::position(&self.store));
                tell(&after.told);
                Ok(())
            }
            // Not even that fits: it is tried again with the next thing that does not.
            Err(StoreError::NoRoom(_)) => self.store.reload(),
            Err(error) => Err(error),
        }
    }
}

#[cfg(test)]
mod tests {
    use swarm_git::GitError;
    use swarm_work::supervisor::EnsureError;

    use super::*;
    use crate::coordinator::executors::describe;

    #[test]
    fn the_reason_behind_an_error_of_ours_says_that_the_disk_is_full() {
        let met = |code| describe(GitError::io("write", "index")(std::io::Error::from_raw_os_error(code)));
        assert!(is_full(&met(28)).is_some() && is_full(&met(13)).is_none());
        assert!(met(13).starts_with("cannot write index: "), "{}", met(13));
        // What was to be asked of a reviewer, and a daemon that is to be begun, are told in the same way.
        let begun = EnsureError::Io { path: "run".into(), source: std::io::Error::from_raw_os_error(122) };
        assert!(is_full(&describe(begun)).is_some());
    }

    #[test]
    fn a_daemon_that_found_no_room_for_its_files_is_no_crash() {
        let full = "cannot write run/r1.spec.json: No space left on device (os error 28)";
        assert!(matches!(not_begun(full.into()), Ok(Ended::NoWorkspace { .. })));
        assert!(matches!(is_full(full), Some(Report::Disk { low: true, .. })));
        let other = "cannot start the daemon: Permission denied";
        assert!(not_begun(other.into()).is_err() && is_full(other).is_none());
    }
}
