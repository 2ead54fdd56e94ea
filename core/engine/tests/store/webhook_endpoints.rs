//! Webhooks and endpoints of every kind: slow, hanging, broken, redirecting, not public; nodes that end in the middle
//! of a call; records that cannot be read.
use std::net::IpAddr;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use ojs_engine::outgoing::{Names, OutgoingOptions, Resolving};
use ojs_engine::{Engine, EngineOptions};
use serde_json::json;

use crate::endpoint::{Endpoint, Reply};
use crate::faults::spoil;
use crate::nodes::{advance_together, second_node};
use crate::support::{Audited, Bench, seconds};
use crate::webhooks::{SECRET, deliveries, ends, next, subscribe};

crate::on_every_store!(
    a_hanging_endpoint_fails_in_time_and_delays_no_other,
    an_answer_that_breaks_off_or_never_ends_is_an_answer,
    a_connection_that_closes_is_a_failure,
    three_redirects_are_followed_and_guarded,
    a_slow_endpoint_gets_eight_at_a_time,
    private_targets_are_refused_also_when_a_name_changes_its_meaning,
);

/// The same store, opened anew with other settings for requests.
pub async fn with_outgoing(b: Bench, change: impl FnOnce(&mut OutgoingOptions)) -> Bench {
    b.engine.close().await;
    let mut options: EngineOptions = b.engine.options().clone();
    change(&mut options.outgoing);
    let engine = Engine::open(options).await.unwrap();
    Bench { audited: Audited::of(&engine), engine, ..b }
}

async fn a_hanging_endpoint_fails_in_time_and_delays_no_other(b: Bench) {
    let b = with_outgoing(b, |outgoing| outgoing.timeout = Duration::from_millis(300)).await;
    let (mut hanging, mut quick) = (Endpoint::new(vec![Reply::Hang]).await, Endpoint::answering(204).await);
    let mut ends = ends(&b).await;
    subscribe(&b, &hanging.url(), json!(["job.enqueued"])).await;
    b.job().await;
    hanging.next().await;
    subscribe(&b, &quick.url(), json!(["job.started"])).await;
    b.claim(1).await;
    quick.next().await;
    let mut told = [next(&mut ends).await, next(&mut ends).await];
    told.sort_by_key(|(name, _)| name.clone());
    assert_eq!(told[0].0, "webhook.delivered");
    assert_eq!((told[1].0.as_str(), &told[1].1["error"]), ("webhook.failed", &json!("no answer within 300 ms")));
}

async fn an_answer_that_breaks_off_or_never_ends_is_an_answer(b: Bench) {
    let mut endpoint = Endpoint::new(vec![Reply::Cut, Reply::Endless]).await;
    let mut ends = ends(&b).await;
    let id = subscribe(&b, &endpoint.url(), json!(["job.enqueued"])).await;
    for _ in 0..2 {
        b.job().await;
        endpoint.next().await;
        assert_eq!(next(&mut ends).await.0, "webhook.delivered");
    }
    let (_, tested) = b.http("POST", &format!("/webhooks/subscriptions/{id}/test"), "").await;
    assert_eq!(tested["response_body"].as_str().unwrap().len(), 64 * 1024, "the beginning");
}

async fn a_connection_that_closes_is_a_failure(b: Bench) {
    let mut endpoint = Endpoint::new(vec![Reply::Close, Reply::status(200)]).await;
    let mut ends = ends(&b).await;
    subscribe(&b, &endpoint.url(), json!(["job.enqueued"])).await;
    b.job().await;
    endpoint.next().await;
    let (name, data) = next(&mut ends).await;
    assert_eq!((name.as_str(), data.get("status_code")), ("webhook.failed", None), "{data}");
    b.advance(seconds(30)).await;
    endpoint.next().await;
    assert_eq!(next(&mut ends).await.0, "webhook.delivered");
}

