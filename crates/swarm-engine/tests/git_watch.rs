//! W4: a result that waits is tried again when the person's checkout changes, without polling.

use crate::publish_situations;

use std::time::Duration;

use publish_situations::Situation::{self, *};
use publish_situations::Story;
use swarm_work::checkout_watch::CheckoutWatch;
use swarm_work::publish::{Publication, publish};

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
