//! The trash.

use super::*;

#[tokio::test]
async fn an_overdue_trash_is_emptied_and_a_young_one_is_not() {
    let ward = Ward::new();
    ward.configure(r#"{ "agent": "script", "worktree": { "trash": "1s" } }"#);
    let old = ward.paths.trash.join("1.1-2020-01-01T00-00-00");
    write(&old, "file.txt", b"old\n");
    let start = std::time::Instant::now();
    while ward.look().await.problems == 0 {
        assert!(start.elapsed() < Duration::from_secs(60), "it never becomes overdue");
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    ward.check("trash", "").await;
    assert!(!old.exists());
    ward.configure(r#"{ "agent": "script" }"#);
    write(&old, "file.txt", b"young\n");
    assert_eq!(ward.fix().await.fixed, 0);
    assert!(old.exists());
}

#[tokio::test]
async fn a_full_trash_loses_its_oldest_things_only() {
    let ward = Ward::new();
    for n in 0..1002 {
        write(&ward.paths.trash, format!("thing-{n:04}"), b"x");
    }
    ward.check("trash", "").await;
    assert_eq!(names(&ward.paths.trash).len(), 1000);
}