async fn three_redirects_are_followed_and_guarded(b: Bench) {
    let mut last = Endpoint::answering(200).await;
    let to_last = Reply::redirect(307, &last.url());
    let mut first = Endpoint::new(vec![Reply::redirect(301, "/b"), Reply::redirect(302, "/c"), to_last]).await;
    let mut ends = ends(&b).await;
    subscribe(&b, &first.url(), json!(["job.enqueued"])).await;
    b.job().await;
    let request = last.next().await;
    assert!(request.is_signed_by(SECRET, b.now()));
    assert_eq!(request.json()["type"], "job.enqueued", "the body goes along");
    let paths = [first.next().await.path, first.next().await.path, first.next().await.path];
    assert_eq!(paths, ["/hook", "/b", "/c"]);
    assert_eq!(next(&mut ends).await.0, "webhook.delivered");
    let round = Endpoint::new(vec![Reply::redirect(308, "/again")]).await;
    subscribe(&b, &round.url(), json!(["job.started"])).await;
    b.claim(1).await;
    let (name, data) = next(&mut ends).await;
    assert_eq!((name.as_str(), &data["error"]), ("webhook.dead", &json!("more than 3 redirects")));
    let away = Endpoint::new(vec![Reply::redirect(302, "gopher://example.com/")]).await;
    subscribe(&b, &away.url(), json!(["queue.paused"])).await;
    b.http("POST", "/queues/q/pause", "").await;
    assert_eq!(next(&mut ends).await.0, "webhook.dead");
}

async fn a_slow_endpoint_gets_eight_at_a_time(b: Bench) {
    let mut endpoint = Endpoint::new(vec![Reply::Hang]).await;
    subscribe(&b, &endpoint.url(), json!(["job.enqueued"])).await;
    for _ in 0..12 {
        b.job().await;
    }
    for _ in 0..8 {
        endpoint.next().await;
    }
    let (sending, pending) = (deliveries(&b, "?status=sending").await.len(), deliveries(&b, "?status=pending").await.len());
    assert_eq!((sending, pending), (8, 4));
}

/// A name that means another address each time it is asked for.
struct Rebinding(Mutex<Vec<IpAddr>>);

impl Names for Rebinding {
    fn resolve(&self, _host: &str) -> Resolving {
        let next = self.0.lock().unwrap().pop().unwrap();
        Box::pin(async move { Ok(vec![next]) })
    }
}

async fn private_targets_are_refused_also_when_a_name_changes_its_meaning(b: Bench) {
    let names = Rebinding(Mutex::new(vec![IpAddr::from([127, 0, 0, 1]); 2]));
    let b = with_outgoing(b, |outgoing| {
        outgoing.allow_insecure = false;
        outgoing.names = Some(Arc::new(names));
    })
    .await;
    for url in ["https://127.0.0.1/", "https://[::1]/", "https://169.254.169.254/latest", "http://example.com/"] {
        let body = json!({"url": url, "events": ["*"]}).to_string();
        let (status, answer) = b.http("POST", "/webhooks/subscriptions", &body).await;
        assert_eq!((status, answer["error"]["details"]["field"].as_str()), (400, Some("url")), "{url}");
    }
    let endpoint = Endpoint::answering(200).await;
    let mut ends = ends(&b).await;
    // Its name is looked up for each connection, and means this machine by then.
    let id = subscribe(&b, &format!("https://rebinding.example:{}/", endpoint.port), json!(["job.enqueued"])).await;
    b.job().await;
    let (name, data) = next(&mut ends).await;
    assert_eq!(name, "webhook.dead", "{data}");
    assert_eq!(data["error"], "rebinding.example is not a public address; an operator may allow it");
    let (_, tested) = b.http("POST", &format!("/webhooks/subscriptions/{id}/test"), "").await;
    assert_eq!((&tested["success"], &tested["error"]), (&json!(false), &data["error"]));
    // A number that clients read as an address.
    let id = subscribe(&b, &format!("https://2130706433:{}/", endpoint.port), json!(["queue.paused"])).await;
    let (_, tested) = b.http("POST", &format!("/webhooks/subscriptions/{id}/test"), "").await;
    assert_eq!(tested["error"], "127.0.0.1 is not a public address; an operator may allow it");
    assert_eq!(endpoint.connections(), 0, "nothing reached this machine");
}

