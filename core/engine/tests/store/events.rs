use ojs_engine::{EventFilter, Place};
use serde_json::json;

use crate::support::{Bench, seconds};

crate::on_every_store!(
    the_story_of_a_job_in_order,
    pages_neither_skip_nor_repeat,
    filters_apply,
    the_bounds_of_a_queue_are_among_its_events,
    an_event_id_is_a_cursor,
);

async fn the_story_of_a_job_in_order(b: Bench) {
    let id =
        b.enqueue(r#"{"type":"mail.send","args":[],"options":{"queue":"q","retry":{"max_attempts":2,"jitter":false}}}"#).await;
    let job = b.claim(1).await.remove(0);
    b.nack(&job, r#"{"code":"x","message":"a|b\nc"}"#).await.unwrap();
    b.advance(seconds(1)).await;
    let job = b.claim(1).await.remove(0);
    b.advance(seconds(3)).await;
    b.ack(&job).await.unwrap();
    let story = b.story(id).await;
    assert_eq!(
        story,
        ["job.enqueued", "job.started", "job.failed", "job.retrying", "job.enqueued", "job.started", "job.completed"]
    );
    let (events, _, _) = b.events(EventFilter::default()).await;
    let last: serde_json::Value = serde_json::from_str(&events.last().unwrap().data).unwrap();
    assert_eq!((last["job_type"].as_str(), last["queue"].as_str()), (Some("mail.send"), Some("q")));
    assert_eq!((last["attempt"].as_i64(), last["duration_ms"].as_i64()), (Some(2), Some(3000)));
    let failed: serde_json::Value = serde_json::from_str(&events[2].data).unwrap();
    assert_eq!(failed["error"]["message"], "a|b\nc", "separators in texts do no harm");
}

async fn pages_neither_skip_nor_repeat(b: Bench) {
    for _ in 0..37 {
        b.job().await;
    }
    b.claim(37).await;
    let (all, _, _) = b.events(EventFilter::default()).await;
    assert_eq!(all.len(), 74);
    let (mut got, mut after) = (Vec::new(), Place::default());
    loop {
        let (events, cursor, has_more) = b.events(EventFilter { after, limit: 7, ..EventFilter::default() }).await;
        got.extend(events.into_iter().map(|event| event.id));
        after = Place::parse(&cursor).unwrap();
        if !has_more {
            break;
        }
    }
    assert_eq!(got, all.into_iter().map(|event| event.id).collect::<Vec<_>>());
    // Later events are found behind the last cursor.
    let id = b.job().await;
    let (events, _, _) = b.events(EventFilter { after, ..EventFilter::default() }).await;
    assert_eq!(events.len(), 1);
    assert_eq!(events[0].subject, id.to_string());
}

async fn filters_apply(b: Bench) {
    b.enqueue(r#"{"type":"x","args":[],"options":{"queue":"one"}}"#).await;
    b.enqueue(r#"{"type":"y","args":[],"options":{"queue":"two"}}"#).await;
    b.claim_for(None, &["one", "two"], 2).await;
    let count = |filter: EventFilter| async { b.events(filter).await.0.len() };
    assert_eq!(count(EventFilter { types: vec!["job.started".into()], ..Default::default() }).await, 2);
    assert_eq!(count(EventFilter { queues: vec!["one".into()], ..Default::default() }).await, 2);
    assert_eq!(
        count(EventFilter { job_types: vec!["y".into()], types: vec!["job.enqueued".into()], ..Default::default() }).await,
        1
    );
    assert_eq!(count(EventFilter { job_types: vec!["z".into()], ..Default::default() }).await, 0);
}

/// What is said of a queue that is full is found by its name, as what is said of its jobs is.
async fn the_bounds_of_a_queue_are_among_its_events(b: Bench) {
    let bounds = r#"{"backpressure":{"max_depth":2,"warning_threshold":0.5}}"#;
    assert_eq!(b.http("PUT", "/admin/queues/q/config", bounds).await.0, 200);
    for status in [201, 201, 429] {
        assert_eq!(b.http("POST", "/jobs", r#"{"type":"t","args":[],"options":{"queue":"q"}}"#).await.0, status);
    }
    b.claim(2).await;
    let (_, other) = b.http("GET", "/events?queues=other", "").await;
    assert_eq!(other["events"], json!([]));
    let (_, found) = b.http("GET", "/events?queues=q&types=backpressure.*", "").await;
    let types: Vec<&str> = found["events"].as_array().unwrap().iter().map(|event| event["type"].as_str().unwrap()).collect();
    assert_eq!(types, ["backpressure.warning", "backpressure.rejected", "backpressure.cleared"]);
    assert_eq!(found["events"][1]["data"], json!({"queue": "q", "depth": 2, "bound": 2, "job_type": "t"}));
}

async fn an_event_id_is_a_cursor(b: Bench) {
    b.job().await;
    b.claim(1).await;
    let (events, _, _) = b.events(EventFilter::default()).await;
    let after = Place::parse(&events[0].id).unwrap();
    let (rest, _, _) = b.events(EventFilter { after, ..EventFilter::default() }).await;
    assert_eq!(rest, events[1..]);
}
