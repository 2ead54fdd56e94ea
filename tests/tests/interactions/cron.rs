//! Cron entries and unique jobs.
use std::time::Duration;

use serde_json::{Value, json};

use super::world::{World, ids, retry};

crate::on_every_store!(
    ei_011_overlap_is_judged_before_uniqueness,
    ei_011_a_replaced_twin_that_waits_is_cancelled,
    ei_r004_an_entry_with_neither_policy_skips_and_rejects,
);

/// Registers the entry `tick`, which is due every minute.
async fn register(w: &World, overlap: Option<&str>, unique: Option<Value>) {
    let mut options = json!({"queue": "q", "retry": retry(3, 50, json!({}))});
    if let Some(unique) = unique {
        options["unique"] = unique;
    }
    let mut entry = json!({"name": "tick", "expression": "* * * * *",
        "job_template": {"type": "t", "args": [], "options": options}});
    if let Some(overlap) = overlap {
        entry["overlap_policy"] = json!(overlap);
    }
    let (status, body) = w.http("POST", "/cron", entry).await;
    assert!([200, 201].contains(&status), "{body}");
}

async fn minute(w: &World) {
    w.advance(Duration::from_secs(60)).await;
}

/// Why ticks were skipped, oldest first.
async fn skipped(w: &World) -> Vec<String> {
    let events = w.events("cron.skipped").await;
    events.iter().map(|event| event["data"]["reason"].as_str().unwrap().to_owned()).collect()
}

fn by_type(on_conflict: &str) -> Option<Value> {
    Some(json!({"keys": ["type"], "on_conflict": on_conflict}))
}

async fn ei_011_overlap_is_judged_before_uniqueness(w: &World) {
    // `skip`: the job before runs, so uniqueness is not asked; `replace` would have cancelled it otherwise.
    register(w, Some("skip"), by_type("replace")).await;
    minute(w).await;
    let held = w.fetch(None, 5).await;
    let first = ids(&held)[0].to_owned();
    minute(w).await;
    assert_eq!((w.state(&first).await.as_str(), skipped(w).await), ("active", vec!["overlap_skip".to_owned()]));
    // `allow`: the tick comes to the unique policy, which refuses it.
    register(w, Some("allow"), by_type("reject")).await;
    minute(w).await;
    assert_eq!(skipped(w).await, ["overlap_skip", "unique_conflict"]);
    assert!(w.fetch(None, 5).await.is_empty());
    // `replace`: the job before is cancelled, and the new one is there although uniqueness would have refused it.
    register(w, Some("replace"), by_type("reject")).await;
    minute(w).await;
    assert_eq!(w.state(&first).await, "cancelled");
    let next = w.fetch(None, 5).await;
    assert_eq!(next.len(), 1);
    assert_ne!(ids(&next), [&first]);
    assert_eq!(skipped(w).await.len(), 2);
}

async fn ei_011_a_replaced_twin_that_waits_is_cancelled(w: &World) {
    register(w, Some("allow"), by_type("replace")).await;
    minute(w).await;
    let waiting = w.read("/admin/jobs?state=available").await["items"][0]["id"].as_str().unwrap().to_owned();
    minute(w).await;
    assert_eq!(w.state(&waiting).await, "cancelled");
    let next = w.fetch(None, 5).await;
    assert_eq!(next.len(), 1, "the newer one takes its place");
    // `queue` is the other word for `enqueue`: the tick's job comes when the one before has ended.
    register(w, Some("queue"), by_type("reject")).await;
    assert_eq!(w.read("/cron/tick").await["cron"]["overlap_policy"], "enqueue");
}

async fn ei_r004_an_entry_with_neither_policy_skips_and_rejects(w: &World) {
    register(w, None, None).await;
    let entry = w.read("/cron/tick").await["cron"].clone();
    let unique = json!({"keys": ["type", "args"], "on_conflict": "reject"});
    assert_eq!((&entry["overlap_policy"], &entry["job_template"]["options"]["unique"]), (&json!("skip"), &unique), "{entry}");
    // Two schedulers on one store: each tick has one job.
    let other = w.beside().await;
    for tick in 1..=5 {
        if let Some(other) = &other {
            // Both find it due.
            tokio::join!(minute(w), async { other.engine.store().sweep().await.unwrap() });
            other.engine.store().sweep().await.unwrap();
        } else {
            minute(w).await;
        }
        let held = w.fetch(None, 5).await;
        assert_eq!(held.len(), 1, "tick {tick}");
        w.ack(&held[0]).await;
    }
    assert_eq!(w.events("cron.triggered").await.len(), 5);
    if let Some(other) = other {
        other.end().await;
    }
}
