//! Webhooks and the bound of deliveries that wait for a subscription: what is dropped, where it is counted, and when
//! there is room again.
use axum::body::Body;
use axum::http::Request;
use http_body_util::BodyExt;
use serde_json::{Value, json};
use tower::ServiceExt;

use crate::endpoint::{Endpoint, Reply};
use crate::nodes::{advance_together, application, second_node};
use crate::support::{Bench, seconds};
use crate::webhook_endpoints::with_outgoing;
use crate::webhooks::{deliveries, ends, next, subscribe};

crate::on_every_store!(
    beyond_the_bound_events_are_dropped_and_counted_and_other_subscriptions_go_on,
    there_is_room_again_when_deliveries_have_ended,
    a_retry_by_hand_is_not_refused_and_takes_room,
);

const JOB: &str = r#"{"type":"t","args":[],"options":{"queue":"q"}}"#;

async fn bounded(b: Bench, most: u32) -> Bench {
    with_outgoing(b, |outgoing| outgoing.max_waiting = most).await
}

/// What a subscription says of dropped events: how many, and since when.
async fn dropped(b: &Bench, id: &str) -> (i64, Value) {
    let (status, shown) = b.http("GET", &format!("/webhooks/subscriptions/{id}"), "").await;
    assert_eq!(status, 200, "{shown}");
    let shown = &shown["subscription"];
    (shown["dropped"].as_i64().unwrap(), shown["dropped_since"].clone())
}

async fn metrics(b: &Bench) -> String {
    let request = Request::builder().uri("/metrics").body(Body::empty()).unwrap();
    let body = b.engine.router().oneshot(request).await.unwrap().into_body().collect().await.unwrap().to_bytes();
    String::from_utf8(body.to_vec()).unwrap()
}

