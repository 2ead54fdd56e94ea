//! Retries and dead letters.
use std::collections::BTreeMap;
use std::time::Duration;

use serde_json::{Value, json};

use super::endpoint::Endpoint;
use super::world::{World, failure, ids, job, retry};

crate::on_every_store!(
    ei_007_a_job_is_a_dead_letter_after_its_last_attempt_only,
    ei_008_exhaustion_is_told_before_the_dead_letter,
    ei_r003_a_replay_begins_afresh_and_keeps_the_history,
);

/// Fails all attempts of the next job, with the time until each retry between them; returns its id.
async fn exhaust(w: &World, attempts: u32) -> String {
    for attempt in 1..=attempts {
        let held = w.fetch(None, 1).await;
        w.nack(&held[0], failure(&format!("failure {attempt}"))).await;
        if attempt == attempts {
            return held[0]["id"].as_str().unwrap().to_owned();
        }
        assert_eq!(w.state(held[0]["id"].as_str().unwrap()).await, "retryable");
        assert_eq!(w.read("/dead-letter").await["pagination"]["total"], 0, "not after attempt {attempt}");
        w.advance(Duration::from_millis(50)).await;
    }
    unreachable!("there is an attempt")
}

async fn ei_007_a_job_is_a_dead_letter_after_its_last_attempt_only(w: &World) {
    let id = w.enqueue(None, job(json!({"retry": retry(3, 50, json!({"on_exhaustion": "dead_letter"}))}))).await;
    assert_eq!(exhaust(w, 3).await, id);
    assert_eq!(w.state(&id).await, "discarded");
    let page = w.read("/dead-letter").await;
    assert_eq!(ids(page["jobs"].as_array().unwrap()), [&id]);
    let messages: Vec<_> = page["jobs"][0]["errors"].as_array().unwrap().iter().map(|error| &error["message"]).collect();
    assert_eq!(messages, ["failure 1", "failure 2", "failure 3"]);
    assert_eq!(w.http("DELETE", &format!("/dead-letter/{id}"), Value::Null).await.0, 200);
    // Control: a job that is only discarded is never listed.
    w.enqueue(None, job(json!({"retry": retry(3, 50, json!({"on_exhaustion": "discard"}))}))).await;
    let discarded = exhaust(w, 3).await;
    assert_eq!(
        (w.state(&discarded).await.as_str(), &w.read("/dead-letter").await["pagination"]["total"]),
        ("discarded", &json!(0))
    );
    // An error that is final forfeits the attempts that are left.
    let last = w.enqueue(None, job(json!({"retry": retry(3, 50, json!({"on_exhaustion": "dead_letter"}))}))).await;
    w.nack(&w.fetch(None, 1).await[0], json!({"code": "x", "message": "m", "retryable": false})).await;
    assert_eq!(ids(w.read("/dead-letter").await["jobs"].as_array().unwrap()), [&last]);
    let reasons: Vec<_> = w.events("job.retry_exhausted").await.iter().map(|event| event["data"]["reason"].clone()).collect();
    assert_eq!(reasons, ["max_attempts", "max_attempts", "non_retryable"]);
}

async fn ei_008_exhaustion_is_told_before_the_dead_letter(w: &World) {
    let mut endpoint = Endpoint::answering(200).await;
    let body = json!({"url": endpoint.url(), "events": ["job.failed", "job.retry_exhausted", "job.dead_lettered"]});
    assert_eq!(w.http("POST", "/webhooks/subscriptions", body).await.0, 201);
    let mut stream = w.connect().await;
    let types = "types=job.failed,job.retry_exhausted,job.dead_lettered";
    stream.send(format!("GET /ojs/v1/events/stream?{types}&queues=q HTTP/1.1\r\nHost: test\r\n\r\n")).await.unwrap();
    assert_eq!(stream.next_line().await.unwrap(), "HTTP/1.1 200 OK");
    while !stream.next_line().await.unwrap().starts_with("retry:") {}
    w.enqueue(None, job(json!({"retry": retry(3, 50, json!({"on_exhaustion": "dead_letter"}))}))).await;
    exhaust(w, 3).await;
    let expected = ["job.failed", "job.failed", "job.failed", "job.retry_exhausted", "job.dead_lettered"];
    let log = w.read(&format!("/events?{types}&queues=q")).await;
    let log = log["events"].as_array().unwrap();
    assert_eq!(log.iter().map(|event| event["type"].as_str().unwrap()).collect::<Vec<_>>(), expected);
    let mut streamed = Vec::new();
    while streamed.len() < expected.len() {
        if let Some(name) = stream.next_line().await.unwrap().strip_prefix("event: ") {
            streamed.push(name.to_owned());
        }
    }
    assert_eq!(streamed, expected);
    // Deliveries are sent side by side; their times say in which order the events came.
    let mut times = BTreeMap::<String, Vec<String>>::new();
    for _ in expected {
        let event = endpoint.next().await.json();
        let text = |member: &str| event[member].as_str().unwrap().to_owned();
        times.entry(text("type")).or_default().push(text("time"));
    }
    let [exhausted, dead] = ["job.retry_exhausted", "job.dead_lettered"].map(|name| times[name][0].clone());
    assert!(times["job.failed"].iter().all(|failed| *failed <= exhausted) && exhausted <= dead, "{times:?}");
    assert_eq!([3, 1, 1], ["job.failed", "job.retry_exhausted", "job.dead_lettered"].map(|name| times[name].len()));
}

async fn ei_r003_a_replay_begins_afresh_and_keeps_the_history(w: &World) {
    let id = w.enqueue(None, job(json!({"retry": retry(2, 50, json!({"on_exhaustion": "dead_letter"}))}))).await;
    exhaust(w, 2).await;
    let (status, replayed) = w.http("POST", &format!("/dead-letter/{id}/retry"), json!({})).await;
    assert_eq!((status, &replayed["job"]["attempt"]), (200, &json!(0)), "{replayed}");
    for attempt in 1..=2 {
        let held = w.fetch(None, 1).await;
        assert_eq!((&held[0]["attempt"], &held[0]["max_attempts"]), (&json!(attempt), &json!(2)));
        w.nack(&held[0], failure("second life")).await;
        w.advance(Duration::from_millis(50)).await;
    }
    let job = w.read(&format!("/jobs/{id}")).await;
    assert_eq!(job["job"]["state"], "discarded");
    let messages: Vec<_> = job["job"]["errors"].as_array().unwrap().iter().map(|error| &error["message"]).collect();
    assert_eq!(messages, ["failure 1", "failure 2", "second life", "second life"]);
}
