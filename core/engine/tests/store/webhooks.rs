//! Webhooks: subscriptions, what becomes a delivery, and how it is signed, tried again and given up.
use serde_json::{Value, json};

use crate::endpoint::{Endpoint, Reply};
use crate::streams::{Listener, listen};
use crate::support::{Bench, seconds};

crate::on_every_store!(
    subscriptions_are_created_listed_changed_and_deleted,
    what_is_no_subscription_is_refused_and_not_stored,
    an_event_is_sent_once_signed_and_with_its_id,
    only_wanted_events_become_deliveries,
    without_a_subscription_nothing_is_stored,
    an_event_of_a_refused_command_is_not_sent,
    a_failed_delivery_is_sent_again_with_the_same_id_and_a_fresh_signature,
    retry_after_is_followed,
    a_refused_delivery_is_dead_and_retried_by_hand,
    eight_failures_are_the_end,
    a_rotated_secret_signs_for_a_day,
    an_inactive_subscription_gets_nothing_and_goes_on_later,
    a_deleted_subscription_takes_its_deliveries_along,
    a_test_is_sent_at_once_and_not_kept,
    events_of_webhooks_are_not_sent,
    deliveries_are_listed_in_pages_and_pruned,
);

pub const SECRET: &str = "whsec_test_secret";

pub async fn subscribe(b: &Bench, url: &str, events: Value) -> String {
    let body = json!({"url": url, "events": events, "secret": SECRET});
    let (status, answer) = b.http("POST", "/webhooks/subscriptions", &body.to_string()).await;
    assert_eq!(status, 201, "{answer}");
    answer["subscription"]["id"].as_str().unwrap().to_owned()
}

/// Tells how deliveries end.
pub async fn ends(b: &Bench) -> Listener {
    listen(b, "/events/stream?types=webhook.delivered,webhook.failed,webhook.dead", None).await
}

pub async fn next(ends: &mut Listener) -> (String, Value) {
    let frame = ends.next().await.unwrap();
    (frame.event, frame.data["data"].clone())
}

pub async fn deliveries(b: &Bench, query: &str) -> Vec<Value> {
    let (status, answer) = b.http("GET", &format!("/webhooks/deliveries{query}"), "").await;
    assert_eq!(status, 200, "{answer}");
    answer["deliveries"].as_array().unwrap().clone()
}

async fn subscriptions_are_created_listed_changed_and_deleted(b: Bench) {
    let body = json!({"url": "https://example.com/a", "events": ["job.completed", "job.failed"], "metadata": {"team": "x"}});
    let (status, created) = b.http("POST", "/webhooks/subscriptions", &body.to_string()).await;
    assert_eq!(status, 201, "{created}");
    let created = &created["subscription"];
    let id = created["id"].as_str().unwrap();
    assert!(id.starts_with("sub_") && created["secret"].as_str().unwrap().starts_with("whsec_"), "{created}");
    assert_eq!((&created["active"], &created["metadata"]), (&json!(true), &json!({"team": "x"})));
    let path = format!("/webhooks/subscriptions/{id}");
    let (_, got) = b.http("GET", &path, "").await;
    assert_eq!((&got["subscription"]["url"], &got["url"]), (&json!("https://example.com/a"), &json!("https://example.com/a")));
    assert_eq!(got["subscription"].get("secret"), None, "only once");
    let change = json!({"events": ["job.*", "queue.paused", "*"], "filter": {"queues": ["q"]}}).to_string();
    let (status, changed) = b.http("PATCH", &path, &change).await;
    assert_eq!((status, changed["subscription"]["events"].as_array().unwrap().len()), (200, 3), "{changed}");
    assert_eq!(changed["subscription"]["filter"], json!({"queues": ["q"], "job_types": []}));
    assert_eq!(changed["subscription"]["url"], "https://example.com/a", "what is left out stays");
    subscribe(&b, "https://example.com/b", json!(["*"])).await;
    let (_, list) = b.http("GET", "/webhooks/subscriptions?limit=1", "").await;
    assert_eq!((list["subscriptions"][0]["id"].as_str(), &list["pagination"]["total"]), (Some(id), &json!(2)));
    assert!(!list.to_string().contains("whsec_"), "{list}");
    assert_eq!(b.http("DELETE", &path, "").await.0, 200);
    assert_eq!(b.http("GET", &path, "").await.0, 404);
    assert_eq!(b.http("DELETE", &path, "").await.0, 404);
    let (_, list) = b.http("GET", "/webhooks/subscriptions", "").await;
    assert_eq!(list["subscriptions"].as_array().unwrap().len(), 1);
}