async fn beyond_the_bound_events_are_dropped_and_counted_and_other_subscriptions_go_on(b: Bench) {
    let b = bounded(b, 3).await;
    let hanging = Endpoint::new(vec![Reply::Hang]).await;
    let mut quick = Endpoint::answering(200).await;
    let full = subscribe(&b, &hanging.url(), json!(["job.enqueued"])).await;
    let other = subscribe(&b, &quick.url(), json!(["job.started"])).await;
    b.job().await;
    assert_eq!(dropped(&b, &full).await, (0, Value::Null));
    b.advance(seconds(1)).await;
    // The bound is passed within one transaction.
    b.try_enqueue(&[JOB; 4]).await.unwrap();
    b.advance(seconds(1)).await;
    let job = b.job().await;
    assert_eq!(b.story(job).await, ["job.enqueued"], "the log has the event");
    assert_eq!(deliveries(&b, &format!("?subscription_id={full}")).await.len(), 3);
    let since = json!("2026-01-01T00:00:01.000Z");
    assert_eq!(dropped(&b, &full).await, (3, since.clone()));
    let (_, list) = b.http("GET", "/webhooks/subscriptions", "").await;
    let told = |place: usize| (&list["subscriptions"][place]["dropped"], &list["subscriptions"][place]["dropped_since"]);
    assert_eq!((told(0), told(1)), ((&json!(3), &since), (&json!(0), &Value::Null)));
    let (_, changed) = b.http("PATCH", &format!("/webhooks/subscriptions/{full}"), r#"{"metadata":{}}"#).await;
    assert_eq!(changed["subscription"]["dropped"], 3);
    let figures = metrics(&b).await;
    assert!(figures.lines().any(|line| line == "ojs_webhook_dropped_total 3"), "{figures}");
    b.claim(1).await;
    assert_eq!(quick.next().await.json()["type"], "job.started");
    assert_eq!(dropped(&b, &other).await, (0, Value::Null));
}

async fn there_is_room_again_when_deliveries_have_ended(b: Bench) {
    let b = bounded(b, 2).await;
    let mut endpoint = Endpoint::new([500, 500, 200].map(Reply::status).to_vec()).await;
    let mut ends = ends(&b).await;
    let id = subscribe(&b, &endpoint.url(), json!(["job.enqueued"])).await;
    for _ in 0..3 {
        b.job().await;
    }
    for _ in 0..2 {
        endpoint.next().await;
        assert_eq!(next(&mut ends).await.0, "webhook.failed");
    }
    assert_eq!(dropped(&b, &id).await.0, 1);
    b.advance(seconds(30)).await;
    for _ in 0..2 {
        endpoint.next().await;
        assert_eq!(next(&mut ends).await.0, "webhook.delivered");
    }
    b.job().await;
    endpoint.next().await;
    assert_eq!(next(&mut ends).await.0, "webhook.delivered");
    assert_eq!((dropped(&b, &id).await.0, deliveries(&b, "").await.len()), (1, 3));
}

async fn a_retry_by_hand_is_not_refused_and_takes_room(b: Bench) {
    let b = bounded(b, 1).await;
    let mut endpoint = Endpoint::new(vec![Reply::status(404), Reply::Hang]).await;
    let mut ends = ends(&b).await;
    let id = subscribe(&b, &endpoint.url(), json!(["job.enqueued"])).await;
    b.job().await;
    endpoint.next().await;
    assert_eq!(next(&mut ends).await.0, "webhook.dead");
    b.job().await;
    endpoint.next().await;
    let dead = deliveries(&b, "?status=dead").await.remove(0);
    let (status, answer) = b.http("POST", &format!("/webhooks/deliveries/{}/retry", dead["id"].as_str().unwrap()), "").await;
    assert_eq!(status, 202, "{answer}");
    endpoint.next().await;
    b.job().await;
    assert_eq!((dropped(&b, &id).await.0, deliveries(&b, "").await.len()), (1, 2));
}

/// The bound is so high that the store is not asked again: the subscription became full at the same time.
async fn an_end_makes_room_at_once(b: Bench) {
    let b = bounded(b, 16).await;
    let mut replies = vec![Reply::status(500); 16];
    replies.extend([Reply::status(200), Reply::Hang]);
    let mut endpoint = Endpoint::new(replies).await;
    let mut ends = ends(&b).await;
    let id = subscribe(&b, &endpoint.url(), json!(["job.enqueued"])).await;
    b.try_enqueue(&[JOB; 16]).await.unwrap();
    for _ in 0..16 {
        endpoint.next().await;
        assert_eq!(next(&mut ends).await.0, "webhook.failed");
    }
    b.job().await;
    assert_eq!(dropped(&b, &id).await.0, 1);
    let failed = deliveries(&b, "").await.remove(0);
    b.http("POST", &format!("/webhooks/deliveries/{}/retry", failed["id"].as_str().unwrap()), "").await;
    endpoint.next().await;
    assert_eq!(next(&mut ends).await.0, "webhook.delivered");
    b.job().await;
    endpoint.next().await;
    assert_eq!(dropped(&b, &id).await.0, 1);
    b.job().await;
    assert_eq!(dropped(&b, &id).await.0, 2, "full again");
}

#[tokio::test]
async fn an_end_makes_room_at_once_in_memory() {
    an_end_makes_room_at_once(Bench::memory().await).await;
}

#[tokio::test]
async fn an_end_makes_room_at_once_in_a_file() {
    an_end_makes_room_at_once(Bench::sqlite().await).await;
}

async fn a_restart_forgets_neither_what_waits_nor_what_was_dropped(b: Bench) {
    let b = bounded(b, 2).await;
    let mut endpoint = Endpoint::answering(500).await;
    let mut told = ends(&b).await;
    let id = subscribe(&b, &endpoint.url(), json!(["job.enqueued"])).await;
    for _ in 0..3 {
        b.job().await;
    }
    for _ in 0..2 {
        endpoint.next().await;
        next(&mut told).await;
    }
    let before = dropped(&b, &id).await;
    assert_eq!(before.0, 1);
    let b = with_outgoing(b, |_| {}).await;
    assert_eq!(dropped(&b, &id).await, before);
    b.advance(seconds(1)).await;
    b.job().await;
    assert_eq!(dropped(&b, &id).await, (2, before.1), "in the store and in memory");
    assert_eq!(deliveries(&b, "").await.len(), 2);
    // What is deleted leaves nothing: the audit looks at the end.
    b.http("DELETE", &format!("/webhooks/subscriptions/{id}"), "").await;
    let fresh = subscribe(&b, &endpoint.url(), json!(["job.started"])).await;
    assert_eq!(dropped(&b, &fresh).await, (0, Value::Null));
    b.advance(seconds(301)).await;
    let b = with_outgoing(b, |_| {}).await;
    assert_eq!(b.http("GET", "/webhooks/subscriptions", "").await.1["pagination"]["total"], 1);
}

#[tokio::test]
async fn a_restart_on_a_file() {
    a_restart_forgets_neither_what_waits_nor_what_was_dropped(Bench::sqlite().await).await;
}

#[tokio::test]
async fn a_restart_on_postgresql() {
    a_restart_forgets_neither_what_waits_nor_what_was_dropped(Bench::postgres().await).await;
}

#[tokio::test]
async fn nodes_learn_what_others_have_added_ended_and_dropped() {
    let b = bounded(Bench::postgres().await, 2).await;
    let other = second_node(&b).await;
    let mut endpoint = Endpoint::new([500, 500, 200].map(Reply::status).to_vec()).await;
    let mut ends = ends(&b).await;
    let id = subscribe(&b, &endpoint.url(), json!(["job.enqueued"])).await;
    for _ in 0..2 {
        b.job().await;
        endpoint.next().await;
        assert_eq!(next(&mut ends).await.0, "webhook.failed");
    }
    other.job().await;
    assert_eq!(dropped(&other, &id).await.0, 1, "it has counted what the first one has added");
    advance_together(&b, &other, seconds(30)).await;
    for _ in 0..2 {
        endpoint.next().await;
        assert_eq!(next(&mut ends).await.0, "webhook.delivered");
    }
    for node in [&b, &other] {
        node.job().await;
        endpoint.next().await;
        assert_eq!(next(&mut ends).await.0, "webhook.delivered");
    }
    other.engine.close().await;
    assert_eq!(dropped(&b, &id).await.0, 1, "written when the other one was closed");
}

/// A transaction that began before the deletion stores its delivery after it.
#[tokio::test]
async fn a_delivery_that_comes_after_its_subscription_was_deleted_goes_with_it() {
    let b = Bench::postgres().await;
    let id = subscribe(&b, "https://example.com/", json!(["queue.paused"])).await;
    b.http("DELETE", &format!("/webhooks/subscriptions/{id}"), "").await;
    let insert = format!(
        "INSERT INTO ojs_webhook_deliveries VALUES ('{0}', '{0}', 'e', 'job.x', '{{}}', 9, 0, 9, 0, 0, 0, 0, 0, 0, '', '', 0, 0)",
        id.trim_start_matches("sub_"),
    );
    assert_eq!(application(&b).await.execute(&insert, &[]).await.unwrap(), 1);
    b.advance(seconds(301)).await;
    assert_eq!(deliveries(&b, "").await.len(), 0);
}