/// A delivery that waits is damaged. Jobs and other subscriptions go on.
async fn a_delivery_that_cannot_be_read_stops_its_subscription_only(b: Bench) {
    let (mut broken, mut sound) = (Endpoint::answering(500).await, Endpoint::answering(200).await);
    let mut ends = ends(&b).await;
    subscribe(&b, &broken.url(), json!(["job.enqueued"])).await;
    b.job().await;
    broken.next().await;
    next(&mut ends).await;
    subscribe(&b, &sound.url(), json!(["job.started", "job.completed"])).await;
    spoil(&b, "UPDATE webhook_deliveries SET state = 99", "UPDATE ojs_webhook_deliveries SET state = 99").await;
    let job = b.claim(1).await.remove(0);
    assert_eq!(sound.next().await.json()["type"], "job.started");
    assert_eq!(next(&mut ends).await.0, "webhook.delivered");
    b.ack(&job).await.unwrap();
    assert_eq!(sound.next().await.json()["type"], "job.completed");
    b.advance(seconds(60)).await;
    assert!(!broken.has_more());
}

/// A subscription is damaged. Jobs go on.
async fn a_subscription_that_cannot_be_read_stops_no_job(b: Bench) {
    subscribe(&b, "https://example.com/", json!(["*"])).await;
    spoil(&b, "UPDATE webhook_subscriptions SET active = 7", "").await;
    let b = b.reopened().await;
    b.job().await;
    let job = b.claim(1).await.remove(0);
    b.ack(&job).await.unwrap();
    assert_eq!(b.http("GET", "/webhooks/subscriptions", "").await.0, 500);
}

#[tokio::test]
async fn a_damaged_delivery_in_a_file() {
    a_delivery_that_cannot_be_read_stops_its_subscription_only(Bench::sqlite().await).await;
}

#[tokio::test]
async fn a_damaged_delivery_in_postgresql() {
    a_delivery_that_cannot_be_read_stops_its_subscription_only(Bench::postgres().await).await;
}

#[tokio::test]
async fn a_damaged_subscription_in_a_file() {
    a_subscription_that_cannot_be_read_stops_no_job(Bench::sqlite().await).await;
}

#[tokio::test]
async fn a_subscription_of_one_node_concerns_all_and_each_delivery_is_sent_by_one() {
    let b = Bench::postgres().await;
    let other = second_node(&b).await;
    let mut endpoint = Endpoint::answering(200).await;
    let mut ends = ends(&b).await;
    subscribe(&b, &endpoint.url(), json!(["job.enqueued"])).await;
    let mut sent = std::collections::BTreeSet::new();
    for round in 0..20 {
        if round % 2 == 0 { &b } else { &other }.job().await;
    }
    for _ in 0..20 {
        assert!(sent.insert(endpoint.next().await.header("webhook-id").to_owned()), "sent twice");
        next(&mut ends).await;
    }
    assert!(!endpoint.has_more());
}

#[tokio::test]
async fn the_deliveries_of_a_node_that_is_gone_are_taken_over() {
    let b = Bench::postgres().await;
    let other = second_node(&b).await;
    let mut endpoint = Endpoint::new(vec![Reply::Hang, Reply::status(200)]).await;
    let mut ends = ends(&b).await;
    subscribe(&b, &endpoint.url(), json!(["job.enqueued"])).await;
    b.job().await;
    let first = endpoint.next().await;
    // Whichever node sends it never hears an answer; after its lease another attempt is made.
    advance_together(&b, &other, seconds(89)).await;
    assert!(!endpoint.has_more(), "within the lease");
    advance_together(&b, &other, seconds(2)).await;
    let second = endpoint.next().await;
    assert_eq!(second.header("webhook-id"), first.header("webhook-id"));
    assert_eq!(next(&mut ends).await.0, "webhook.delivered");
}

#[tokio::test]
async fn a_delivery_is_sent_after_a_crash_in_the_middle_of_a_call() {
    let mut b = Bench::sqlite().await;
    let mut endpoint = Endpoint::new(vec![Reply::Hang, Reply::status(200)]).await;
    subscribe(&b, &endpoint.url(), json!(["job.enqueued"])).await;
    b.job().await;
    let first = endpoint.next().await;
    let successor = Engine::open(b.engine.options().clone()).await.unwrap();
    b.succeeded_by(successor).await;
    let mut ends = ends(&b).await;
    b.advance(seconds(91)).await;
    let second = endpoint.next().await;
    assert_eq!(second.header("webhook-id"), first.header("webhook-id"));
    assert_eq!(next(&mut ends).await.0, "webhook.delivered");
}