async fn what_is_no_subscription_is_refused_and_not_stored(b: Bench) {
    let good = json!({"url": "https://example.com/a", "events": ["*"]});
    let wrong = [
        ("url", json!(null)),
        ("url", json!(7)),
        ("url", json!("example.com")),
        ("url", json!("ftp://example.com/")),
        ("url", json!("https://a:b@example.com/")),
        ("url", json!("https://example.com/ö")),
        ("events", json!(null)),
        ("events", json!([])),
        ("events", json!("*")),
        ("events[0]", json!(["completed"])),
        ("events[1]", json!(["*", "webhook.dead"])),
        ("events[0]", json!([7])),
        ("secret", json!("short")),
        ("secret", json!(7)),
        ("active", json!("yes")),
        ("metadata", json!([1])),
        ("metadata", json!({"long": "x".repeat(5000)})),
        ("filter", json!(["q"])),
        ("filter.queues", json!({"queues": "q"})),
        ("filter.job_types[0]", json!({"job_types": [""]})),
    ];
    for (field, value) in wrong {
        let mut body = good.clone();
        let member = field.split(['.', '[']).next().unwrap();
        body[member] = value.clone();
        let (status, answer) = b.http("POST", "/webhooks/subscriptions", &body.to_string()).await;
        assert_eq!((status, answer["error"]["details"]["field"].as_str()), (400, Some(field)), "{value}: {answer}");
    }
    let (_, list) = b.http("GET", "/webhooks/subscriptions", "").await;
    assert_eq!(list["subscriptions"], json!([]));
    let id = subscribe(&b, "https://example.com/", json!(["*"])).await;
    let path = format!("/webhooks/subscriptions/{id}");
    for (field, body) in
        [("secret", json!({"secret": "whsec_another"})), ("events", json!({"events": null})), ("url", json!({"url": 1}))]
    {
        let (status, answer) = b.http("PATCH", &path, &body.to_string()).await;
        assert_eq!((status, answer["error"]["details"]["field"].as_str()), (400, Some(field)), "{answer}");
    }
    for path in ["/webhooks/subscriptions/nonsense", "/webhooks/deliveries/del_nonsense"] {
        assert_eq!(b.http("GET", path, "").await.0, 404);
    }
    let (status, answer) = b.http("GET", "/webhooks/deliveries?status=lost", "").await;
    assert_eq!((status, answer["error"]["details"]["field"].as_str()), (400, Some("status")));
}

async fn an_event_is_sent_once_signed_and_with_its_id(b: Bench) {
    let mut endpoint = Endpoint::answering(200).await;
    let mut ends = ends(&b).await;
    let subscription = subscribe(&b, &endpoint.url(), json!(["job.completed"])).await;
    let job = b.job().await;
    let claimed = b.claim(1).await.remove(0);
    b.ack(&claimed).await.unwrap();
    let request = endpoint.next().await;
    let event = request.json();
    assert_eq!((&event["type"], &event["subject"]), (&json!("job.completed"), &json!(job.to_string())));
    assert!(event["id"].as_str().unwrap().starts_with("evt_"), "{event}");
    assert_eq!(event["data"]["queue"], "q");
    assert_eq!((request.path.as_str(), request.header("content-type")), ("/hook", "application/json"));
    assert_eq!(request.header("user-agent"), "OJS-Webhook/1.0");
    assert_eq!(request.header("x-ojs-event-type"), "job.completed");
    assert_eq!(request.header("x-ojs-subscription-id"), subscription);
    assert!(request.is_signed_by(SECRET, b.now()));
    assert!(!request.is_signed_by("whsec_another", b.now()));
    let delivery = request.header("x-ojs-delivery-id").to_owned();
    assert_eq!(request.header("webhook-id"), delivery);
    let (name, data) = next(&mut ends).await;
    assert_eq!((name.as_str(), data["delivery_id"].as_str()), ("webhook.delivered", Some(delivery.as_str())));
    let (_, shown) = b.http("GET", &format!("/webhooks/deliveries/{delivery}"), "").await;
    let shown = &shown["delivery"];
    assert_eq!((&shown["status"], &shown["attempts"], &shown["status_code"]), (&json!("delivered"), &json!(1), &json!(200)));
    assert_eq!((&shown["event"], &shown["response_body"]), (&event, &json!("said")));
    b.advance(seconds(120)).await;
    assert!(!endpoint.has_more());
}

