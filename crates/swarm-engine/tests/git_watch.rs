//! W4: a result that waits is tried again when the person's checkout changes, without polling.

use crate::publish_situations;

use std::time::Duration;

use publish_situations::Situation::{self, *};
use publish_situations::Story;
use swarm_work::checkout_watch::CheckoutWatch;
use swarm_work::publish::{Publication, WaitReason, Waits, publish};

const LIMIT: Duration = Duration::from_secs(20);

async fn check(situation: Situation, free: impl FnOnce(&Story)) {
    let story = Story::begin(situation);
    let git = story.git().await;
    let Publication::Waits(waits) = publish(&git, &story.intent).await.unwrap() else {
        panic!("{situation:?}")
    };
    let mut watch = CheckoutWatch::arm(&git, &waits).unwrap();
    // Trying again in vain is not a change: otherwise we would go in a circle.
    assert!(matches!(publish(&git, &story.intent).await.unwrap(), Publication::Waits(_)));
    let early = tokio::time::timeout(Duration::from_millis(400), watch.changed()).await;
    assert!(early.is_err(), "{situation:?}: woken by our own steps");
    free(&story);
    tokio::time::timeout(LIMIT, watch.changed())
        .await
        .unwrap_or_else(|_| panic!("{situation:?}: not woken"))
        .unwrap();
    assert_eq!(publish(&git, &story.intent).await.unwrap(), Publication::Published, "{situation:?}");
}

#[tokio::test]
async fn each_way_of_making_room_wakes_us() {
    check(DirtySame, |story| {
        story.scratch.git(["stash", "push", "--quiet"]);
    })
    .await;
    check(DirtySame, |story| story.scratch.write("a.txt", "a one\na two\n")).await;
    check(UntrackedClash, |story| std::fs::remove_file(story.scratch.at("deep/er/new.txt")).unwrap()).await;
    check(MidCherryPick, |story| {
        story.scratch.git(["cherry-pick", "--abort"]);
    })
    .await;
    check(Bisect, |story| {
        story.scratch.git(["bisect", "reset"]);
    })
    .await;
    check(LiveIndexLock, |story| std::fs::remove_file(story.scratch.at(".git/index.lock")).unwrap()).await;
}

/// The ledger keeps paths alone of why a result waits; a lock is none of them.
#[tokio::test]
async fn a_lock_that_goes_wakes_us_also_where_only_the_paths_are_known() {
    let story = Story::begin(LiveIndexLock);
    let git = story.git().await;
    let Publication::Waits(waits) = publish(&git, &story.intent).await.unwrap() else { panic!("published") };
    let waits = Waits { reason: WaitReason::Changed { paths: waits.reason.paths().to_vec() }, ..waits };
    let mut watches =
        [CheckoutWatch::arm(&git, &waits).unwrap(), CheckoutWatch::of_files(&git, &waits).unwrap()];
    assert!(matches!(publish(&git, &story.intent).await.unwrap(), Publication::Waits(_)));
    for watch in &mut watches {
        let early = tokio::time::timeout(Duration::from_millis(400), watch.changed()).await;
        assert!(early.is_err(), "woken by our own steps");
    }
    std::fs::remove_file(story.scratch.at(".git/index.lock")).unwrap();
    for watch in &mut watches {
        tokio::time::timeout(LIMIT, watch.changed()).await.expect("not woken").unwrap();
    }
}