async fn only_wanted_events_become_deliveries(b: Bench) {
    let endpoint = Endpoint::new(vec![Reply::Hang]).await;
    let body =
        json!({"url": endpoint.url(), "events": ["job.enqueued", "queue.*"], "filter": {"queues": ["q"], "job_types": ["t"]}});
    b.http("POST", "/webhooks/subscriptions", &body.to_string()).await;
    let body = json!({"url": endpoint.url(), "events": ["queue.*", "backpressure.*"], "filter": {"queues": ["q"]}});
    b.http("POST", "/webhooks/subscriptions", &body.to_string()).await;
    b.job().await;
    b.enqueue(r#"{"type":"u","args":[],"options":{"queue":"q"}}"#).await;
    b.enqueue(r#"{"type":"t","args":[],"options":{"queue":"other"}}"#).await;
    b.http("POST", "/queues/q/pause", "").await;
    b.http("POST", "/queues/other/pause", "").await;
    for queue in ["q", "other"] {
        let bounds = r#"{"backpressure":{"max_depth":1}}"#;
        assert_eq!(b.http("PUT", &format!("/admin/queues/{queue}/config"), bounds).await.0, 200);
        let job = json!({"type": "u", "args": [], "options": {"queue": queue}});
        assert_eq!(b.http("POST", "/jobs", &job.to_string()).await.0, 429);
    }
    let all = deliveries(&b, "").await;
    let types: Vec<&str> = all.iter().map(|delivery| delivery["event_type"].as_str().unwrap()).collect();
    assert_eq!(types, ["backpressure.rejected", "queue.paused", "job.enqueued"], "the newest first");
}

async fn without_a_subscription_nothing_is_stored(b: Bench) {
    b.job().await;
    assert_eq!(deliveries(&b, "").await, Vec::<Value>::new());
}

async fn an_event_of_a_refused_command_is_not_sent(b: Bench) {
    let endpoint = Endpoint::new(vec![Reply::Hang]).await;
    subscribe(&b, &endpoint.url(), json!(["*"])).await;
    let unique = r#"{"type":"t","args":[],"options":{"queue":"q","unique":{"keys":["type"],"on_conflict":"reject"}}}"#;
    b.enqueue(unique).await;
    b.try_enqueue(&[unique]).await.unwrap_err();
    assert_eq!(deliveries(&b, "").await.len(), 1);
}

async fn a_failed_delivery_is_sent_again_with_the_same_id_and_a_fresh_signature(b: Bench) {
    let mut endpoint = Endpoint::new([500, 503, 200].map(Reply::status).to_vec()).await;
    let mut ends = ends(&b).await;
    subscribe(&b, &endpoint.url(), json!(["job.enqueued"])).await;
    b.job().await;
    let first = endpoint.next().await;
    let (name, data) = next(&mut ends).await;
    assert_eq!((name.as_str(), &data["status_code"], &data["attempt"]), ("webhook.failed", &json!(500), &json!(1)));
    b.advance(seconds(29)).await;
    assert!(!endpoint.has_more(), "too early");
    b.advance(seconds(1)).await;
    let second = endpoint.next().await;
    next(&mut ends).await;
    b.advance(seconds(120)).await;
    let third = endpoint.next().await;
    assert_eq!(next(&mut ends).await.0, "webhook.delivered");
    assert_eq!([&second, &third].map(|request| request.header("webhook-id")), [first.header("webhook-id"); 2]);
    assert_eq!((&second.body, &third.body), (&first.body, &first.body));
    assert_ne!(first.header("x-ojs-timestamp"), third.header("x-ojs-timestamp"));
    assert!(third.is_signed_by(SECRET, b.now()), "signed at its own time");
    assert_eq!(deliveries(&b, "?status=delivered").await[0]["attempts"], 3);
    assert_eq!(endpoint.connections(), 1, "kept alive");
}

async fn retry_after_is_followed(b: Bench) {
    let busy = Reply::Answer(429, "Retry-After: 7\r\n".to_owned(), String::new());
    let mut endpoint = Endpoint::new(vec![busy, Reply::status(200)]).await;
    let mut ends = ends(&b).await;
    subscribe(&b, &endpoint.url(), json!(["job.enqueued"])).await;
    b.job().await;
    endpoint.next().await;
    assert_eq!(next(&mut ends).await.0, "webhook.failed");
    b.advance(seconds(6)).await;
    assert!(!endpoint.has_more(), "too early");
    b.advance(seconds(1)).await;
    endpoint.next().await;
    assert_eq!(next(&mut ends).await.0, "webhook.delivered");
}

async fn a_refused_delivery_is_dead_and_retried_by_hand(b: Bench) {
    let mut endpoint = Endpoint::new([404, 200].map(Reply::status).to_vec()).await;
    let mut ends = ends(&b).await;
    subscribe(&b, &endpoint.url(), json!(["job.enqueued"])).await;
    b.job().await;
    let first = endpoint.next().await;
    assert_eq!(next(&mut ends).await.0, "webhook.dead");
    let dead = deliveries(&b, "?status=dead").await.remove(0);
    assert_eq!((&dead["status_code"], &dead["error"]), (&json!(404), &json!("the endpoint answered 404")));
    let (status, answer) = b.http("POST", &format!("/webhooks/deliveries/{}/retry", dead["id"].as_str().unwrap()), "").await;
    assert_eq!(status, 202, "{answer}");
    let second = endpoint.next().await;
    assert_eq!(second.header("webhook-id"), first.header("webhook-id"));
    assert_eq!(next(&mut ends).await.0, "webhook.delivered");
    assert_eq!(deliveries(&b, "?status=dead").await.len(), 0);
    let nothing = "/webhooks/deliveries/del_019461a8-1a2b-7c3d-8e4f-5a6b7c8d9e0f/retry";
    assert_eq!(b.http("POST", nothing, "").await.0, 404);
}

async fn eight_failures_are_the_end(b: Bench) {
    let mut endpoint = Endpoint::answering(500).await;
    let mut ends = ends(&b).await;
    subscribe(&b, &endpoint.url(), json!(["job.enqueued"])).await;
    b.job().await;
    for pause in [30, 120, 600, 3_600, 14_400, 43_200, 86_400] {
        endpoint.next().await;
        assert_eq!(next(&mut ends).await.0, "webhook.failed");
        b.advance(seconds(pause)).await;
    }
    endpoint.next().await;
    assert_eq!(next(&mut ends).await.0, "webhook.dead");
    b.advance(seconds(200_000)).await;
    assert!(!endpoint.has_more());
    assert_eq!(deliveries(&b, "?status=dead").await[0]["attempts"], 8);
}

async fn a_rotated_secret_signs_for_a_day(b: Bench) {
    let mut endpoint = Endpoint::answering(200).await;
    let mut ends = ends(&b).await;
    let id = subscribe(&b, &endpoint.url(), json!(["job.enqueued"])).await;
    let (status, rotated) = b.http("POST", &format!("/webhooks/subscriptions/{id}/rotate-secret"), "").await;
    let secret = rotated["subscription"]["secret"].as_str().unwrap();
    assert_eq!(status, 200);
    assert_ne!(secret, SECRET);
    b.job().await;
    let request = endpoint.next().await;
    assert!(request.is_signed_by(SECRET, b.now()) && request.is_signed_by(secret, b.now()));
    next(&mut ends).await;
    b.advance(seconds(86_400)).await;
    b.job().await;
    let request = endpoint.next().await;
    assert!(request.is_signed_by(secret, b.now()) && !request.is_signed_by(SECRET, b.now()));
    next(&mut ends).await;
}

async fn an_inactive_subscription_gets_nothing_and_goes_on_later(b: Bench) {
    let mut endpoint = Endpoint::new([500, 200].map(Reply::status).to_vec()).await;
    let mut ends = ends(&b).await;
    let id = subscribe(&b, &endpoint.url(), json!(["job.enqueued"])).await;
    let path = format!("/webhooks/subscriptions/{id}");
    b.job().await;
    endpoint.next().await;
    next(&mut ends).await;
    b.http("PATCH", &path, r#"{"active":false}"#).await;
    b.job().await;
    assert_eq!(deliveries(&b, "").await.len(), 1, "no delivery for the second job");
    b.advance(seconds(3_600)).await;
    assert!(!endpoint.has_more());
    b.http("PATCH", &path, r#"{"active":true}"#).await;
    endpoint.next().await;
    assert_eq!(next(&mut ends).await.0, "webhook.delivered");
}

async fn a_deleted_subscription_takes_its_deliveries_along(b: Bench) {
    let mut endpoint = Endpoint::answering(500).await;
    let mut ends = ends(&b).await;
    let id = subscribe(&b, &endpoint.url(), json!(["job.enqueued"])).await;
    b.job().await;
    endpoint.next().await;
    next(&mut ends).await;
    b.http("DELETE", &format!("/webhooks/subscriptions/{id}"), "").await;
    assert_eq!(deliveries(&b, "").await.len(), 0);
    b.advance(seconds(60)).await;
    assert!(!endpoint.has_more());
    // More than are removed at once: the rest goes with maintenance.
    let id = subscribe(&b, "http://127.0.0.1:9/", json!(["job.enqueued"])).await;
    b.http("PATCH", &format!("/webhooks/subscriptions/{id}"), r#"{"active":false}"#).await;
    b.http("PATCH", &format!("/webhooks/subscriptions/{id}"), r#"{"active":true}"#).await;
    let many = vec![r#"{"type":"t","args":[],"options":{"queue":"q"}}"#; 700];
    b.try_enqueue(&many).await.unwrap();
    b.http("DELETE", &format!("/webhooks/subscriptions/{id}"), "").await;
    assert_eq!(b.http("GET", &format!("/webhooks/subscriptions/{id}"), "").await.0, 404);
    b.advance(seconds(301)).await;
    assert_eq!(deliveries(&b, "").await.len(), 0);
}

async fn a_test_is_sent_at_once_and_not_kept(b: Bench) {
    let mut endpoint = Endpoint::new(vec![Reply::status(200), Reply::status(500)]).await;
    let id = subscribe(&b, &endpoint.url(), json!(["job.enqueued"])).await;
    let path = format!("/webhooks/subscriptions/{id}/test");
    let (status, tested) = b.http("POST", &path, "").await;
    assert_eq!((status, &tested["success"], &tested["status_code"]), (200, &json!(true), &json!(200)), "{tested}");
    assert!(tested["response_time_ms"].is_u64() && tested["response_body"] == "said");
    let request = endpoint.next().await;
    assert!(request.is_signed_by(SECRET, b.now()));
    assert_eq!(request.json()["type"], "webhook.test");
    let (_, tested) = b.http("POST", &path, "").await;
    assert_eq!((&tested["success"], &tested["status_code"]), (&json!(false), &json!(500)));
    drop(endpoint);
    assert_eq!(deliveries(&b, "").await.len(), 0);
}

async fn events_of_webhooks_are_not_sent(b: Bench) {
    let mut endpoint = Endpoint::answering(200).await;
    let mut ends = ends(&b).await;
    subscribe(&b, &endpoint.url(), json!(["*"])).await;
    b.job().await;
    assert_eq!(endpoint.next().await.json()["type"], "job.enqueued");
    assert_eq!(next(&mut ends).await.0, "webhook.delivered");
    b.job().await;
    assert_eq!(endpoint.next().await.json()["type"], "job.enqueued");
    assert_eq!(next(&mut ends).await.0, "webhook.delivered");
    assert_eq!(deliveries(&b, "").await.len(), 2);
}

async fn deliveries_are_listed_in_pages_and_pruned(b: Bench) {
    let mut endpoint = Endpoint::answering(200).await;
    let mut ends = ends(&b).await;
    let id = subscribe(&b, &endpoint.url(), json!(["job.enqueued"])).await;
    for _ in 0..3 {
        b.job().await;
        endpoint.next().await;
        next(&mut ends).await;
    }
    let (_, first) = b.http("GET", &format!("/webhooks/deliveries?subscription_id={id}&limit=2"), "").await;
    assert_eq!((first["deliveries"].as_array().unwrap().len(), &first["pagination"]["total"]), (2, &json!(3)));
    let cursor = first["pagination"]["next_cursor"].as_str().unwrap();
    let (_, second) = b.http("GET", &format!("/webhooks/deliveries?subscription_id={id}&limit=2&cursor={cursor}"), "").await;
    assert_eq!((second["deliveries"].as_array().unwrap().len(), &second["pagination"]["has_more"]), (1, &json!(false)));
    b.advance(seconds(86_400 + 301)).await;
    assert_eq!(deliveries(&b, "").await.len(), 0);
}
